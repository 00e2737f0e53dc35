import { lstat, open, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { requestError } from '../../base/request-error.ts';
import { isCode } from '../../tools/workspace/directory.ts';
import { workspaceLimits } from '../limits.ts';
import type { AllowedDirectories } from './allowed-directories.ts';

/** The paths of the parts of a git repository: real paths below allowed directories. */
export interface RepositoryPlace {
  readonly top: string;
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  readonly objects: readonly string[];
}

/**
 * The repository that a directory is in, found without git: git would read the configuration of whatever a `.git` file
 * names. Undefined if there is none below the allowed directories. Throws a request error if a part of it is elsewhere.
 */
export async function findRepository(
  directory: string,
  allowed: Pick<AllowedDirectories, 'has'>,
): Promise<RepositoryPlace | undefined> {
  for (let top = directory; await allowed.has(top); top = dirname(top)) {
    const found = await readGitDirectory(top);
    if (found !== undefined) return await describe(top, found, allowed);
    if (dirname(top) === top) break;
  }
  return undefined;
}

/** The path of the git directory: `.git` itself, or the path in a `.git` file. */
async function readGitDirectory(top: string): Promise<string | undefined> {
  const path = join(top, '.git');
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (stats.isDirectory() || stats.isSymbolicLink()) return path;
  if (!stats.isFile()) return undefined;
  const named = /^gitdir: ([^\n\0]+)\n*$/.exec((await readLines(path)) ?? '')?.[1];
  return named === undefined ? undefined : resolve(top, named);
}

async function describe(
  top: string,
  found: string,
  allowed: Pick<AllowedDirectories, 'has'>,
): Promise<RepositoryPlace> {
  const check = (path: string) => toAllowed(path, top, allowed);
  const gitDirectory = await check(found);
  const named = (await readLines(join(gitDirectory, 'commondir')))?.trim();
  const commonDirectory = named === undefined ? gitDirectory : await check(resolve(gitDirectory, named));
  // Git follows links in a git directory, so each of its parts could belong to another repository.
  const parts = [
    ...['HEAD', 'index', 'config.worktree'].map((name) => join(gitDirectory, name)),
    ...PARTS.map((name) => join(commonDirectory, name)),
  ];
  for (const path of parts) if (await exists(path)) await check(path);
  const objects = await findObjects(join(commonDirectory, 'objects'), check);
  return { top, gitDirectory, commonDirectory, objects };
}

const PARTS = [
  'config',
  'objects',
  'objects/pack',
  'objects/info',
  'refs',
  'packed-refs',
  'info',
  'shallow',
  'worktrees',
  'logs',
  'hooks',
];

/** The object directory and all alternates, including alternates of alternates. */
async function findObjects(first: string, check: (path: string) => Promise<string>): Promise<readonly string[]> {
  const found: string[] = [];
  const open = [await check(first)];
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    if (found.includes(path)) continue;
    found.push(path);
    if (found.length > workspaceLimits.alternatesMax) throw unusable(first, 'has too many alternates');
    const lines = (await readLines(join(path, 'info', 'alternates'))) ?? '';
    for (const line of lines.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      // Git also accepts quoted paths, which are not supported here.
      if (line.startsWith('"')) throw unusable(first, 'has an alternate with a quoted path');
      open.push(await check(isAbsolute(line) ? line : resolve(path, line)));
    }
  }
  return found;
}

async function toAllowed(path: string, top: string, allowed: Pick<AllowedDirectories, 'has'>): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw unusable(top, `refers to ${path}, which does not exist`);
  if (await allowed.has(real)) return real;
  throw requestError(
    'directory_not_allowed',
    `path: the repository ${top} refers to ${path}, which this server does not allow`,
    {
      advice: `start the server with --allow-directory ${real} too, or use mode copy`,
      details: { path: real },
    },
  );
}

function unusable(path: string, problem: string) {
  return requestError('invalid_request', `path: the repository cannot be used: ${path} ${problem}`, {
    advice: 'repair it, or use mode copy',
  });
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Reads a small file of a git directory. Undefined if it does not exist. Throws for a link, because git would follow it. */
async function readLines(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (isCode(error, 'ELOOP')) throw unusable(path, 'is a symbolic link');
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > workspaceLimits.gitFileBytesMax) throw unusable(path, 'is not a small file');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
