import { inSlices, Stride } from '../../base/in-slices.ts';
import { GitFailure } from '../git/git-failure.ts';
import { snapshotLimits } from './objects/limits.ts';
import { type BytePath, toBytePath, toPathText } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { TreeItem } from './objects/tree-objects.ts';

/** A file that differs between two trees. A renamed file is deleted and added. */
export interface FileChange {
  /** The path as text: see `toPathText`. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  /** Added lines; null for a binary file, and for a file whose lines would cost too much to count. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly before: TreeItem | null;
  readonly after: TreeItem | null;
}

/** The differences to find. */
export interface DiffOptions {
  /** Only these files, and the files of these directories. */
  readonly paths?: readonly string[] | undefined;
}

/** The files that differ between two trees, sorted by path, with the number of changed lines. */
export async function diffTrees(
  repository: SnapshotRepository,
  from: string,
  to: string,
  { paths }: DiffOptions = {},
): Promise<FileChange[]> {
  if (from === to) return [];
  const stdout = await printChanges(repository, [from, to]);
  // Parsed in slices, because an agent may have changed hundreds of thousands of files.
  return await inSlices(parse(stdout, paths?.map(toBytePath)));
}

/** Lists the changes, with the counts of changed lines if they can be computed within the limits: agents choose the compared texts. */
async function printChanges(repository: SnapshotRepository, trees: readonly [string, string]): Promise<Buffer> {
  const args = [...DIFF, '-z', '--raw'];
  for (const cost of COUNT_COSTS) {
    try {
      return (await repository.run([...args, '--numstat', ...trees], cost)).stdout;
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
    }
  }
  return (await repository.run([...args, ...trees])).stdout;
}

/** The format of a diff. */
export interface UnifiedDiffOptions {
  /** Unchanged lines around each change. */
  readonly contextLines?: number | undefined;
}

/**
 * The unified diff of one file, as `git diff` prints it. Empty if the file does not differ. Undefined if it has more bytes than
 * the limit, or costs more to compute.
 */
export async function unifiedDiff(
  repository: SnapshotRepository,
  from: string,
  to: string,
  path: string,
  { contextLines = 3 }: UnifiedDiffOptions = {},
): Promise<string | undefined> {
  const [change] = await diffTrees(repository, from, to, { paths: [path] });
  if (change === undefined) return '';
  const diffs = await unifiedDiffs(repository, [change], { contextLines });
  return diffs?.[0];
}

/**
 * The unified diffs of changes between two trees, in order, each as in {@link unifiedDiff}. Uses one process for all of
 * them. Undefined if all together have more bytes than the limit, or cost more to compute.
 */
export async function unifiedDiffs(
  repository: SnapshotRepository,
  changes: readonly FileChange[],
  { contextLines = 3, bytesMax = snapshotLimits.diffBytesMax, trees }: UnifiedDiffsOptions = {},
): Promise<string[] | undefined> {
  // Builds trees with only these files, because paths with arbitrary bytes cannot be arguments of a program.
  const from = trees?.[0] ?? (await makeTree(repository, changes, 'before'));
  const to = trees?.[1] ?? (await makeTree(repository, changes, 'after'));
  const text = await printDiff(repository, [from, to], contextLines, bytesMax);
  // Lines of content cannot match: they begin with a blank, a plus, a minus or a backslash.
  const sections = text?.split(/^(?=diff --git )/m).filter((section) => section !== '') ?? [];
  const diffs = changes.map((change) => sections.splice(0, isTypeChange(change) ? 2 : 1).join(''));
  return text === undefined ? undefined : diffs;
}

/** The format and the limit of diffs, and the trees to compare. */
export interface UnifiedDiffsOptions extends UnifiedDiffOptions {
  readonly bytesMax?: number | undefined;
  /** Trees that differ exactly in these changes. By default such trees are created. */
  readonly trees?: readonly [string, string] | undefined;
}

async function makeTree(
  repository: SnapshotRepository,
  changes: readonly FileChange[],
  side: 'before' | 'after',
): Promise<string> {
  const items = changes.map((change) => [toBytePath(change.path), change[side]] as const);
  return await repository.change(repository.emptyTree, new Map(items.filter(([, item]) => item !== null)));
}

/** Whether a file has become a link, or the reverse: git prints that as a removal and an addition. */
function isTypeChange({ before, after }: FileChange): boolean {
  return before !== null && after !== null && before.mode.slice(0, 3) !== after.mode.slice(0, 3);
}

async function printDiff(
  repository: SnapshotRepository,
  trees: readonly [string, string],
  contextLines: number,
  outputBytesMax: number,
): Promise<string | undefined> {
  const args = [...DIFF, '-p', '--no-color', '--src-prefix=a/', '--dst-prefix=b/', `-U${contextLines}`];
  try {
    return (await repository.run([...args, ...trees], { ...DIFF_COST, outputBytesMax })).stdout.toString();
  } catch (error) {
    if (error instanceof GitFailure && isTooCostly(error)) return undefined;
    throw error;
  }
}

/** Whether git was killed at a limit of output, time or processor time, or reports that it is out of memory. */
function isTooCostly({ code, stderr, cause }: GitFailure): boolean {
  return (code === null && cause === undefined) || /out of memory|mmap failed/i.test(stderr);
}

const DIFF_COST = {
  timeoutMs: snapshotLimits.diffMs,
  limits: {
    dataBytes: snapshotLimits.diffDataBytesMax,
    cpuSeconds: snapshotLimits.diffCpuSeconds,
    fileBytes: snapshotLimits.diffBytesMax,
  },
};

/** The attempts to count lines: for all files, then without large files, which git treats as binary with this setting. */
const COUNT_COSTS = [
  { ...DIFF_COST, limits: { ...DIFF_COST.limits, cpuSeconds: snapshotLimits.countCpuSeconds } },
  { ...DIFF_COST, settings: [`core.bigFileThreshold=${snapshotLimits.countedFileBytesMax}`] },
];

const DIFF = ['diff-tree', '-r', '--no-abbrev', '--no-renames', '--no-ext-diff', '--no-textconv'];

type ParsedChange = { -readonly [name in keyof FileChange]: FileChange[name] };

function* parse(stdout: Buffer, wanted: readonly BytePath[] | undefined): Generator<void, FileChange[]> {
  const isWanted = (path: BytePath) => wanted?.some((one) => path === one || path.startsWith(`${one}/`)) ?? true;
  const changes = new Map<BytePath, ParsedChange>();
  const stride = new Stride();
  const parts = new Parts(stdout);
  let part = parts.next();
  // The format is `:100644 100644 <before> <after> M\0path\0` for all files, then `3\t1\tpath\0` for all files.
  for (; part?.startsWith(':'); part = parts.next()) {
    const [beforeMode, afterMode, beforeId, afterId] = part.slice(1).split(' ') as [string, string, string, string];
    const path = parts.next() ?? '';
    const [before, after] = [toItem(beforeMode, beforeId), toItem(afterMode, afterId)];
    const status = before === null ? 'added' : after === null ? 'deleted' : 'modified';
    if (isWanted(path))
      changes.set(path, { path: toPathText(path), status, added: null, removed: null, before, after });
    if (stride.isOver(part.length + path.length)) yield;
  }
  for (; part !== undefined; part = parts.next()) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(part) ?? [];
    const change = path === undefined ? undefined : changes.get(path);
    if (change !== undefined && added !== '-') [change.added, change.removed] = [Number(added), Number(removed)];
    if (stride.isOver(part.length)) yield;
  }
  return [...changes.values()];
}

/** Reads the NUL-terminated parts of git's output. */
class Parts {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(): string | undefined {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1) return undefined;
    const part = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return part;
  }
}

function toItem(mode: string, object: string): TreeItem | null {
  // The cast is safe because git prints only modes that a tree can have.
  return mode === '000000' ? null : { mode: mode as TreeItem['mode'], object };
}
