import type { Stats } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { toInside } from './session-paths.ts';
import { ToolFailure } from '../tool-failure.ts';
import { closing, Directory } from './directory.ts';

/** The location of a file that may not exist: its open directory, and its name in that directory. */
export interface ResolvedPath {
  readonly directory: Directory;
  /** The name in the directory; `.` for the workspace itself. */
  readonly name: string;
  /** The stats of the file, if it exists. Never of a symbolic link. */
  readonly stats: Stats | undefined;
  /** The path in the workspace, without links. */
  readonly path: string;
}

/** How many links are followed, and whether directories are created. */
export interface ResolvePathOptions {
  /** Whether missing directories are created. */
  readonly makesParents?: boolean;
  readonly linksMax: number;
  /** Whether directories are held open during the resolution. Only tests set this to false. */
  readonly isHeld?: boolean;
}

/**
 * Finds a file in the workspace and passes its open directory to `work`. Symbolic links are followed here, step
 * by step, so that a link that leads out is rejected whenever it was created. System errors get messages for the model.
 */
export async function withResolvedPath<Result>(
  workspace: string,
  path: string,
  options: ResolvePathOptions,
  work: (resolved: ResolvedPath) => Promise<Result>,
): Promise<Result> {
  try {
    const resolved = await resolvePath(workspace, path, options);
    return await closing(resolved.directory, async () => await work(resolved));
  } catch (error) {
    throw toFailure(error, path);
  }
}

async function resolvePath(workspace: string, path: string, options: ResolvePathOptions): Promise<ResolvedPath> {
  let parts = toParts(workspace, path, path);
  for (let links = 0; links <= options.linksMax; links++) {
    const step = await walk(workspace, parts, options);
    if (step.type === 'resolved') return step.resolved;
    parts = toParts(workspace, step.target, path);
  }
  throw new ToolFailure(`${path} leads through more than ${options.linksMax} symbolic links`);
}

/** Walks down a path to its end, or to the first link. */
async function walk(
  workspace: string,
  parts: readonly string[],
  { makesParents = false, isHeld }: ResolvePathOptions,
): Promise<{ type: 'resolved'; resolved: ResolvedPath } | { type: 'link'; target: string }> {
  let directory = await Directory.openRoot(workspace, isHeld);
  try {
    for (const [at, name] of parts.entries()) {
      const stats = await directory.stat(name);
      if (stats?.isSymbolicLink()) {
        const from = resolve(workspace, ...parts.slice(0, at));
        const target = resolve(from, await directory.readLink(name), ...parts.slice(at + 1));
        await directory.close();
        return { type: 'link', target };
      }
      const path = directory.pathOf(name);
      if (at === parts.length - 1) return { type: 'resolved', resolved: { directory, name, stats, path } };
      if (stats === undefined && makesParents) await directory.makeDirectory(name);
      const next = await directory.openDirectory(name);
      await directory.close();
      directory = next;
    }
    return { type: 'resolved', resolved: { directory, name: '.', stats: await directory.stat('.'), path: '' } };
  } catch (error) {
    await directory.close();
    throw error;
  }
}

function toParts(workspace: string, path: string, asked: string): string[] {
  if (path.includes('\0')) throw new ToolFailure('a path cannot have a NUL in it');
  const inside = relative(workspace, toReal(workspace, path));
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new ToolFailure(`${asked} is outside of the workspace ${workspace}: use a path inside it`);
  }
  return inside === '' ? [] : inside.split(sep);
}

/** Converts the paths that agents use in every session, such as `/workspace`, to real paths. Real paths in the workspace take precedence. */
function toReal(workspace: string, path: string): string {
  const real = resolve(workspace, path);
  if (real === workspace || real.startsWith(`${workspace}${sep}`)) return real;
  const inside = isAbsolute(path) ? toInside(path) : undefined;
  return inside === undefined ? real : resolve(workspace, inside);
}

function toFailure(error: unknown, path: string): unknown {
  if (error instanceof ToolFailure || !(error instanceof Error) || !('code' in error)) return error;
  const words = WORDS[String(error.code)];
  return words === undefined ? error : new ToolFailure(`${path}: ${words}`, { cause: error });
}

/** Messages for system errors, whose own messages contain internal paths. */
const WORDS: { readonly [code: string]: string | undefined } = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ELOOP: 'became a symbolic link in the meantime: try again',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'no space is left on the disk',
  EFBIG: 'the file would be too large',
  ENXIO: 'is not a regular file',
  EINVAL: 'is not a name that files can have',
  EMFILE: 'too many files are open: try again later',
  ENFILE: 'too many files are open: try again later',
};
