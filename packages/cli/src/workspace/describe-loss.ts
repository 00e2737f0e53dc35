import type { ChangesDiscarded, ThreadWorktree } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Io } from '../base/io.ts';
import { toStderrIo } from '../base/stderr-io.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { drawStat } from './draw-stat.ts';

/** Lists what is lost with a workspace: its directory, branch and changes, worktrees of threads, and files that no snapshot contains. */
export function describeLoss(io: Io, lost: ChangesDiscarded): string {
  const { directory, branch, not_recorded: gone, not_recorded_count: count, worktrees = [] } = lost;
  const drawing = { paint: detectLook(toStderrIo(io)).paint, width: drawingWidth(toStderrIo(io)) };
  const names = gone.slice(0, 5).map(({ path }) => cleanLine(path));
  return [
    `This removes ${cleanLine(directory ?? '')}`,
    ...(branch === null ? [] : [`and the branch ${cleanLine(branch)}, with these changes:`]),
    ...drawStat(lost, drawing),
    ...worktrees.map(describeWorktree),
    ...(count === 0
      ? []
      : [`No snapshot has ${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''}.`]),
    '',
  ].join('\n');
}

/** Changes of a thread that were not merged. */
function describeWorktree({
  session_thread_id: thread,
  agent_name: agent,
  files_count: count,
}: ThreadWorktree): string {
  const files = `${count} changed ${count === 1 ? 'file' : 'files'}`;
  return `and the worktree of ${cleanLine(agent ?? 'a thread')} (${cleanLine(thread)}) with ${files} that were not merged.`;
}
