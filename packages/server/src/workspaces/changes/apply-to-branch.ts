import { requestError } from '../../base/request-error.ts';
import { GitFailure } from '../git/git-failure.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import { diffTrees, type FileChange } from '../snapshots/diff-trees.ts';
import { mergeTrees } from '../snapshots/merge-trees.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import { SUBMODULE_MODE, TREE_MODE } from '../snapshots/objects/tree-objects.ts';
import { isBelow } from '../sources/allowed-directories.ts';
import type { SourceRepository } from '../workspace-source.ts';
import { applyConflict } from './apply-conflict.ts';
import type { CommitText } from './commit-text.ts';
import { changesLimits } from './limits.ts';
import type { SelectedChanges } from './select-changes.ts';

/** A branch of the user's repository. */
export interface BranchTarget {
  /** The snapshot repository of the session, in which the commit is computed. */
  readonly repository: SnapshotRepository;
  readonly git: RepositoryGit;
  readonly user: SourceRepository;
  /** The path of the workspace in the repository; empty if the workspace is the whole repository. */
  readonly prefix: string;
  readonly branch: string;
  readonly isDryRun: boolean;
  readonly toText: () => Promise<CommitText>;
}

/** The committed changes. */
export interface CommittedChanges {
  readonly files: readonly FileChange[];
  /** Null if nothing had to be committed. */
  readonly commit: string | null;
}

/**
 * Commits changes to a branch, which is created from the session's base if it does not exist. The user's index, working tree
 * and other refs are not touched.
 */
export async function applyToBranch(target: BranchTarget, changes: SelectedChanges): Promise<CommittedChanges> {
  const { repository, prefix, branch, user, isDryRun } = target;
  await checkName(target);
  const tip = await findTip(target);
  const parent = tip ?? user.base;
  if (parent === null) throw requestError('not_applicable', `${user.top} has no commits, so it has no branches`);
  const whole = await findTree(repository, `${parent}^{tree}`);
  const ours = prefix === '' ? whole : await findTree(repository, `${parent}:${prefix}`);
  const outcome = await mergeTrees(repository, { base: changes.base, ours, theirs: changes.tree });
  if (outcome.type === 'conflicts') throw applyConflict(`the branch ${branch}`, outcome.files);
  const files = await diffTrees(repository, ours, outcome.tree);
  if (files.length === 0 || isDryRun) return { files, commit: null };
  const item = { mode: TREE_MODE, object: outcome.tree } as const;
  const tree = prefix === '' ? outcome.tree : await repository.change(whole, new Map([[toBytePath(prefix), item]]));
  const text = await target.toText();
  const commit = await writeCommit(repository, { tree, parent, text });
  await send(target, await packNew(repository, { whole, tree, commit }));
  await moveBranch(target, { commit, tip, text });
  return { files, commit };
}

async function checkName({ repository, git, user, branch }: BranchTarget): Promise<void> {
  const isName = !branch.startsWith('-') && branch !== 'HEAD';
  const checked = await repository.run(['check-ref-format', `refs/heads/${branch}`], { codes: [1] });
  if (!isName || checked.code !== 0) {
    const advice = 'choose a name that git accepts, such as feature/login';
    throw requestError('invalid_request', `branch: ${branch} is not a valid name of a branch`, { advice });
  }
  const { stdout } = await git.run(['worktree', 'list', '--porcelain'], readOptions(user));
  const worktrees = stdout.toString().split('\n\n');
  const holder = worktrees.find((worktree) => worktree.split('\n').includes(`branch refs/heads/${branch}`));
  if (holder === undefined) return;
  const path = /^worktree (.*)$/m.exec(holder)?.[1] ?? user.top;
  throw requestError('branch_checked_out', `branch: ${branch} is checked out in ${path}`);
}

async function findTip({ git, user, branch }: BranchTarget): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/heads/${branch}^{commit}`];
  const { code, stdout } = await git.run(args, { ...readOptions(user), codes: [1, 128] });
  return code === 0 ? stdout.toString().trim() : undefined;
}

function readOptions({ gitDirectory, commonDirectory, objects }: SourceRepository) {
  return { cwd: gitDirectory, gitDirectory, reach: { readOnlyPaths: [...new Set([commonDirectory, ...objects])] } };
}

async function findTree(repository: SnapshotRepository, name: string): Promise<string> {
  const { code, stdout } = await repository.run(['rev-parse', '--verify', '--quiet', name], { codes: [1, 128] });
  return code === 0 ? stdout.toString().trim() : repository.emptyTree;
}

async function writeCommit(
  repository: SnapshotRepository,
  { tree, parent, text }: { tree: string; parent: string; text: CommitText },
): Promise<string> {
  const env = toIdentity(text);
  const { stdout } = await repository.run(['commit-tree', tree, '-p', parent], { input: text.message, env });
  return stdout.toString().trim();
}

function toIdentity({ name, email }: CommitText): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** A pack with the commit and the directories and files that its parent does not have. */
async function packNew(
  repository: SnapshotRepository,
  { whole, tree, commit }: { whole: string; tree: string; commit: string },
): Promise<Buffer> {
  const raw = await repository.run([
    'diff-tree',
    '-r',
    '-t',
    '-z',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    whole,
    tree,
  ]);
  const entries = raw.stdout
    .toString('latin1')
    .split('\0')
    .filter((part) => part.startsWith(':'));
  const objects = entries.flatMap((entry) => {
    const [, mode, , object] = entry.split(' ');
    return mode === '000000' || mode === SUBMODULE_MODE ? [] : [object!];
  });
  const input = [...new Set([commit, tree, ...objects])].map((id) => `${id}\n`).join('');
  const { packBytesMax: outputBytesMax } = changesLimits;
  return (await repository.run(['pack-objects', '-q', '--stdout'], { input, outputBytesMax })).stdout;
}

/** Adds objects to the user's repository. They have no effect there until a ref names the commit. */
async function send({ git, user }: BranchTarget, pack: Buffer): Promise<void> {
  await git.run(['unpack-objects', '-q'], { ...writeOptions(user), input: pack });
}

function writeOptions({ gitDirectory, commonDirectory, objects }: SourceRepository) {
  const [own = commonDirectory, ...others] = objects;
  const writablePaths = isBelow(own, commonDirectory) ? [commonDirectory] : [commonDirectory, own];
  const reach = { writablePaths, readOnlyPaths: [gitDirectory, ...others] };
  return { cwd: commonDirectory, gitDirectory: commonDirectory, reach: { ...reach, isDirectoryWritable: true } };
}

async function moveBranch(
  { git, user, branch }: BranchTarget,
  { commit, tip, text }: { commit: string; tip: string | undefined; text: CommitText },
): Promise<void> {
  const before = tip ?? '0'.repeat(commit.length);
  const args = ['update-ref', '-m', 'fleetloom: apply', `refs/heads/${branch}`, commit, before];
  try {
    await git.run(args, { ...writeOptions(user), env: toIdentity(text) });
  } catch (cause) {
    if (!(cause instanceof GitFailure)) throw cause;
    throw requestError('branch_moved', `branch: ${branch} cannot be moved (${cause.message})`, { cause });
  }
}
