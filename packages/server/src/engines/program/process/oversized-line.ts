import { JsonGauge } from '../../../base/json/json-gauge.ts';
import { baseLimits } from '../../../base/limits.ts';
import { programLimits } from '../limits.ts';

/**
 * Whether a line has more JSON values or names than the limits, or is nested deeper. Such a line is skipped:
 * parsing many values would block the event loop, and deeply nested values could be parsed but not serialised again.
 */
export function isOversizedLine(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < GAUGED_BYTES) return false;
  const gauge = new JsonGauge();
  gauge.push(bytes, start, end);
  const { programLineValuesMax, programLineNamesMax } = programLimits;
  const isWide = gauge.values > programLineValuesMax || gauge.names > programLineNamesMax;
  return isWide || gauge.depth > baseLimits.contentDepthMax;
}

/** Bytes from which a line is checked: a shorter line cannot exceed the limits. */
const GAUGED_BYTES = 2 * baseLimits.contentDepthMax;
