import type { DirectoryResource, DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import { lstat, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { requestError } from '../../base/request-error.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import type { DirectoryMode } from '../workspace-source.ts';
import { type AllowedDirectories, isBelow } from './allowed-directories.ts';
import { findNestedGit } from './find-nested-git.ts';
import { findRepository, type RepositoryPlace } from './find-repository.ts';
import { findGitDirectoryAround, isGitName } from './git-directories.ts';
import { createRepositoryReader } from './read-repository.ts';

/** The dependencies of {@link planDirectory}. */
export interface PlanOptions {
  readonly git: RepositoryGit;
  readonly allowed: AllowedDirectories;
  /** The real path of the data directory of this server. */
  readonly dataDirectory: string;
  /** Whether tools run in a sandbox on this machine. */
  readonly isSandboxed: () => Promise<boolean>;
}

/** The fields of a directory resource, without its id and times. */
export type PlannedDirectory = Omit<DirectoryResource, 'id' | 'created_at' | 'updated_at'>;

/** Decides how a session works on a directory, before the session is created. Throws request errors. */
export async function planDirectory(
  options: PlanOptions,
  params: DirectoryResourceParams,
  sessionId: string,
): Promise<PlannedDirectory> {
  const path = await options.allowed.resolve(params.path);
  await checkOutsideGit(path);
  const { mode, commit, place } = await chooseMode(options, path, params);
  await checkMode(options, path, mode, params);
  if (mode === 'worktree') await checkOwner(options, place!.commonDirectory);
  if (mode === 'in_place') await checkOwner(options, path);
  const isWorktree = mode === 'worktree';
  return {
    type: 'directory',
    path,
    mode,
    mount_path: '/workspace',
    base: params.base ?? null,
    commit,
    branch: isWorktree ? toBranch(sessionId) : null,
    include_uncommitted: params.include_uncommitted ?? false,
    copy: params.copy ?? [],
    setup: params.setup ?? null,
  };
}

interface Chosen {
  readonly mode: DirectoryMode;
  readonly commit: string | null;
  readonly place: RepositoryPlace | undefined;
}

async function chooseMode(
  { git, allowed }: PlanOptions,
  path: string,
  params: DirectoryResourceParams,
): Promise<Chosen> {
  const { mode: asked = null, base } = params;
  if (asked === 'copy') return { mode: asked, commit: null, place: undefined };
  const place = await findRepository(path, allowed);
  const commit = place === undefined ? undefined : await readCommit(git, place, base ?? undefined);
  const mode = asked ?? (commit === undefined ? 'copy' : 'worktree');
  if (mode !== 'worktree' || commit !== undefined) return { mode, commit: commit ?? null, place };
  const problem =
    place === undefined
      ? 'is not in a git repository that this server may read'
      : 'is in a git repository without commits';
  throw requestError('invalid_request', `mode: ${path} ${problem}`, { advice: 'use mode copy or in_place' });
}

async function readCommit(git: RepositoryGit, place: RepositoryPlace, base: string | undefined) {
  return await createRepositoryReader(git, place).resolveCommit(base);
}

async function checkMode(
  options: PlanOptions,
  path: string,
  mode: DirectoryMode,
  params: DirectoryResourceParams,
): Promise<void> {
  const { base, include_uncommitted: uncommitted, copy = [], setup } = params;
  if (mode !== 'worktree') {
    const [field] = [
      ...(base === undefined || base === null ? [] : ['base']),
      ...(uncommitted === true ? ['include_uncommitted'] : []),
      ...(copy.length > 0 ? ['copy'] : []),
    ];
    if (field !== undefined)
      throw wrong(`${field}: is for mode worktree, and the mode is ${mode}`, `leave ${field} out`);
  }
  if (mode === 'worktree' || mode === 'copy') return;
  if (isBelow(options.dataDirectory, path)) {
    throw wrong(
      `mode: ${path} contains the data directory of this server, which agents must not see`,
      'use mode worktree or copy',
    );
  }
  if ((await lstat(join(path, '.git')).catch(() => undefined))?.isSymbolicLink()) {
    throw wrong(`mode: ${path}/.git is a symbolic link, which cannot be covered`, 'use mode worktree or copy');
  }
  await findNestedGit(path);
  if (mode === 'in_place') return;
  if (setup !== undefined && setup !== null)
    throw wrong('setup: could not write to a read_only directory', 'leave setup out');
  if (await options.isSandboxed()) return;
  throw wrong(
    'mode: read_only needs a sandbox, and this server has none',
    'use mode copy, or install bubblewrap there',
  );
}

/** Throws for a path in a git directory: its hooks and settings are programs that the user's git runs later. */
async function checkOutsideGit(path: string): Promise<void> {
  const around = await findGitDirectoryAround(path);
  if (around === undefined) return;
  const isBare = !around.split(sep).some(isGitName);
  const kind = isBare ? 'a bare repository' : 'a git directory';
  const place = around === path ? `is ${kind}` : `is inside of ${kind}, ${around}`;
  const advice = isBare
    ? `add a worktree to it (git -C ${around} worktree add <directory>) and name that, or use a git_repository with the URL file://${around}`
    : 'use the working tree of the repository';
  throw wrong(`path: ${path} ${place}, which agents must not change`, advice);
}

/** Throws if the path belongs to another user: a process in a sandbox does not have the rights of that user, even if the server is root. */
async function checkOwner({ isSandboxed }: PlanOptions, path: string): Promise<void> {
  const { uid } = await stat(path);
  if (uid === process.getuid?.() || !(await isSandboxed())) return;
  const advice = 'run the server as that user, or use mode copy';
  throw wrong(`path: ${path} belongs to another user (uid ${uid})`, advice);
}

/**
 * The branch of a session: `fleetloom/<the end of the id>`, without its title: agents of all workspaces that use the repository see the
 * names of its branches.
 */
function toBranch(sessionId: string): string {
  return `fleetloom/${sessionId.slice(-SHORT_ID_CHARS).toLowerCase()}`;
}

const SHORT_ID_CHARS = 8;

function wrong(problem: string, advice: string) {
  return requestError('invalid_request', problem, { advice });
}
