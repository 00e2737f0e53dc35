import { storeLimits } from '../limits.ts';
import type { InputRecord } from '../records.ts';
import { toInput } from './records.ts';

type Row = Parameters<typeof toInput>[1];

/** The first inputs, up to the one that reaches the limit of bytes. Rows behind it are neither read nor parsed. */
export function firstInputs(sessionId: string, rows: Iterable<Row>): readonly InputRecord[] {
  const inputs: InputRecord[] = [];
  let bytes = 0;
  for (const row of rows) {
    inputs.push(toInput(sessionId, row));
    bytes += row.data.length;
    if (bytes >= storeLimits.inputsTakenBytesMax) break;
  }
  return inputs;
}
