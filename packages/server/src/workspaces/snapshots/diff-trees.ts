import { inSlices, Stride } from '../../base/in-slices.ts';
import { GitFailure } from '../git/git-failure.ts';
import { snapshotLimits } from './objects/limits.ts';
import { type BytePath, toBytePath, toPathText } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { TreeItem } from './objects/tree-objects.ts';

/** A file that differs between two trees. A renamed file is deleted and added. */
export interface FileChange {
  /** As text: see `toPathText`. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  /** Lines; null for a binary file, and for a file whose lines cost too much to count. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly before: TreeItem | null;
  readonly after: TreeItem | null;
}

/** Which differences to find. */
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
  // An agent may have changed hundreds of thousands of files.
  return await inSlices(parse(stdout, paths?.map(toBytePath)));
}

/** With the number of changed lines, as far as that costs no more than the limits: agents choose the texts that are compared. */
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

/** How a diff is shown. */
export interface UnifiedDiffOptions {
  /** Unchanged lines around each change. */
  readonly contextLines?: number | undefined;
}

/**
 * The unified diff of one file, as `git diff` prints it. Empty if the file does not differ. Undefined: it has more bytes than
 * the limit, or costs more to make.
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
 * The unified diffs of changes between two trees, in their order, each as {@link unifiedDiff} has it. One process for all of
 * them. Undefined if all together have more bytes than the limit, or cost more to make.
 */
export async function unifiedDiffs(
  repository: SnapshotRepository,
  changes: readonly FileChange[],
  { contextLines = 3, bytesMax = snapshotLimits.diffBytesMax, trees }: UnifiedDiffsOptions = {},
): Promise<string[] | undefined> {
  // Trees with these files alone: a path with any bytes cannot be an argument of a program.
  const from = trees?.[0] ?? (await makeTree(repository, changes, 'before'));
  const to = trees?.[1] ?? (await makeTree(repository, changes, 'after'));
  const text = await printDiff(repository, [from, to], contextLines, bytesMax);
  // A line of content begins with a blank, a plus, a minus or a backslash.
  const sections = text?.split(/^(?=diff --git )/m).filter((section) => section !== '') ?? [];
  const diffs = changes.map((change) => sections.splice(0, isTypeChange(change) ? 2 : 1).join(''));
  return text === undefined ? undefined : diffs;
}

/** How diffs are shown, and what is known of their trees. */
export interface UnifiedDiffsOptions extends UnifiedDiffOptions {
  readonly bytesMax?: number | undefined;
  /** Trees that differ in these changes and in nothing else; without, some are made. */
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

/** A file that has become a link, or the reverse, is printed as removed and added. */
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

/** A signal ended it: the limit of its output, its time or its processor time. Or git reports that it has no memory left. */
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

/** All files, then without large ones, which git treats as binary with this setting and does not read. */
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
  // `:100644 100644 <before> <after> M\0path\0`, then `3\t1\tpath\0`.
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

/** Output of git that is separated by zeros, part by part. */
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
  // Git names only modes that a tree can have.
  return mode === '000000' ? null : { mode: mode as TreeItem['mode'], object };
}
