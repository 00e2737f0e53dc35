import { expect, it } from 'vitest';
import { baseLimits } from '../../../base/limits.ts';
import { programLimits } from '../limits.ts';
import { isOversizedLine } from './oversized-line.ts';

it('[U402] a line with more values, names or levels than the limit is passed over', () => {
  const isOver = (text: string) => {
    const bytes = Buffer.from(`x${text}x`);
    return isOversizedLine(bytes, 1, bytes.length - 1);
  };
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect([isOver(nested(baseLimits.contentDepthMax)), isOver(nested(baseLimits.contentDepthMax + 1))]).toEqual([
    false,
    true,
  ]);
  const list = (values: number) => `[${'0,'.repeat(values - 2)}0]`;
  expect([
    isOver(list(programLimits.programLineValuesMax)),
    isOver(list(programLimits.programLineValuesMax + 2)),
  ]).toEqual([false, true]);
  const object = (names: number) => `{${Array.from({ length: names }, (_, at) => `"${at}":0`).join()}}`;
  expect([
    isOver(object(programLimits.programLineNamesMax)),
    isOver(object(programLimits.programLineNamesMax + 1)),
  ]).toEqual([false, true]);
  expect(isOver(JSON.stringify({ text: nested(baseLimits.contentDepthMax + 1) }))).toBe(false);
});
