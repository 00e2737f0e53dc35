import type { Draft } from '../draft.ts';
import { startTurn } from '../turn/start-turn.ts';
import type { SessionState, ThreadState } from '../state/state.ts';

/** A child thread to be created. */
export interface Spawning {
  readonly member: number;
  readonly message: string;
  /** Whether it gets a worktree of its own. */
  readonly isIsolated: boolean;
  /** The `delegate` call that waits for the child, and the index of the task. */
  readonly join: { readonly tool_use_id: string; readonly index: number } | null;
}

/** Creates a child thread for an agent of the roster and sends it the task. */
export function spawn(draft: Draft, parent: ThreadState, { member, message, isIsolated, join }: Spawning): ThreadState {
  const { state } = draft;
  const id = draft.nextThreadId();
  draft.event(parent, 'session.thread_created', {
    session_thread_id: id,
    agent_name: state.created.members[member]!.name,
    member: isSelf(state, member) ? null : member,
    depth: parent.depth + 1,
    joined_by: join,
    ...(isIsolated ? { isolation: 'worktree' as const } : {}),
  });
  const child = state.threads.get(id)!;
  sendToThread(draft, parent, child, message, join?.index ?? null);
  return child;
}

/** Sends a message to a child. An idle thread begins a turn at once, a running one reads it after its turn. */
export function sendToThread(
  draft: Draft,
  from: ThreadState,
  to: ThreadState,
  text: string,
  childIndex: number | null,
): void {
  const content = [{ type: 'text' as const, text }];
  const isBusy = to.turn !== null;
  if (!isBusy) startTurn(draft, to, { parentStreamId: from.turn!.streamId, childIndex, fresh: [], task: content });
  draft.event(from, 'agent.thread_message_sent', {
    to_session_thread_id: to.id,
    to_agent_name: to.agentName,
    content,
  });
  draft.event(to, 'agent.thread_message_received', {
    from_session_thread_id: from.id,
    from_agent_name: from.parentId === null ? null : from.agentName,
    content,
    is_processed: !isBusy,
    answers_call: null,
    is_error: false,
  });
}

/** A copy of the session's agent follows its overrides and updates. */
function isSelf(state: SessionState, member: number): boolean {
  const { id, version } = state.created.members[member]!;
  // An older version of the same agent is a roster entry like any other.
  return id === state.agent.id && version === state.agent.version;
}
