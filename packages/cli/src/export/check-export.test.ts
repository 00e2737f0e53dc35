import { describe, expect, it } from 'vitest';
import { createExportCheck } from './check-export.ts';
import { readLines } from './read-lines.ts';

const WHOLE = [
  '{"type":"export.begin","version":1,"session_id":"s","last_seq":4}',
  '{"seq":1,"type":"a","payload":{}}',
  '{"seq":2,"type":"pruned","last_seq":3}',
  '{"seq":4,"type":"b","payload":{"seq":9}}',
  '{"type":"export.end","frames":2,"last_seq":4}',
];

function judge(lines: readonly string[]): string | undefined {
  const check = createExportCheck();
  for (const line of lines) check.line(line);
  return check.end();
}

async function linesOf(chunks: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const some of readLines(toStream(chunks))) lines.push(...some);
  return lines;
}

async function* toStream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

describe('whether an export is whole', () => {
  it('[Y17] one that begins, ends and has every number between is', () => {
    expect(judge(WHOLE)).toBe(undefined);
  });

  it('[Y17] a missing line is reported, whichever it is', () => {
    for (let index = 0; index < WHOLE.length; index += 1) {
      expect(judge(WHOLE.toSpliced(index, 1))).toMatch(/missing|does not match/);
    }
    for (let count = 0; count < WHOLE.length; count += 1) expect(judge(WHOLE.slice(0, count))).not.toBe(undefined);
  });

  it('[Y17] lines are the same however the bytes are cut', async () => {
    const bytes = Buffer.from('ä€👩\n\n{"a":1}\nlast');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const lines = await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(lines).toEqual(['ä€👩', '', '{"a":1}', 'last']);
    }
    expect(await linesOf(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(['ä€👩', '', '{"a":1}', 'last']);
  });
});
