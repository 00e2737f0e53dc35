import { expect, it } from 'vitest';
import { openSnapshotBench } from './snapshots.suite.ts';
import { hasSameLines, mergeContent } from './merge-content.ts';

const LINES = ['one', 'two', 'three', 'four', 'five'];
const text = (lines: readonly string[], ending = '\n') => Buffer.from(lines.map((line) => line + ending).join(''));
const changed = (at: number, line: string) => LINES.with(at, line);

it('[WS600] a file whose line endings one side changed as a whole is merged by its lines, and has the endings of that side', async () => {
  const { snapshots, sessionId } = await openSnapshotBench();
  const repository = await snapshots.repositoryOf(sessionId);
  const merge = async (before: Buffer, ours: Buffer, theirs: Buffer) => {
    const merged = await mergeContent(repository, { before, ours, theirs });
    return merged && [merged.places, merged.content.toString('latin1')];
  };
  const both = LINES.with(0, 'ours').with(4, 'theirs');
  for (const [from, to] of [
    ['\n', '\r\n'],
    ['\r\n', '\n'],
  ]) {
    const base = text(LINES, from);
    // Ours is a checkout with other endings; theirs is one; both are.
    expect(await merge(base, text(LINES, to), text(changed(4, 'theirs'), from))).toEqual([
      0,
      text(changed(4, 'theirs'), to).toString(),
    ]);
    expect(await merge(base, text(changed(0, 'ours'), to), text(changed(4, 'theirs'), from))).toEqual([
      0,
      text(both, to).toString(),
    ]);
    expect(await merge(base, text(changed(0, 'ours'), from), text(changed(4, 'theirs'), to))).toEqual([
      0,
      text(both, to).toString(),
    ]);
    expect(await merge(base, text(changed(0, 'ours'), to), text(changed(4, 'theirs'), to))).toEqual([
      0,
      text(both, to).toString(),
    ]);
    // The same line is a conflict all the same.
    expect((await merge(base, text(changed(2, 'ours'), to), text(changed(2, 'theirs'), from)))?.[0]).toBe(1);
  }
  // Bytes that are not UTF-8 stay as they are.
  const bytes = Buffer.from('\xff\n\xfe\n', 'latin1');
  expect(await merge(bytes, Buffer.from('\xff\r\n\xfe\r\n', 'latin1'), Buffer.from('\xff\nx\n', 'latin1'))).toEqual([
    0,
    '\xff\r\nx\r\n',
  ]);
  // Where one side ends lines in both ways, the ends are content.
  const mixed = Buffer.concat([text(['one'], '\r\n'), text(LINES.slice(1))]);
  expect((await merge(text(LINES), mixed, text(changed(0, 'theirs'))))?.[0]).toBe(1);
  expect(await merge(text(LINES), mixed, text(changed(4, 'theirs')))).toEqual([
    0,
    mixed.toString().replace('five', 'theirs'),
  ]);
  // A file that is not text is never converted.
  const binary = (ending: string) => Buffer.concat([Buffer.from([0]), text(LINES, ending)]);
  expect(await merge(binary('\n'), binary('\r\n'), Buffer.concat([binary('\n'), text(['more'])]))).toBeUndefined();
});

it('[WS600] files have the same lines if they differ in the ends of all of them only', () => {
  expect(hasSameLines(text(LINES), text(LINES, '\r\n'))).toBe(true);
  expect(hasSameLines(text(LINES), text(changed(1, 'x'), '\r\n'))).toBe(false);
  expect(hasSameLines(text(LINES), Buffer.concat([text(['one'], '\r\n'), text(LINES.slice(1))]))).toBe(false);
  expect(hasSameLines(Buffer.from('\0\n'), Buffer.from('\0\r\n'))).toBe(false);
});
