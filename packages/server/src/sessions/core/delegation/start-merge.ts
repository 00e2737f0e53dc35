import type { JsonObject } from '../../../base/json/json.ts';
import type { Draft } from '../draft.ts';
import type { SessionState, ThreadState } from '../state/state.ts';
import { type Call, textAnswer } from '../state/state.ts';
import { addToolResult } from '../turn/add-tool-result.ts';

/** Starts a call of `merge_changes`, or refuses it. The runtime merges the files, and finishes the call. */
export function startMerge(draft: Draft, thread: ThreadState, call: Call, { thread_id: threadId }: JsonObject): void {
  const problem = findMergeProblem(draft.state, threadId, thread.id);
  if (problem === null) return draft.add(thread, 'tool.started', { tool_use_id: call.id });
  addToolResult(draft, thread, call, textAnswer(`ERR: ${problem}`, true));
}

/** Why the changes of a thread cannot be merged; null if they can. `parentId`: the thread that asks; undefined: a person. */
export function findMergeProblem(state: SessionState, threadId: unknown, parentId?: string): string | null {
  const thread = typeof threadId === 'string' ? state.threads.get(threadId) : undefined;
  if (thread === undefined || (parentId !== undefined && thread.parentId !== parentId)) {
    return `there is no thread ${JSON.stringify(threadId ?? null)} below this one: list_agents shows them`;
  }
  if (thread.isolation === null)
    return `${thread.id} has no worktree of its own: its changes are in the workspace already`;
  if (thread.turn !== null) return `${thread.id} is at work: merge its changes when it has reported`;
  return thread.isolation.tree === null ? `${thread.id} has no worktree: it was discarded, or never made` : null;
}
