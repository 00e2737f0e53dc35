import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { requestError } from '../../base/request-error.ts';

/** The directories below which sessions may work on files of this machine. */
export interface AllowedDirectories {
  /** The real path of a directory below one of the roots. Otherwise throws a request error that names the flag. */
  resolve(path: string): Promise<string>;
  /** Whether a real path is below one of the roots. */
  has(realPath: string): Promise<boolean>;
}

/** Creates the check. Roots are resolved at each use: a link may have changed, and a directory may be created later. */
export function createAllowedDirectories(roots: readonly string[], dataDirectory: string): AllowedDirectories {
  const has = async (path: string): Promise<boolean> => {
    const [data, ...real] = await Promise.all(
      [dataDirectory, ...roots].map((root) => realpath(root).catch(() => null)),
    );
    if (data !== null && data !== undefined && isBelow(path, data)) return false;
    return real.some((root) => root !== null && isBelow(path, root));
  };
  return {
    has,
    resolve: async (path) => {
      if (!isAbsolute(path) || path.includes('\0')) {
        throw requestError('invalid_request', `path: ${path} is not an absolute path`, {
          advice: 'name a directory on the machine of the server from its root on',
        });
      }
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined && (await isMissingBelow(path, has))) {
        throw requestError('invalid_request', `path: ${path} does not exist`, {
          advice: 'name a directory that exists',
        });
      }
      // The same error for a missing path outside of the roots: the caller must not learn whether it exists.
      if (real === undefined || !(await has(real))) throw notAllowed(path, roots);
      const stats = await stat(real).catch(() => undefined);
      if (stats?.isDirectory()) return real;
      throw requestError('invalid_request', `path: ${path} is not a directory`, { advice: 'name a directory' });
    },
  };
}

/** Whether a path is the given directory or below it. */
export function isBelow(path: string, directory: string): boolean {
  const prefix = directory.endsWith(sep) ? directory : `${directory}${sep}`;
  return path === directory || path.startsWith(prefix);
}

/**
 * Whether a path that cannot be resolved is missing in an allowed directory. A link on the way is not followed: its
 * target may be outside of the allowed directories.
 */
async function isMissingBelow(path: string, has: (realPath: string) => Promise<boolean>): Promise<boolean> {
  for (let at = resolve(path); dirname(at) !== at; at = dirname(at)) {
    const stats = await lstat(at).catch(() => undefined);
    if (stats !== undefined) return stats.isDirectory() && (await has(await realpath(at)));
  }
  return false;
}

function notAllowed(path: string, roots: readonly string[]) {
  const those = roots.length === 0 ? 'it allows none' : `it allows ${roots.join(', ')}`;
  return requestError(
    'directory_not_allowed',
    `path: ${path} is not in a directory that this server allows (${those})`,
    {
      advice: `start the server with --allow-directory ${path}, or ask its operator to`,
      details: { path },
    },
  );
}
