import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isCode } from '../tools/workspace/directory.ts';

/**
 * The path of a file from its workspace on, as rules compare it; null if the path could mean a file elsewhere. No part of it may
 * be a symbolic link, so that the name in the rule is the name of the file.
 */
export async function resolveInside(
  directory: string,
  path: string,
  { names = [], isAbsoluteOnly = false }: PathMeaning = {},
): Promise<string | null> {
  if (isAbsoluteOnly && !isAbsolute(path)) return null;
  const root = await realpath(directory);
  const inside = toPlainPath(path, [directory, root, ...names]);
  if (inside === null) return null;
  let at = root;
  for (const name of inside === '' ? [] : inside.split('/')) {
    at = `${at}/${name}`;
    const stats = await lstat(at).catch((error: unknown) => {
      if (isCode(error, 'ENOENT')) return undefined;
      if (isCode(error, 'ENOTDIR', 'EACCES', 'ENAMETOOLONG', 'ELOOP')) return null;
      throw error;
    });
    if (stats === null) return null;
    // A path that does not exist cannot be a link to another place.
    if (stats === undefined) return inside;
    if (stats.isSymbolicLink() || (stats.isFile() && stats.nlink > 1)) return null;
  }
  return inside;
}

/** How the tool reads paths. */
export interface PathMeaning {
  /** Further absolute paths that mean the workspace. */
  readonly names?: readonly string[];
  /** A program may have changed its directory, so that a relative path may mean any file. */
  readonly isAbsoluteOnly?: boolean;
}

/**
 * A path without anything that one program could read in another way than the next: only printable ASCII, no `..`, no
 * backslashes, no empty names. An absolute path has to begin with one of `roots`. Null if it has something of that.
 */
export function toPlainPath(path: string, roots: readonly string[]): string | null {
  if (path === '' || !/^[!-[\]-~][ -[\]-~]*$/.test(path)) return null;
  const root = roots.find((each) => path === each || path.startsWith(`${each}/`));
  if (isAbsolute(path) && root === undefined) return null;
  const names = (root === undefined ? path : path.slice(root.length + 1)).split('/').filter((name) => name !== '.');
  const isOdd = (name: string) => name === '' || name === '..' || name.startsWith('~') || /[. ]$/.test(name);
  if (names.length === 1 && names[0] === '') return '';
  return names.some(isOdd) ? null : names.join('/');
}
