import { expect, it } from 'vitest';
import { describeConflicts, describeMergeConflict, toHunks } from './describe-conflicts.ts';
import { snapshotLimits } from '../snapshots/objects/limits.ts';

const marked = (ours: string) => `before\n<<<<<<< ours\n${ours}\n=======\ntheirs\n>>>>>>> theirs\nafter\n`;

it('[WS317] an agent gets the first 20 files of a conflict, and 20,000 characters of their lines', () => {
  const { describedConflictsMax, conflictCharsMax } = snapshotLimits;
  expect([describedConflictsMax, conflictCharsMax]).toEqual([20, 20_000]);
  const conflicts = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ path: `${at}.txt`, reason: 'kind' as const }));
  expect(describeConflicts(conflicts(20))).not.toContain('more files');
  expect(describeConflicts(conflicts(21))).toMatch(/19\.txt: [^\n]*\n… and 1 more files$/);
  const around = '<<<<<<< ours\n\n=======\ntheirs\n>>>>>>> theirs'.length;
  const long = (chars: number) => ({ path: 'a', reason: 'content' as const, marked: marked('x'.repeat(chars)) });
  expect(toHunks(long(conflictCharsMax - around))).toEqual([expect.stringMatching(/^<<<<<<< ours\nx+\n=======/)]);
  expect(toHunks(long(conflictCharsMax - around + 1))).toEqual(['(more lines conflict)']);
  const two = describeConflicts([
    long(conflictCharsMax - around),
    { path: 'b', reason: 'content', marked: marked('y') },
  ]);
  expect(two).toMatch(/b: both changed the same lines\n\(more lines conflict\)$/);
});

it('[Y217] the reason of a merge conflict names the lines of the workspace, at most 5 places of them', () => {
  const describe = (text: string) => describeMergeConflict({ path: 'a', reason: 'content', marked: text });
  const range = (text: string) => /\(in the workspace: (.*)\)$/.exec(describe(text))?.[1];
  expect(range(marked('x'))).toBe('line 2');
  expect(range(marked('x\ny'))).toBe('lines 2–3');
  expect(range(`${marked('x\ny')}${marked('z')}`)).toBe('lines 2–3, line 6');
  expect(range('before\n<<<<<<< ours\n=======\ntheirs\n>>>>>>> theirs\n')).toBe('after line 1');
  expect(range(marked('x').repeat(5))).toMatch(/, line 14$/);
  expect(range(marked('x').repeat(6))).toMatch(/, line 14 and 1 more$/);
  expect(describeMergeConflict({ path: 'a', reason: 'kind' })).toBe(
    'both changed the file, and it cannot be merged by lines',
  );
});
