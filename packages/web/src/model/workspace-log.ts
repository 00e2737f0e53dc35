import type { FleetEvent, FileCounts } from '@fleetloom/protocol/fleet';
import { limits } from './limits.ts';

/** A recorded change of the workspace, as the fleet stream reports it. */
export interface WorkspaceStep extends FileCounts {
  readonly cursor: string;
  readonly seq: number;
  readonly at: number;
  readonly threadId: string | null;
  /** The turn: `stream_id` is unique within its run only. Null outside of turns. */
  readonly turn: string | null;
  readonly toolUseId: string | null;
}

/** The recorded changes of a session, the oldest first. */
export class WorkspaceLog {
  readonly steps: WorkspaceStep[] = [];
  /** How often the changes were applied or discarded, by any user. */
  decisions = 0;
  #runs = 0;

  take(event: FleetEvent): void {
    if (event.type === 'request_received') this.#runs += 1;
    if (event.type === 'workspace_applied' || event.type === 'workspace_discarded') this.decisions += 1;
    if (event.type !== 'workspace_changed' || event.seq === null || event.ts === null) return;
    const { cursor, seq, ts, thread_id, turn, tool_use_id, files_count, lines_added, lines_removed } = event;
    this.steps.push({
      cursor,
      seq,
      at: ts,
      files_count,
      lines_added,
      lines_removed,
      threadId: thread_id,
      turn: turn === null ? null : `${this.#runs}.${turn}`,
      toolUseId: tool_use_id,
    });
    if (this.steps.length > limits.workspaceStepsMax) this.steps.shift();
  }
}
