import type { FileTouch } from '@fleetloom/protocol/fleet';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import type { TreeFrame, WorkspaceFrame } from './history.ts';

type ChangedFrame = Extract<WorkspaceFrame, { type: 'workspace.changed' }>;

/** Finds the recorded changes of each file, oldest first. */
export async function findTouches(
  { diffTrees }: Pick<Snapshots, 'diffTrees'>,
  frames: readonly WorkspaceFrame[],
  range: { readonly from: TreeFrame; readonly to: TreeFrame },
): Promise<ReadonlyMap<string, readonly FileTouch[]>> {
  const touches = new Map<string, FileTouch[]>();
  const isInRange = ({ seq }: WorkspaceFrame) => seq > range.from.seq && seq <= range.to.seq;
  for (const frame of frames) {
    if (frame.type !== 'workspace.changed' || !isInRange(frame)) continue;
    const { files, files_count: count, parent, tree } = frame.payload;
    // A frame names only the first files; comparing the trees finds all of them.
    const all = files.length === count ? files : await diffTrees(frame.sessionId, parent, tree);
    const touch = toTouch(frame);
    for (const { path } of all) {
      await yieldToEventLoop();
      const known = touches.get(path);
      if (known === undefined) touches.set(path, [touch]);
      else known.push(touch);
    }
  }
  return touches;
}

/** The threads that may have made a change. */
export function threadsOf({ session_thread_id: id, candidates }: FileTouch): readonly string[] {
  const ids = candidates.map((candidate) => candidate.session_thread_id);
  return [...new Set(ids.length > 0 ? ids : id === null ? [] : [id])];
}

function toTouch({ seq, time, threadId, turn, payload }: ChangedFrame): FileTouch {
  return {
    cursor: String(seq),
    time: new Date(time).toISOString(),
    session_thread_id: threadId,
    stream_id: turn?.streamId ?? null,
    tool_use_id: payload.tool_use_id,
    cause: payload.cause,
    candidates: payload.candidates ?? [],
  };
}
