import { canonicalSha256 } from '../base/canonical-sha256.ts';
import { toRefusal } from './advance.ts';
import type { ClientEvent, ClientInput } from './client-event.ts';
import type { Draft } from './draft.ts';
import { giveResult } from './give-result.ts';
import { interrupt, isStoppable } from './interrupt.ts';
import { settle } from './settle.ts';
import {
  type Call,
  childrenOf,
  isProgram,
  type SessionState,
  type ThreadState,
  threadOf,
  type Waiting,
} from './state.ts';

/** Everything that clients have sent, in the order in which it came. */
export function takeInputs(draft: Draft, inputs: readonly ClientInput[]): void {
  let fresh: Waiting[] = [];
  for (const { id, event } of inputs) {
    if (event.type === 'user.message' && isForChild(draft.state, event)) steer(draft, id, event);
    else if (event.type === 'user.message') fresh.push({ type: 'user.message', id, content: event.content });
    else if (event.type === 'system.message') fresh.push({ type: 'system.message', id, content: event.content });
    else if (event.type === 'user.interrupt') {
      // What was said before it has begun by then.
      settle(draft, fresh);
      fresh = [];
      takeInterrupt(draft, id, event);
    } else takeAnswer(draft, id, event);
  }
  settle(draft, fresh);
}

type MessageEvent = Extract<ClientEvent, { type: 'user.message' }>;

function isForChild(state: SessionState, { thread_id: threadId }: MessageEvent): boolean {
  return threadId !== undefined && threadId !== state.created.primary_thread_id;
}

/** Into its inbox: one that rests begins with it, one at work reads it before it asks its model the next time. */
function steer(draft: Draft, id: string, { thread_id: threadId, content }: MessageEvent): void {
  const thread = threadOf(draft.state, threadId!);
  // It has ended since somebody wrote to it, and cannot read any more.
  if (thread.status !== 'terminated') draft.add(thread, 'user.message', { id, content, is_processed: false });
}

type InterruptEvent = Extract<ClientEvent, { type: 'user.interrupt' }>;

/** One that finds nothing to stop leaves no trace: clients take a log for at rest if its last event says so. */
function takeInterrupt(draft: Draft, id: string, event: InterruptEvent): void {
  const { session_thread_id: threadId } = event;
  const threads = targetsOf(draft.state, event);
  if (!threads.some(isStoppable)) return;
  draft.add(threadId === null ? null : threads[0]!, 'user.interrupt', { id, session_thread_id: threadId });
  interrupt(draft, threads, 'cancel');
}

/** The thread that was named comes first. */
function targetsOf(state: SessionState, event: InterruptEvent): ThreadState[] {
  const { session_thread_id: threadId, is_subtree: isSubtree = false } = event;
  if (threadId === null) return [...state.threads.values()];
  const target = threadOf(state, threadId);
  return isSubtree ? subtreeOf(state, target) : [target];
}

function subtreeOf(state: SessionState, thread: ThreadState): ThreadState[] {
  return [thread, ...childrenOf(state, thread.id).flatMap((child) => subtreeOf(state, child))];
}

type AnswerEvent = Extract<
  ClientEvent,
  { type: 'user.tool_confirmation' | 'user.custom_tool_result' | 'user.tool_result' }
>;

/** An answer to a call that no longer waits comes too late: it was interrupted in the meantime. */
function takeAnswer(draft: Draft, id: string, event: AnswerEvent): void {
  const toolUseId = event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id;
  const found = findCall(draft.state, toolUseId);
  const awaited = event.type === 'user.tool_confirmation' ? 'asking' : 'outside';
  if (found === undefined || !['proposed', awaited].includes(found.call.progress.type)) return;
  const { thread, call } = found;
  if (event.type === 'user.tool_confirmation') {
    const { result, deny_message, rule = null, interrupt: isInterrupting = false } = event;
    draft.add(thread, event.type, {
      id,
      tool_use_id: toolUseId,
      result,
      deny_message,
      ...senderOf(event),
      rule,
      input_sha256: canonicalSha256(call.input),
      ...toUpdatedInput(event),
      ...(isInterrupting ? { interrupt: true } : {}),
    });
    if (isInterrupting && !isProgram(draft.state)) endRefusedTurn(draft, thread, call, deny_message);
  } else if (event.type === 'user.custom_tool_result') {
    const { content, is_error } = event;
    const decided = { ...senderOf(event), input_sha256: canonicalSha256(call.input) };
    draft.add(thread, event.type, { id, custom_tool_use_id: toolUseId, content, is_error, ...decided });
  } else {
    const { content, is_error } = event;
    draft.add(thread, event.type, { id, tool_use_id: toolUseId, content, is_error });
  }
}

type Confirmation = Extract<ClientEvent, { type: 'user.tool_confirmation' }>;

function toUpdatedInput({ updated_input }: Confirmation) {
  return updated_input === undefined ? {} : { updated_input, updated_input_sha256: canonicalSha256(updated_input) };
}

/** The result is that of any refused call, so that the model reads the reason when the conversation goes on. */
function endRefusedTurn(draft: Draft, thread: ThreadState, call: Call, message: string | null): void {
  giveResult(draft, thread, call, toRefusal(call, message));
  interrupt(draft, [thread], 'cancel');
}

function senderOf({ by }: { readonly by?: string }): { readonly by?: string } {
  return by === undefined ? {} : { by };
}

/** Ids of events are unique in a session, so the id alone says which thread it belongs to. */
function findCall(state: SessionState, id: string): { thread: ThreadState; call: Call } | undefined {
  for (const thread of state.threads.values()) {
    const call = thread.calls.get(id);
    if (call !== undefined) return { thread, call };
  }
  return undefined;
}
