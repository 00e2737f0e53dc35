import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Whether git uses a name for git directories, also on file systems that ignore the case of letters. */
export function isGitName(name: string): boolean {
  return name.toLowerCase() === '.git';
}

/** Whether a directory with entries of these names is a git directory, for example a bare repository. */
export function areOfGitDirectory(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
}

/** The git directory that a real path is, or is inside of. Undefined if it is outside of git directories. */
export async function findGitDirectoryAround(path: string): Promise<string | undefined> {
  const names = path.split('/');
  const at = names.findIndex(isGitName);
  if (at >= 0) return names.slice(0, at + 1).join('/');
  for (let around = path; dirname(around) !== around; around = dirname(around)) {
    if (await looksLikeGitDirectory(around)) return around;
  }
  return undefined;
}

/** The first of the given paths that is in a git directory below `directory`. Undefined if none is. */
export async function findPathInGit(directory: string, paths: readonly string[]): Promise<string | undefined> {
  const known = new Map<string, boolean>();
  for (const path of paths) {
    const names = path.split('/');
    if (names.some(isGitName)) return path;
    for (let depth = 1; depth < names.length; depth++) {
      const parent = names.slice(0, depth).join('/');
      const isGit = known.get(parent) ?? (await looksLikeGitDirectory(join(directory, parent)));
      known.set(parent, isGit);
      if (isGit) return path;
    }
  }
  return undefined;
}

async function looksLikeGitDirectory(path: string): Promise<boolean> {
  const parts = ['HEAD', 'objects', 'refs', 'commondir'];
  const found = await Promise.all(parts.map((name) => lstat(join(path, name)).catch(() => undefined)));
  return areOfGitDirectory(new Set(parts.filter((_, index) => found[index] !== undefined)));
}
