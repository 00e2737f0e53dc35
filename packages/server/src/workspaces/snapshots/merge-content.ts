import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findLineEnding, type LineEnding, withLineEnding } from './line-endings.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';

/** The contents of a file to merge. */
export interface ContentMerge {
  readonly before: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
}

/** The merged content, and the number of conflicts in it. */
export interface MergedContent {
  readonly content: Buffer;
  readonly places: number;
}

/**
 * Merges three contents by lines. If one side has changed all line endings, as a checkout with CRLF does, the lines are
 * compared without endings, and the result has the line ending of that side. Undefined for files that are not text.
 */
export async function mergeContent(
  repository: SnapshotRepository,
  contents: ContentMerge,
): Promise<MergedContent | undefined> {
  const ending = findMergedEnding(contents);
  if (ending === undefined) return await mergeLines(repository, contents);
  const { before, ours, theirs } = contents;
  const merged = await mergeLines(repository, {
    before: withLineEnding(before, 'lf'),
    ours: withLineEnding(ours, 'lf'),
    theirs: withLineEnding(theirs, 'lf'),
  });
  return merged && { ...merged, content: withLineEnding(merged.content, ending) };
}

/** Whether two contents have the same lines, apart from the line ending. */
export function hasSameLines(one: Buffer, other: Buffer): boolean {
  const endings = [findLineEnding(one), findLineEnding(other)];
  return (
    !endings.includes(undefined) &&
    !isBinary(one) &&
    !isBinary(other) &&
    withLineEnding(one, 'lf').equals(withLineEnding(other, 'lf'))
  );
}

/** The line ending of the result if one side has changed all line endings. Undefined if line endings are to be merged like other content. */
function findMergedEnding({ before, ours, theirs }: ContentMerge): LineEnding | undefined {
  if ([before, ours, theirs].some(isBinary)) return undefined;
  const base = findLineEnding(before);
  const [our, their] = [findLineEnding(ours), findLineEnding(theirs)];
  if (base === undefined || our === undefined || their === undefined) return undefined;
  if (our === base && their === base) return undefined;
  return our === base ? their : our;
}

/** Whether a content is binary by git's rule: it has a zero byte near the beginning. */
function isBinary(content: Buffer): boolean {
  return content.subarray(0, BINARY_LOOK_BYTES).includes(0);
}

const BINARY_LOOK_BYTES = 8_000;

async function mergeLines(
  repository: SnapshotRepository,
  { ours, before, theirs }: ContentMerge,
): Promise<MergedContent | undefined> {
  const directory = await mkdtemp(repository.file('merge-'));
  try {
    const files = ['session', 'base', 'changed'].map((name) => join(directory, name));
    for (const [at, content] of [ours, before, theirs].entries()) {
      await writeFile(files[at]!, content, { mode: 0o600 });
    }
    const labels = ['-L', 'ours', '-L', 'base', '-L', 'theirs'];
    // The exit code is the number of conflicts, up to 127; 255 for files that are not text.
    const codes = Array.from({ length: 255 }, (_, code) => code + 1);
    const { code, stdout } = await repository.run(['merge-file', '-p', '-q', ...labels, ...files], { codes });
    return code > 127 ? undefined : { content: stdout, places: code };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
