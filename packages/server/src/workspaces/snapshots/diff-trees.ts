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
  const changes = parse(await printChanges(repository, [from, to]));
  const wanted = paths?.map(toBytePath);
  const isWanted = (path: BytePath) => wanted?.some((one) => path === one || path.startsWith(`${one}/`)) ?? true;
  return changes.flatMap(({ path, ...change }) => (isWanted(path) ? [{ ...change, path: toPathText(path) }] : []));
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

function parse(stdout: Buffer): (Omit<FileChange, 'path'> & { path: BytePath })[] {
  const parts = stdout.toString('latin1').split('\0');
  const changes = new Map<BytePath, Omit<FileChange, 'path'>>();
  let at = 0;
  // `:100644 100644 <before> <after> M\0path\0`, then `3\t1\tpath\0`.
  for (; parts[at]?.startsWith(':'); at += 2) {
    const [beforeMode, afterMode, before, after] = parts[at]!.slice(1).split(' ') as [string, string, string, string];
    const change = { before: toItem(beforeMode, before), after: toItem(afterMode, after), added: null, removed: null };
    const status = change.before === null ? 'added' : change.after === null ? 'deleted' : 'modified';
    changes.set(parts[at + 1]!, { ...change, status });
  }
  for (; at < parts.length; at++) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(parts[at]!) ?? [];
    const change = path === undefined ? undefined : changes.get(path);
    if (change === undefined || added === '-') continue;
    changes.set(path!, { ...change, added: Number(added), removed: Number(removed) });
  }
  return [...changes].map(([path, change]) => ({ path, ...change }));
}

function toItem(mode: string, object: string): TreeItem | null {
  // Git names only modes that a tree can have.
  return mode === '000000' ? null : { mode: mode as TreeItem['mode'], object };
}
