import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { toProgramDiff } from './to-program-diff.ts';
import { toProgramUsage } from './to-program-usage.ts';

it('[J386] hunks of a diff are given up to 1 MiB over all files, and the files behind that are listed without theirs', () => {
  const header = '@@ -1,0 +1,1 @@\n';
  const ofBytes = (path: string, bytes: number) => ({
    path,
    hunks: [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ['+'.padEnd(bytes - header.length, 'x')] }],
  });
  const diffOf = (rest: number) =>
    toProgramDiff({
      diff: {
        perFileStats: ['a', 'b', 'c'].map((path) => ({ path, added: 1, removed: 0, status: 'modified' })),
        hunks: [ofBytes('a', programLimits.programDiffBytesMax - 100), ofBytes('b', rest)],
        omitted: { files: 7 },
      },
    });
  const lengths = (rest: number) => diffOf(rest).files.map(({ patch }) => patch?.length ?? null);
  expect(lengths(100)).toEqual([programLimits.programDiffBytesMax - 100, 100, null]);
  expect(lengths(101)).toEqual([programLimits.programDiffBytesMax - 100, null, null]);
  expect(diffOf(100).filesOmitted).toBe(7);
});

it('[J386] fields that a program omits are null or empty, and limits of its plan are listed', () => {
  expect(toProgramDiff({})).toEqual({ type: 'diff', files: [], filesOmitted: 0, reason: 'no diff' });
  const nothing = { costUsd: null, linesAdded: null, linesRemoved: null, models: [], planLimits: [] };
  expect(toProgramUsage({})).toEqual({ type: 'usage', ...nothing });
  const rate_limits = { five_hour: { utilization: 12, resets_at: '2026-01-01T00:00:00Z' }, other: null };
  expect(toProgramUsage({ rate_limits }).planLimits).toEqual([
    { name: 'five_hour', usedPercent: 12, resetsAt: '2026-01-01T00:00:00Z' },
  ]);
});
