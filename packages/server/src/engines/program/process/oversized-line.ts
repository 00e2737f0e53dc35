import { JsonGauge } from '../../../base/json/json-gauge.ts';
import { programLimits } from '../limits.ts';

/** Whether a line has more JSON values than the limit: parsing it would block the event loop, so the line is skipped. */
export function isOversizedLine(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < GAUGED_BYTES) return false;
  const gauge = new JsonGauge();
  gauge.push(bytes, start, end);
  return gauge.values > programLimits.programLineValuesMax;
}

const GAUGED_BYTES = 64 * 1024;
