import type { WorkspaceStep, WorkspaceSteps } from '@fleetloom/protocol/fleet';
import type { Store } from '../../store/store.ts';
import type { WorkspaceFrame, WorkspaceHistory } from './history.ts';
import { changesLimits } from './limits.ts';
import { readAgentName } from './list-changes.ts';

/** The filters and the page of a list of steps. */
export interface StepsRequest {
  /** Only changes that this thread made, or may have made. */
  readonly threadId?: string | undefined;
  /** Only steps after this position. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/** Lists the recorded steps of a workspace: its opening, each change, and what users did with the changes. */
export async function listSteps(
  store: Pick<Store, 'threads'>,
  { sessionId, frames, tools }: WorkspaceHistory & { readonly sessionId: string },
  { threadId, after = 0, limit }: StepsRequest,
): Promise<WorkspaceSteps> {
  const all = frames
    .filter(({ seq }) => seq > after)
    .flatMap((frame) => toStep(frame, tools))
    .filter((step) => threadId === undefined || isBy(step, threadId));
  const page = all.slice(0, limit);
  const names = new Map<string, string | null>();
  for (const { session_thread_id: id } of page) {
    if (id !== null && !names.has(id)) names.set(id, await readAgentName(store, sessionId, id));
  }
  const steps = page.map((step) => ({ ...step, agent_name: names.get(step.session_thread_id ?? '') ?? null }));
  const next = all.length > page.length ? page.at(-1)!.cursor : null;
  return { type: 'workspace_steps', session_id: sessionId, steps, next_after: next };
}

function isBy({ session_thread_id: id, calls }: WorkspaceStep, threadId: string): boolean {
  return calls.length === 0 ? id === threadId : calls.some((call) => call.session_thread_id === threadId);
}

function toStep(frame: WorkspaceFrame, tools: ReadonlyMap<string, string>): WorkspaceStep[] {
  const base = {
    cursor: String(frame.seq),
    time: new Date(frame.time).toISOString(),
    session_thread_id: frame.threadId,
    agent_name: null,
    cause: null,
    calls: [],
    by: null,
    files: [],
    files_count: 0,
    lines_added: 0,
    lines_removed: 0,
  };
  switch (frame.type) {
    case 'workspace.opened':
      return [{ ...base, type: 'opened' }];
    case 'workspace.changed': {
      const { cause, by = null, files, files_count, lines_added, lines_removed } = frame.payload;
      const shown = files.slice(0, changesLimits.stepFilesMax);
      const counts = { files_count, lines_added, lines_removed };
      return [{ ...base, type: 'changed', cause, calls: toCalls(frame, tools), by, files: shown, ...counts }];
    }
    case 'workspace.applied':
      return [{ ...base, type: 'applied', by: frame.payload.by, files_count: frame.payload.paths_count }];
    case 'workspace.discarded':
      return [{ ...base, type: 'discarded', by: frame.payload.by }];
    default:
      // The output of a setup command changes no file on its own.
      return [];
  }
}

function toCalls(
  { threadId, payload }: Extract<WorkspaceFrame, { type: 'workspace.changed' }>,
  tools: ReadonlyMap<string, string>,
): WorkspaceStep['calls'] {
  const { tool_use_id: id, candidates = [] } = payload;
  const calls = id === null || threadId === null ? candidates : [{ session_thread_id: threadId, tool_use_id: id }];
  return calls.map((call) => ({ ...call, tool: tools.get(call.tool_use_id) ?? null }));
}
