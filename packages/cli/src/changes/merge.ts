import type { ChangesMerged } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { drawStat } from '../workspace/draw-stat.ts';
import { printConflicts } from '../workspace/list-conflicts.ts';
import { type ChangesOptions, withChanges } from './open-changes.ts';

/** Options of `merge`. */
export interface MergeOptions extends ChangesOptions {
  dryRun?: boolean;
}

/** `fleetloom merge`: merges the changes of a thread with its own worktree into the workspace of its session. */
export async function merge(io: Io, session: string, thread: string, options: MergeOptions): Promise<number> {
  return await withChanges(io, session, options, async ({ api, path }) => {
    const { dryRun, json } = options;
    const body = { thread_id: thread, ...(dryRun === true ? { dry_run: true } : {}) };
    const merged = await api.post<ChangesMerged>(`${path}/changes/merge`, body).catch(async (error: unknown) => {
      if (json !== true) await printConflicts(io, error);
      throw error;
    });
    await writeText(io.stdout, json === true ? `${toJsonText(io.stdout, merged)}\n` : toText(io, merged));
    return exitCode.ok;
  });
}

function toText(io: Io, merged: ChangesMerged): string {
  const { session_thread_id: thread, dry_run: isDryRun, files_count: count } = merged;
  const name = cleanLine(thread);
  if (count === 0) return `Nothing to do: the workspace has the changes of ${name} already.\n`;
  const stat = drawStat(merged, { paint: detectLook(io).paint, width: drawingWidth(io) });
  const end = isDryRun ? `Would be merged from ${name}. Nothing was written.` : `Merged from ${name}.`;
  return `${stat.join('\n')}\n${end}\n`;
}
