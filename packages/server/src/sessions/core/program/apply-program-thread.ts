import { cutText } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../limits.ts';
import type { ProgramEvent } from '../../../engines/program/program.ts';
import type { Draft } from '../draft.ts';
import { startTurn } from '../turn/start-turn.ts';
import { agentOf } from '../state/agent-of.ts';
import { isForeign } from '../state/program-threads.ts';
import { type SessionState, type ThreadState, threadOf } from '../state/state.ts';
import type { InputBlock } from '../../../base/content.ts';
import { findCall, findThread } from './find-thread.ts';

/** Creates the thread of a sub-agent. A sub-agent of an earlier process of the program keeps its thread. */
export function applyThreadOpened(
  draft: Draft,
  root: ThreadState,
  event: Extract<ProgramEvent, { type: 'thread_opened' }>,
): void {
  const { key, agentName, prompt, description } = event;
  const { state } = draft;
  const known = findThread(state, root, key);
  if (known !== undefined) return begin(draft, known, prompt);
  const parent = findThread(state, root, event.parentKey) ?? root;
  const call = findCall(parent, event.callId);
  const id = draft.nextThreadId();
  const member = memberOf(state, root, agentName);
  const title = member === null && description !== null ? cutText(description, sessionLimits.titleCharsMax) : '';
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
  const thread = threadOf(state, id);
  begin(draft, thread, prompt ?? description);
  // The parent gave the prompt, and its turn may be over by now.
  if (parent.turn === null && prompt !== null) receiveMessage(draft, thread, [{ type: 'text', text: prompt }]);
}

/** Continues a sub-agent that had ended. */
export function applyThreadStarted(
  draft: Draft,
  root: ThreadState,
  event: Extract<ProgramEvent, { type: 'thread_started' }>,
): void {
  const thread = findThread(draft.state, root, event.key);
  if (thread !== undefined) begin(draft, thread, event.prompt);
}

function begin(draft: Draft, thread: ThreadState, prompt: string | null): void {
  if (thread.turn !== null) return;
  const parent = threadOf(draft.state, thread.parentId!);
  const content = [{ type: 'text' as const, text: prompt ?? '' }];
  const parentStreamId = parent.turn?.streamId ?? null;
  startTurn(draft, thread, { parentStreamId, childIndex: null, fresh: [], task: content });
  // A further run below an idle parent was begun by the program.
  if (parent.turn !== null) receiveMessage(draft, thread, content);
}

/** Logs a message of the parent. One that the program delivers when the turn that sent it is over is only in the log of the receiver. */
export function receiveMessage(draft: Draft, thread: ThreadState, content: readonly InputBlock[]): void {
  const parent = threadOf(draft.state, thread.parentId!);
  if (parent.turn !== null) {
    draft.event(parent, 'agent.thread_message_sent', {
      to_session_thread_id: thread.id,
      to_agent_name: thread.agentName,
      content,
    });
  }
  draft.event(thread, 'agent.thread_message_received', {
    from_session_thread_id: parent.id,
    from_agent_name: parent.parentId === null ? null : parent.agentName,
    content,
    is_processed: true,
    answers_call: null,
    is_error: false,
  });
}

/** The index in the roster; null: a kind of agent of the program itself. */
function memberOf(state: SessionState, root: ThreadState, agentName: string): number | null {
  const { members } = state.created;
  const found = members.findIndex(({ name }) => name === agentName);
  const isOwn = found >= 0 && members[found]!.id !== agentOf(state, root).id && !isForeign(state, root, found);
  return isOwn ? found : null;
}
