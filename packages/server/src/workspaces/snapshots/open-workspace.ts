import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { toInside } from '../../tools/workspace/session-paths.ts';
import type { SetupResult, SourceRepository, WorkspaceSource } from '../workspace-source.ts';
import { FORK_FILE } from './copy-repository.ts';
import { DirectoryRecorder } from './directory-recorder.ts';
import { EXCLUDE_FILE } from './exclude-file.ts';
import type { RecorderOptions } from './recorder-options.ts';
import { type BytePath, toBytePath } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { WorkspaceOpened } from './workspace-change.ts';
import { undoInterrupted } from './write/undo-interrupted.ts';
import { writeTree } from './write-tree.ts';
import { writeExcludeFile } from './write-exclude-file.ts';

/** A workspace that is ready to be recorded. */
export interface OpenedWorkspace {
  readonly repository: SnapshotRepository;
  readonly recorder: DirectoryRecorder;
  readonly directory: string;
  readonly isWritable: boolean;
  /** Whether the session works in the user's own directory, whose files the user may change at any time. */
  readonly isInPlace: boolean;
  /** Whether the files were cloned, so that they can be cloned again on another node. */
  readonly isCloned: boolean;
  /** The git directories of clones, which are not reported as not recorded: each clone has one. */
  readonly clonedGit: ReadonlySet<BytePath>;
  /** The workspace as it was first recorded; null if its setup command has failed. */
  readonly opened: WorkspaceOpened | null;
  readonly setup: SetupResult | null;
}

/** Opens the snapshots of a session, and records the workspace if the log has no tree yet. Null for a session without source. */
export async function openWorkspace(options: RecorderOptions): Promise<OpenedWorkspace | null> {
  const { git, tree } = options;
  const prepared = await options.prepare();
  if (prepared === undefined) return null;
  const { source, setup } = prepared;
  const userRepository = source.type === 'directory' ? source.repository : null;
  const repository = await options.create({
    format: userRepository?.objectFormat ?? 'sha1',
    alternates: userRepository?.objects ?? [],
  });
  const { workspace: directory } = source;
  await undoInterrupted(repository, directory);
  const base = await findBaseTree(repository, source);
  const userDirectory = userRepository?.commonDirectory ?? null;
  await writeExcludeFile({ git, repository, directory, userDirectory, base });
  const { indexFile, isNew } = await takeIndex(repository, options.indexName);
  const excludeFile = repository.file(EXCLUDE_FILE);
  const recorder = new DirectoryRecorder({ repository, directory, indexFile, excludeFile });
  const first = tree ?? base ?? repository.emptyTree;
  await recorder.begin(first, { isNew });
  await restoreFork(repository, recorder, { first, directory });
  const hasFailed = setup !== null && setup.code !== 0;
  const opened = hasFailed || tree !== null ? null : (await recorder.recordAll(first)).tree;
  await repository.sync();
  const isWritable = source.type !== 'directory' || source.mode !== 'read_only';
  const shown = opened === null ? null : toOpened(opened, source, userRepository);
  const isInPlace = source.type === 'directory' && source.mode === 'in_place';
  const isCloned = source.type === 'repositories';
  const clonedGit = new Set(isCloned ? source.repositories.map(toGitDirectory) : []);
  return { repository, recorder, directory, isWritable, isInPlace, isCloned, clonedGit, opened: shown, setup };
}

function toGitDirectory({ mountPath }: { readonly mountPath: string }): BytePath {
  return toBytePath(`${toInside(mountPath) ?? ''}/.git`);
}

/** Writes the files of the origin of a fork when the workspace of the fork is first used. */
async function restoreFork(
  repository: SnapshotRepository,
  recorder: DirectoryRecorder,
  { first, directory }: { readonly first: string; readonly directory: string },
): Promise<void> {
  const wanted = await readFile(repository.file(FORK_FILE), 'utf8').catch(() => undefined);
  if (wanted === undefined) return;
  const { tree: found } = await recorder.recordAll(first);
  await writeTree(repository, wanted.trim(), directory, { from: found });
  // Removed last, so that the writing is repeated after a crash.
  await rm(repository.file(FORK_FILE));
}

function toOpened(tree: string, source: WorkspaceSource, user: SourceRepository | null): WorkspaceOpened {
  const base = user?.base == null ? null : { commit: user.base, branch: user.branch };
  return { tree, base, source: source.type === 'directory' ? 'directory' : 'repository' };
}

/** The tree of the commit that the workspace began with. Null if there is none. */
async function findBaseTree(repository: SnapshotRepository, source: WorkspaceSource): Promise<string | null> {
  if (source.type !== 'directory' || source.repository?.base == null) return null;
  const { base, top } = source.repository;
  const inside = source.mode === 'worktree' ? '' : relative(top, source.path);
  const name = inside === '' ? `${base}^{tree}` : `${base}:${inside}`;
  const found = await repository.run(['rev-parse', '--verify', '-q', name], { codes: [1, 128] });
  return found.code === 0 ? found.stdout.toString().trim() : null;
}

/**
 * Renames the index of the last owner: a git process that outlived its server may still write to the old name.
 * An index that such a process has locked is not used.
 */
async function takeIndex(
  repository: SnapshotRepository,
  indexName = 'index',
): Promise<{ indexFile: string; isNew: boolean }> {
  const prefix = `${indexName}-`;
  // Merge and scratch files belong to no worktree, so the recorder of the session removes them.
  const isOwn = (name: string) => name.startsWith(prefix) || (indexName === 'index' && /^(scratch-|merge-)/.test(name));
  const names = (await readdir(repository.path)).filter(isOwn);
  const free = names.filter(
    (name) => name.startsWith(prefix) && !name.endsWith('.lock') && !names.includes(`${name}.lock`),
  );
  const found = await Promise.all(
    free.map(async (name) => ({ name, time: (await stat(repository.file(name))).mtimeMs })),
  );
  const newest = found.toSorted((one, other) => other.time - one.time)[0]?.name;
  const indexFile = repository.file(`${prefix}${randomUUID()}`);
  if (newest !== undefined) await rename(repository.file(newest), indexFile);
  for (const name of names.filter((one) => one !== newest)) {
    await rm(repository.file(name), { recursive: true, force: true });
  }
  return { indexFile, isNew: newest === undefined };
}
