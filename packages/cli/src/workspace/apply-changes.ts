import type { ChangesApplied } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Io } from '../base/io.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { drawStat } from './draw-stat.ts';

/** Which changes to apply, and to what. */
export interface ApplyRequest {
  branch?: string;
  message?: string;
  dryRun?: boolean;
  at?: string;
}

/** Applies the changes of a session, all of them or only at some paths. */
export async function applyChanges(
  { api, path }: { readonly api: ServerApi; readonly path: string },
  paths: readonly string[],
  { branch, message, dryRun, at }: ApplyRequest,
): Promise<ChangesApplied> {
  return await api.post<ChangesApplied>(`${path}/changes/apply`, {
    onto: branch === undefined ? 'working_tree' : 'branch',
    ...(branch === undefined ? {} : { branch }),
    // `.` is the whole workspace.
    ...(paths.length === 0 || paths.includes('.') ? {} : { paths }),
    ...(message === undefined ? {} : { message }),
    ...(at === undefined ? {} : { at }),
    ...(dryRun === true ? { dry_run: true } : {}),
  });
}

/** A text about the applied changes. */
export function describeApplied(io: Pick<Io, 'stdout' | 'env' | 'platform'>, applied: ChangesApplied): string {
  const { directory, branch, commit, dry_run: isDryRun, files_count: count } = applied;
  const target = branch === null ? cleanLine(directory) : `the branch ${cleanLine(branch)}`;
  if (count === 0) return `Nothing to do: ${target} has these changes already.\n`;
  const stat = drawStat(applied, { paint: detectLook(io).paint, width: drawingWidth(io) });
  const done = commit === null ? `Applied to ${target}.` : `Committed to ${target} as ${commit.slice(0, 12)}.`;
  return `${stat.join('\n')}\n${isDryRun ? `Would be applied to ${target}. Nothing was written.` : done}\n`;
}
