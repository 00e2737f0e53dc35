import type { FileFacts, WorkspaceDiff, WorkspaceDiffs, WorkspaceTree } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';
import { type FileChange, unifiedDiffs } from '../snapshots/diff-trees.ts';
import { findItem } from '../snapshots/objects/find-item.ts';
import { MissingObject } from '../snapshots/objects/missing-object.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import type { SnapshotReader } from '../snapshots/snapshots.ts';
import { SUBMODULE_MODE, TREE_MODE, type TreeItem } from '../snapshots/objects/tree-objects.ts';
import { toPoint } from './find-point.ts';
import type { TreeFrame } from './history.ts';
import { changesLimits } from './limits.ts';

/** The diff of one file between two moments. */
export async function readDiff(
  snapshots: SnapshotReader,
  range: TreeRange,
  { path, contextLines }: { readonly path: string; readonly contextLines?: number | undefined },
): Promise<WorkspaceDiff> {
  const { sessionId } = range.to;
  const [from, to] = [range.from.payload.tree, range.to.payload.tree];
  const changes = await snapshots.diffTrees(sessionId, from, to, { paths: [path] });
  const change = changes.find((each) => each.path === path);
  if (change !== undefined) return (await toDiffs(snapshots, range, [change], { contextLines }))[0]!;
  const facts = await findFile(snapshots, range.to, path);
  const sizes = await readSizes(await snapshots.repositoryOf(sessionId), [facts]);
  const unchanged = { path, status: 'unchanged' as const, added: 0, removed: 0, before: facts, after: facts };
  return toDiff(range, unchanged, { sizes, text: '' });
}

/** The recorded states to compare. */
export interface TreeRange {
  readonly from: TreeFrame;
  readonly to: TreeFrame;
}

/** The page of diffs to read. */
export interface DiffsRequest {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly contextLines?: number | undefined;
}

/** One page of the diffs of all changed files, in the order of their paths. */
export async function readDiffs(
  snapshots: SnapshotReader,
  range: TreeRange,
  { after, limit, contextLines }: DiffsRequest,
): Promise<WorkspaceDiffs> {
  const { sessionId } = range.to;
  const all = await snapshots.diffTrees(sessionId, range.from.payload.tree, range.to.payload.tree);
  // Compared as bytes, because trees are sorted by bytes.
  const last = toBytePath(after ?? '');
  const rest = after === undefined ? all : all.filter(({ path }) => toBytePath(path) > last);
  const diffs = await toDiffs(snapshots, range, rest.slice(0, limit), { contextLines, isAll: all.length <= limit });
  const next = diffs.length < rest.length ? diffs.at(-1)!.path : null;
  return { type: 'workspace_diffs', session_id: sessionId, diffs, next_after: next };
}

/** The diffs of changes: as many as fit into one response, and at least one. */
async function toDiffs(
  snapshots: SnapshotReader,
  range: TreeRange,
  changes: readonly FileChange[],
  { contextLines, isAll = false }: { readonly contextLines: number | undefined; readonly isAll?: boolean },
): Promise<WorkspaceDiff[]> {
  const repository = await snapshots.repositoryOf(range.to.sessionId);
  const sizes = await readSizes(
    repository,
    changes.flatMap(({ before, after }) => [before, after]),
  );
  const trees = isAll ? ([range.from.payload.tree, range.to.payload.tree] as const) : undefined;
  const options = { contextLines, trees, bytesMax: changesLimits.diffsBytesMax };
  const texts = await unifiedDiffs(repository, changes, options);
  const diffs: WorkspaceDiff[] = [];
  let chars = 0;
  for (const [at, change] of changes.entries()) {
    // Read one by one if all diffs together are too large: a single diff may be the reason.
    const text = texts === undefined ? (await unifiedDiffs(repository, [change], { contextLines }))?.[0] : texts[at]!;
    const diff = toDiff(range, change, { sizes, text });
    chars += diff.diff?.length ?? 0;
    if (chars > changesLimits.diffsCharsMax && diffs.length > 0) break;
    diffs.push(diff);
  }
  return diffs;
}

