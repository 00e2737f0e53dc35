import { diffTrees, type FileChange } from './diff-trees.ts';
import { hasSameLines, mergeContent } from './merge-content.ts';
import { toBytePath } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { TreeItem } from './objects/tree-objects.ts';

/** The trees to merge: the common base, and the tree of each side. */
export interface MergeRequest {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** A file with changes of both sides that exclude each other. */
export interface MergeConflict {
  readonly path: string;
  /** `content`: both changed the same lines. `kind`: deleted on one side, or not text files. `directory`: a file and a directory. */
  readonly reason: 'content' | 'kind' | 'directory';
  /** With `kind`: the change of each side. Absent if our file cannot be read. */
  readonly sides?: { readonly ours: FileChange['status']; readonly theirs: FileChange['status'] };
  /** With `content`: the number of conflicts. */
  readonly places?: number;
  /** With `content`: the file with conflict markers. */
  readonly marked?: string;
}

/** The merged tree, or the conflicts that prevent it. */
export type MergeOutcome =
  | { readonly type: 'merged'; readonly tree: string }
  | { readonly type: 'conflicts'; readonly files: readonly MergeConflict[] };

/** Merges two trees. Nothing outside of the repository is read or written. */
export async function mergeTrees(repository: SnapshotRepository, request: MergeRequest): Promise<MergeOutcome> {
  const { base, ours, theirs } = request;
  const [ourChanges, theirChanges] = await Promise.all([
    diffTrees(repository, base, ours),
    diffTrees(repository, base, theirs),
  ]);
  const byPath = new Map(ourChanges.map((change) => [change.path, change]));
  const conflicts: MergeConflict[] = findDirectoryConflicts(ourChanges, theirChanges);
  const changes = new Map<string, TreeItem | null>();
  for (const their of theirChanges) {
    const our = byPath.get(their.path);
    if (our === undefined) changes.set(toBytePath(their.path), their.after);
    else if (!isSame(our.after, their.after)) {
      const merged = await mergeFile(repository, our, their);
      if (merged !== null && 'reason' in merged) conflicts.push(merged);
      else changes.set(toBytePath(their.path), merged);
    }
  }
  if (conflicts.length > 0) return { type: 'conflicts', files: conflicts };
  return { type: 'merged', tree: await repository.change(ours, changes) };
}

/** Finds paths at which one side has a file and the other a directory. */
function findDirectoryConflicts(ours: readonly FileChange[], theirs: readonly FileChange[]): MergeConflict[] {
  return [findBelow(ours, theirs), findBelow(theirs, ours)]
    .flat()
    .map((path) => ({ path, reason: 'directory' as const }));
}

/** Files of the first side that are directories on the second side. */
function findBelow(some: readonly FileChange[], others: readonly FileChange[]): string[] {
  const directories = new Set(others.filter(({ after }) => after !== null).flatMap(({ path }) => toParents(path)));
  return some.filter(({ after, path }) => after !== null && directories.has(path)).map(({ path }) => path);
}

function toParents(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'));
}

function isSame(one: TreeItem | null, other: TreeItem | null): boolean {
  return one?.object === other?.object && one?.mode === other?.mode;
}

/** The merged file, or the conflict; null if the file is deleted. */
async function mergeFile(
  repository: SnapshotRepository,
  { path, status: ours, before, after: our }: FileChange,
  { status: theirs, after: their }: FileChange,
): Promise<TreeItem | MergeConflict | null> {
  const kind = { path, reason: 'kind', sides: { ours, theirs } } as const;
  if (their === null && (await hasOtherEndings(repository, before, our))) return null;
  if (our === null || their === null || ![our, their].every(isFile)) return kind;
  // If one side has changed the mode, its mode is used.
  const mode = our.mode === before?.mode ? their.mode : our.mode;
  if (our.object === their.object) return { mode, object: our.object };
  if (before === null || !isFile(before)) return kind;
  if (our.object === before.object) return { mode, object: their.object };
  if (their.object === before.object) return { mode, object: our.object };
  const [base, mine, other] = await repository.read([before.object, our.object, their.object]);
  const contents = { before: base!.content, ours: mine!.content, theirs: other!.content };
  const merged = await mergeContent(repository, contents);
  if (merged === undefined) return kind;
  if (merged.places > 0) {
    return { path, reason: 'content', places: merged.places, marked: merged.content.toString() };
  }
  const [object] = await repository.write([{ type: 'blob', content: merged.content }]);
  return { mode, object: object! };
}

/** Whether our side has changed only the line ending of a file, as a checkout may do. */
async function hasOtherEndings(
  repository: SnapshotRepository,
  before: TreeItem | null,
  our: TreeItem | null,
): Promise<boolean> {
  if (before === null || our === null || before.mode !== our.mode || !isFile(our)) return false;
  const [base, mine] = await repository.read([before.object, our.object]);
  return base !== undefined && mine !== undefined && hasSameLines(base.content, mine.content);
}

function isFile({ mode }: TreeItem): boolean {
  return mode === '100644' || mode === '100755';
}
