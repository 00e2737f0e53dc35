import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { limits } from '../base/limits.ts';

/**
 * The git directory of the repository that a linked worktree or a submodule belongs to. Undefined for other directories, and
 * if that repository does not name the directory: a downloaded `.git` file could name any repository of this machine.
 */
export function findCommonDirectory(top: string): string | undefined {
  try {
    const own = join(top, '.git');
    const named = /^gitdir: ([^\n\0]+)\n*$/.exec(readSmallFile(own))?.[1];
    if (named === undefined) return undefined;
    const gitDirectory = realpathSync(resolve(top, named));
    if (!existsSync(join(gitDirectory, 'gitdir'))) return isSubmodule(gitDirectory, top) ? gitDirectory : undefined;
    const back = resolve(gitDirectory, readSmallFile(join(gitDirectory, 'gitdir')).trim());
    if (realpathSync(back) !== realpathSync(own)) return undefined;
    return realpathSync(resolve(gitDirectory, readSmallFile(join(gitDirectory, 'commondir')).trim()));
  } catch {
    // One of the files does not exist or cannot be read: neither a linked worktree nor a submodule.
    return undefined;
  }
}

/** The repository of a submodule names its working tree in its configuration. */
function isSubmodule(gitDirectory: string, top: string): boolean {
  const config = join(gitDirectory, 'config');
  const [, worktree] = /^\s*worktree = (.+)$/m.exec(readSmallFile(config)) ?? [];
  return worktree !== undefined && realpathSync(resolve(gitDirectory, worktree)) === realpathSync(top);
}

function readSmallFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > limits.gitFileBytesMax) throw new Error(`${path} is not a small file`);
  return readFileSync(path, 'utf8');
}