function toDiff(
  { from, to }: TreeRange,
  change: Omit<FileChange, 'status'> & Pick<WorkspaceDiff, 'status'>,
  { sizes, text }: { readonly sizes: ReadonlyMap<string, number>; readonly text: string | undefined },
): WorkspaceDiff {
  const { path, status, added, removed } = change;
  const toFacts = (item: TreeItem | null): FileFacts | null =>
    item === null ? null : { mode: item.mode, bytes: sizes.get(item.object) ?? null };
  // Lines of content cannot match: they begin with a blank, a plus, a minus or a backslash. `added` is also null for large texts.
  const isBinary = added === null && text !== undefined && /^Binary files /m.test(text);
  const isTooLarge = text === undefined || text.length > changesLimits.diffCharsMax;
  return {
    type: 'workspace_diff',
    session_id: to.sessionId,
    from: toPoint(from),
    to: toPoint(to),
    path,
    status,
    added,
    removed,
    before: toFacts(change.before),
    after: toFacts(change.after),
    is_binary: isBinary,
    diff: isBinary || isTooLarge ? null : text,
    omitted: isBinary ? 'binary' : isTooLarge ? 'too_large' : null,
  };
}

/** The sizes of files by object id. Submodules have no size. */
async function readSizes(
  repository: Pick<SnapshotRepository, 'run'>,
  items: readonly (TreeItem | null)[],
): Promise<ReadonlyMap<string, number>> {
  const files = items.flatMap((item) => (item === null || item.mode === SUBMODULE_MODE ? [] : [item.object]));
  if (files.length === 0) return new Map();
  const input = files.map((object) => `${object}\n`).join('');
  const { stdout } = await repository.run(['cat-file', '--batch-check=%(objectsize)'], { input });
  const sizes = stdout.toString().split('\n');
  return new Map(files.map((object, at) => [object, Number(sizes[at])]));
}

/** The directory and the page of a tree to list. */
export interface TreeRequest {
  /** Lists only files below this directory. */
  readonly under?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** One page of the files of a tree, at all depths. */
export async function readTree(
  snapshots: Pick<SnapshotReader, 'listTree'>,
  at: TreeFrame,
  { under, after, limit }: TreeRequest,
): Promise<WorkspaceTree> {
  const [prefix, last] = [under === undefined ? '' : toBytePath(`${under}/`), toBytePath(after ?? '')];
  const entries: WorkspaceTree['entries'][number][] = [];
  let hasMore = false;
  for await (const { path, mode, bytes } of snapshots.listTree(at.sessionId, at.payload.tree)) {
    // Compared as bytes, because trees are sorted by bytes.
    const name = toBytePath(path);
    if (!name.startsWith(prefix) || (after !== undefined && name <= last)) continue;
    hasMore = entries.length === limit;
    if (hasMore) break;
    entries.push({ path, type: types[mode] ?? 'file', bytes });
  }
  const next = hasMore ? entries.at(-1)!.path : null;
  return { type: 'workspace_tree', session_id: at.sessionId, at: toPoint(at), entries, next_after: next };
}

const types: Readonly<Partial<Record<string, WorkspaceTree['entries'][number]['type']>>> = {
  '100755': 'executable',
  '120000': 'symlink',
  [SUBMODULE_MODE]: 'submodule',
};

/** The content of a file in a recorded state, or the target of a symbolic link. */
export interface FileContent {
  readonly path: string;
  readonly mode: string;
  readonly cursor: string;
  readonly content: Buffer;
}

/** Reads a file of a tree. */
export async function readContent(snapshots: SnapshotReader, at: TreeFrame, path: string): Promise<FileContent> {
  const { mode, object } = await findFile(snapshots, at, path);
  const repository = await snapshots.repositoryOf(at.sessionId);
  const [found] = mode === SUBMODULE_MODE ? [] : await repository.read([object]);
  if (found === undefined && mode !== SUBMODULE_MODE) throw new MissingObject(object);
  if (found?.type !== 'blob') throw notFound(at, path);
  return { path, mode, cursor: String(at.seq), content: found.content };
}

async function findFile(
  snapshots: Pick<SnapshotReader, 'repositoryOf'>,
  at: TreeFrame,
  path: string,
): Promise<TreeItem> {
  const item = await findItem(await snapshots.repositoryOf(at.sessionId), at.payload.tree, toBytePath(path));
  if (item === undefined || item.mode === TREE_MODE) throw notFound(at, path);
  return item;
}

function notFound({ seq }: TreeFrame, path: string) {
  return requestError('path_not_found', `path: the workspace has no file ${path} at the cursor ${seq}`);
}
