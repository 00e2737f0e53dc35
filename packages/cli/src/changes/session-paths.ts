import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { findTop } from '../run/run-workspace.ts';
import type { OpenedChanges } from './open-changes.ts';

/**
 * Converts typed paths to paths of a workspace. As with git, they are relative to the working directory if it is in the
 * repository of the session, and otherwise to the top of its workspace. `.` is the whole workspace.
 */
export async function toSessionPaths(
  io: Pick<Io, 'cwd'>,
  opened: OpenedChanges,
  typed: readonly string[],
): Promise<readonly string[]> {
  if (typed.length === 0) return [];
  const top = await findSessionTop(opened);
  return typed.map((path) => toSessionPath(realpathSync(io.cwd), top, path));
}

/** Converts one path. `top` is the directory of the session; undefined if it is not on this machine. */
export function toSessionPath(cwd: string, top: string | undefined, path: string): string {
  const isInside = top !== undefined && (cwd === top || cwd.startsWith(top.endsWith(sep) ? top : `${top}${sep}`));
  // Outside of the session's directory, `/` stands for the top of the workspace.
  const [root, start] = isInside ? [top, cwd] : [sep, sep];
  const inside = relative(root, resolve(start, path));
  if (inside !== '..' && !inside.startsWith(`..${sep}`)) return inside === '' ? '.' : inside.split(sep).join('/');
  const fix = 'Name files of that directory.';
  throw new UsageError(`${cleanLine(path)} is outside of ${cleanLine(top ?? 'the workspace')}.`, fix);
}

/** The top of the session's directory. A worktree contains the whole repository, even if the session names a directory in it. */
async function findSessionTop({ api, path, run, sessionId }: OpenedChanges): Promise<string | undefined> {
  const kept = run?.details.find(({ id }) => id === sessionId)?.directory ?? run?.directories[0];
  if (kept !== undefined) return kept;
  const { source } = await api.get<WorkspaceChanges>(`${path}/changes`);
  if (source.type !== 'directory') return undefined;
  try {
    return (source.mode === 'worktree' ? findTop(source.path) : undefined) ?? source.path;
  } catch {
    // The directory is not on this machine.
    return undefined;
  }
}
