import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { ProgramEvent } from '../../engines/program.ts';
import type { Draft } from '../draft.ts';
import { startTurn } from '../start-turn.ts';
import { primaryOf, type SessionState, type ThreadState, threadOf } from '../state.ts';
import { findCall, findThread } from './find-thread.ts';

/** A sub-agent is there: a thread of its own. One that an earlier process of the program had is the same as before. */
export function takeThread(draft: Draft, event: Extract<ProgramEvent, { type: 'thread_opened' }>): void {
  const { key, agentName, prompt, description } = event;
  const { state } = draft;
  const known = findThread(state, key);
  if (known !== undefined) return begin(draft, known, prompt);
  const parent = findThread(state, event.parentKey) ?? primaryOf(state);
  const call = findCall(parent, event.callId);
  const id = draft.nextThreadId();
  const member = memberOf(state, agentName);
  const title = member === null && description !== null ? cutText(description, limits.titleCharsMax) : '';
  draft.event(parent, 'session.thread_created', {
    session_thread_id: id,
    agent_name: agentName,
    ...(title === '' ? {} : { title }),
    member,
    depth: parent.depth + 1,
    joined_by: call?.progress.type === 'joining' ? { tool_use_id: call.id, index: 0 } : null,
    program_key: key,
    ...(event.callId === null ? {} : { program_call: event.callId }),
  });
  begin(draft, threadOf(state, id), prompt ?? description);
}

/** Somebody spoke to a sub-agent that had ended. */
export function takeThreadAgain(draft: Draft, event: Extract<ProgramEvent, { type: 'thread_started' }>): void {
  const thread = findThread(draft.state, event.key);
  if (thread !== undefined) begin(draft, thread, event.prompt);
}

function begin(draft: Draft, thread: ThreadState, prompt: string | null): void {
  if (thread.turn !== null) return;
  const parent = threadOf(draft.state, thread.parentId!);
  const content = [{ type: 'text' as const, text: prompt ?? '' }];
  const parentStreamId = parent.turn?.streamId ?? null;
  startTurn(draft, thread, { parentStreamId, childIndex: null, fresh: [], task: content });
  // Who rests has not written to anybody: the program did it.
  if (parent.turn === null) return;
  draft.event(parent, 'agent.thread_message_sent', {
    to_session_thread_id: thread.id,
    to_agent_name: thread.agentName,
    content,
  });
  draft.event(thread, 'agent.thread_message_received', {
    from_session_thread_id: parent.id,
    from_agent_name: parent.parentId === null ? null : parent.agentName,
    content,
    is_processed: true,
    answers_call: null,
    is_error: false,
  });
}

/** An entry of the roster, or null: a kind of agent that the program brings along. */
function memberOf({ created, agent }: SessionState, agentName: string): number | null {
  const found = created.members.findIndex(({ name }) => name === agentName);
  return found < 0 || created.members[found]!.id === agent.id ? null : found;
}
