import type { Draft } from './draft.ts';
import { startTurn } from './start-turn.ts';
import type { SessionState, ThreadState } from './state.ts';

export interface Spawning {
  readonly member: number;
  readonly message: string;
  /** The call of `delegate` that waits for it, and which of its tasks it is. */
  readonly join: { readonly tool_use_id: string; readonly index: number } | null;
}

/** Opens a thread of its own for a member, and gives it its task. */
export function spawn(draft: Draft, parent: ThreadState, { member, message, join }: Spawning): ThreadState {
  const { state } = draft;
  const id = draft.nextThreadId();
  draft.event(parent, 'session.thread_created', {
    session_thread_id: id,
    agent_name: state.created.members[member]!.name,
    member: isSelf(state, member) ? null : member,
    depth: parent.depth + 1,
    joined_by: join,
  });
  const child = state.threads.get(id)!;
  speakTo(draft, parent, child, message, join?.index ?? null);
  return child;
}

/** One that rests begins at once, one at work reads it when its turn has ended. */
export function speakTo(
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

/** A copy of the session's own agent works by what the session's agent is now, overrides and updates included. */
function isSelf(state: SessionState, member: number): boolean {
  const { id, version } = state.created.members[member]!;
  // An older version of the same agent is a member like any other.
  return id === state.agent.id && version === state.agent.version;
}
