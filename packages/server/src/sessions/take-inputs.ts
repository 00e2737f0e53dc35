import { canonicalSha256 } from '../base/canonical-sha256.ts';
import { toRefusal } from './advance.ts';
import type { NotApplied } from '../frames/frames.ts';
import type { ClientEvent, ClientInput } from './client-event.ts';
import type { Draft } from './draft.ts';
import { giveResult } from './give-result.ts';
import { interrupt, isStoppable } from './interrupt.ts';
import { settle } from './settle.ts';
import { showIdleAgain } from './show-statuses.ts';
import {
  type Call,
  childrenOf,
  isProgram,
  primaryOf,
  type SessionState,
  type ThreadState,
  threadOf,
  type Waiting,
} from './state.ts';

/** Everything that clients have sent, in the order in which it came. */
export function takeInputs(draft: Draft, inputs: readonly ClientInput[]): void {
  let fresh: Waiting[] = [];
  for (const input of inputs) {
    const { id, event } = input;
    if (event.type === 'user.message' && isForChild(draft.state, event)) steer(draft, id, event);
    else if (event.type === 'user.message') fresh.push({ type: 'user.message', id, content: event.content });
    else if (event.type === 'system.message') fresh.push({ type: 'system.message', id, content: event.content });
    else if (event.type === 'user.interrupt') {
      // What was said before it has begun by then.
      settle(draft, fresh);
      fresh = [];
      takeInterrupt(draft, id, event);
    } else takeAnswer(draft, { ...input, event });
  }
  settle(draft, fresh);
  const late = draft.frames.findLastIndex(({ payload }) => 'not_applied' in payload);
  const status = draft.frames.findLastIndex(({ type }) => type.startsWith('session.status_'));
  if (late > status) showIdleAgain(draft);
}

/** The session has ended. Answers that the server had accepted by then are logged all the same; nothing else is. */
export function takeInputsAfterEnd(draft: Draft, inputs: readonly ClientInput[]): void {
  for (const input of inputs) {
    const { event } = input;
    if (isAnswer(event)) logAnswer(draft, { ...input, event }, { not_applied: 'session_ended' });
  }
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

interface AnswerInput extends ClientInput {
  readonly event: AnswerEvent;
}

function isAnswer(event: ClientEvent): event is AnswerEvent {
  const { type } = event;
  return type === 'user.tool_confirmation' || type === 'user.custom_tool_result' || type === 'user.tool_result';
}

/**
 * The sender of an answer was told that it was accepted, so it is always logged. If the call no longer waits, because it was
 * interrupted or its program ended in the meantime, the answer says so and changes nothing.
 */
function takeAnswer(draft: Draft, input: AnswerInput): void {
  const { event } = input;
  const call = findCall(draft.state, toolUseIdOf(event))?.call;
  const awaited = event.type === 'user.tool_confirmation' ? 'asking' : 'outside';
  const isAwaited = call !== undefined && ['proposed', awaited].includes(call.progress.type);
  logAnswer(draft, input, isAwaited ? {} : { not_applied: 'call_ended' });
}

function logAnswer(draft: Draft, { id, event, threadId }: AnswerInput, outcome: { not_applied?: NotApplied }): void {
  const found = findCall(draft.state, toolUseIdOf(event));
  const thread = found?.thread ?? draft.state.threads.get(threadId ?? '') ?? primaryOf(draft.state);
  const decided = {
    ...(event.type !== 'user.tool_result' && event.by !== undefined ? { by: event.by } : {}),
    ...(found === undefined ? {} : { input_sha256: canonicalSha256(found.call.input) }),
    ...outcome,
  };
  if (event.type === 'user.tool_confirmation') {
    const { tool_use_id, result, deny_message, rule = null, interrupt: isInterrupting = false } = event;
    const extension = { ...toUpdatedInput(event), ...(isInterrupting ? { interrupt: true as const } : {}) };
    draft.add(thread, event.type, { id, tool_use_id, result, deny_message, rule, ...decided, ...extension });
    const endsTurn = isInterrupting && outcome.not_applied === undefined && !isProgram(draft.state);
    if (endsTurn && found !== undefined) endRefusedTurn(draft, thread, found.call, deny_message);
  } else if (event.type === 'user.custom_tool_result') {
    const { custom_tool_use_id, content, is_error } = event;
    draft.add(thread, event.type, { id, custom_tool_use_id, content, is_error, ...decided });
  } else {
    const { tool_use_id, content, is_error } = event;
    draft.add(thread, event.type, { id, tool_use_id, content, is_error, ...outcome });
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

function toolUseIdOf(event: AnswerEvent): string {
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id;
}

/** Ids of events are unique in a session, so the id alone says which thread it belongs to. */
function findCall(state: SessionState, id: string): { thread: ThreadState; call: Call } | undefined {
  for (const thread of state.threads.values()) {
    const call = thread.calls.get(id);
    if (call !== undefined) return { thread, call };
  }
  return undefined;
}
