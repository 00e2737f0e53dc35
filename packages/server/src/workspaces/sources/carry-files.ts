import { isUtf8 } from 'node:buffer';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import { listNames } from '../../base/list-names.ts';
import { closing, Directory, isCode } from '../../tools/workspace/directory.ts';
import type { GitOutput } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';
import { toPathText } from '../snapshots/objects/path-text.ts';
import { type Copying, copyEntry, createCopying } from './copy-tree.ts';
import { readBelow } from './read-below.ts';
import { copyUserIndex, runOnTree, type UserTree } from './user-index.ts';

/** The options of copying files from the user's working tree to a new worktree. */
export interface CarryOptions extends UserTree {
  readonly workspace: string;
  /** Whether a path below `top` is a file that no session may see, such as the data directory of the server. */
  readonly isHidden: (path: string) => boolean;
  /** The user's ignore rules for all repositories. */
  readonly readUserRules: () => Promise<string>;
}

/** Copies the user's uncommitted changes: tracked and untracked files, but not ignored ones. The user's index is only read. */
export async function carryUncommitted(options: CarryOptions): Promise<void> {
  const index = join(options.privateGit.path, 'fleetloom-user-index');
  const list = async (args: readonly string[]) => splitPaths(await runOnTree(options, args, { indexFile: index }));
  // Only a temporary file: agents need not see the user's rules for all repositories.
  const userRules = join(options.privateGit.path, 'fleetloom-user-rules');
  const excludes = [userRules, join(options.privateGit.path, 'info/exclude')].map((file) => `--exclude-from=${file}`);
  try {
    await writeFile(userRules, await options.readUserRules(), { encoding: 'latin1', mode: 0o600 });
    await copyUserIndex(options, index);
    // In a sandbox files may have other owners than in the index, so that all of them look changed until they are read.
    await runOnTree(options, ['update-index', '-q', '--refresh'], { indexFile: index, codes: [1] });
    const all = await Promise.all([
      list(['diff-index', '--cached', ...CHANGED, '--no-renames', options.repository.base!]),
      list(['diff-files', ...CHANGED]),
      list(['ls-files', '--others', '--exclude-per-directory=.gitignore', ...excludes, '-z']),
    ]);
    await carry(options, new Set(all.flat()), true);
  } finally {
    await Promise.all([index, userRules].map((file) => rm(file, { force: true })));
  }
}

/** Options that skip submodules: git would start itself in each of them, with its configuration and filters. */
const CHANGED = ['--name-only', '-z', '--ignore-submodules=all'];

/** Copies untracked files that match the patterns in the repository's `.worktreeinclude`, or the given patterns. */
export async function carryIncluded(options: CarryOptions, patterns: readonly string[]): Promise<void> {
  const own = await readBelow(options.repository.top, '.worktreeinclude', workspaceLimits.gitFileBytesMax);
  const rules = [own?.toString() ?? '', ...patterns].join('\n');
  if (rules.trim() === '') return;
  const file = join(options.privateGit.path, 'fleetloom-include');
  await writeFile(file, `${rules}\n`, { mode: 0o600 });
  try {
    const args = ['ls-files', '--others', '--ignored', '--directory', `--exclude-from=${file}`, '-z'];
    await carry(options, new Set(splitPaths(await runOnTree(options, args))), false);
  } finally {
    await rm(file, { force: true });
  }
}

/** Splits a list of paths. Throws if a path is not UTF-8, because it could not be copied. */
function splitPaths({ stdout }: GitOutput): string[] {
  const paths = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '');
  const bytes = paths.map((path) => Buffer.from(path, 'latin1'));
  const others = paths.filter((_, at) => !isUtf8(bytes[at]!));
  if (others.length > 0) throw notUtf8(others.map(toPathText));
  return bytes.map((path) => path.toString());
}

function notUtf8(paths: readonly string[]): FleetloomError {
  return new FleetloomError({
    code: 'workspace_failed',
    kind: 'caller',
    problem: `files of the working tree cannot be copied, because their names are not UTF-8: ${listNames(paths)}`,
    advice: 'rename or commit them, or leave them out of include_uncommitted, copy and .worktreeinclude',
  });
}

/** Brings paths of the workspace to the state of the user's working tree. */
async function carry({ repository, workspace, isHidden }: CarryOptions, paths: ReadonlySet<string>, removes: boolean) {
  const copying = createCopying((path) => path === '.git' || isOwn(path) || isHidden(path));
  await closing(await Directory.openRoot(repository.top), async (source) => {
    await closing(await Directory.openRoot(workspace), async (target) => {
      for (const path of paths) {
        const parts = path.replace(/\/$/, '').split('/');
        if (copying.isSkipped(parts.join('/')) || parts.includes('..') || parts[0] === '.git' || isOwn(path)) continue;
        await carryOne(source, target, parts, { copying, removes, isWhole: path.endsWith('/') });
      }
    });
  });
}

/** Whether a path is the server's directory in a workspace, or in it. */
function isOwn(path: string): boolean {
  return path === '.fleetloom' || path.startsWith('.fleetloom/');
}

interface CarryOne {
  readonly copying: Copying;
  /** Whether files that the user has removed are removed. */
  readonly removes: boolean;
  /** Whether the path is a directory that is copied as a whole. */
  readonly isWhole: boolean;
}

async function carryOne(
  source: Directory,
  target: Directory,
  [name = '', ...rest]: readonly string[],
  options: CarryOne,
): Promise<void> {
  const { copying, removes, isWhole } = options;
  if (rest.length === 0) {
    const stats = await source.stat(name);
    if (stats !== undefined && (!stats.isDirectory() || isWhole)) {
      return await copyEntry(source, name, target, copying);
    }
    // The file is gone, or is a directory now, whose files are listed separately.
    if (removes && (await target.stat(name))?.isDirectory() === false) await target.remove(name);
    return;
  }
  const from = await source.openDirectory(name).catch(ignoreMissing);
  if (from === undefined && !removes) return;
  if (from !== undefined) await target.makeDirectory(name).catch(ignoreMissing);
  const to = await target.openDirectory(name).catch(ignoreMissing);
  try {
    if (to !== undefined && from !== undefined) await carryOne(from, to, rest, options);
    else if (to !== undefined) {
      await removeBelow(to, rest);
      await target.removeDirectory(name);
    }
  } finally {
    await Promise.all([from?.close(), to?.close()]);
  }
}

/** Removes a file whose parent directory the user has removed, with its empty directories. */
async function removeBelow(directory: Directory, [name = '', ...rest]: readonly string[]): Promise<void> {
  const stats = await directory.stat(name);
  if (rest.length === 0) {
    if (stats !== undefined && !stats.isDirectory()) await directory.remove(name);
  } else if (stats?.isDirectory()) {
    await closing(await directory.openDirectory(name), (inner) => removeBelow(inner, rest));
    await directory.removeDirectory(name);
  }
}

/** Ignores that a directory does not exist, is not a directory, or is a link, which is not followed. */
function ignoreMissing(error: unknown): undefined {
  if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EEXIST')) throw error;
}
