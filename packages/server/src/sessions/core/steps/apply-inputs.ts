import { canonicalSha256 } from '../../../base/json/canonical-sha256.ts';
import { toDeniedResult } from '../turn/denied-result.ts';
import type { NotApplied } from '../../../frames/payload-parts.ts';
import type { ClientEvent, ClientInput } from '../client-event.ts';
import type { Draft } from '../draft.ts';
import { addToolResult } from '../turn/add-tool-result.ts';
import { interrupt, isStoppable } from '../turn/interrupt.ts';
import { settle } from './settle.ts';
import { announceIdleAgain } from './update-statuses.ts';
import { isProgramThread } from '../state/program-threads.ts';
import {
  type Call,
  childrenOf,
  primaryOf,
  type SessionState,
  type ThreadState,
  threadOf,
  type Waiting,
} from '../state/state.ts';

/** Applies the events of clients in the order in which they arrived. */
export function applyInputs(draft: Draft, inputs: readonly ClientInput[]): void {
  let fresh: Waiting[] = [];
  for (const input of inputs) {
    const { id, event } = input;
    if (event.type === 'user.message' && isForChild(draft.state, event)) steer(draft, id, event);
    else if (event.type === 'user.message') fresh.push({ type: 'user.message', id, content: event.content });
    else if (event.type === 'system.message') fresh.push({ type: 'system.message', id, content: event.content });
    else if (event.type === 'user.interrupt') {
      // Messages before the interrupt begin their turn first.
      settle(draft, fresh);
      fresh = [];
      applyInterrupt(draft, id, event);
    } else applyAnswer(draft, { ...input, event });
  }
  settle(draft, fresh);
  const late = draft.frames.findLastIndex(({ payload }) => 'not_applied' in payload);
  const status = draft.frames.findLastIndex(({ type }) => type.startsWith('session.status_'));
  if (late > status) announceIdleAgain(draft);
}

/** Logs the decisions and tool results that were accepted before the session ended. Other events are dropped. */
export function applyInputsAfterEnd(draft: Draft, inputs: readonly ClientInput[]): void {
  for (const input of inputs) {
    const { event } = input;
    if (isAnswer(event)) logAnswer(draft, { ...input, event }, { not_applied: 'session_ended' });
  }
}

type MessageEvent = Extract<ClientEvent, { type: 'user.message' }>;

function isForChild(state: SessionState, { thread_id: threadId }: MessageEvent): boolean {
  return threadId !== undefined && threadId !== state.created.primary_thread_id;
}

/** Adds a message to the inbox of a child: an idle thread begins a turn, a running one reads it before its next model request. */
function steer(draft: Draft, id: string, { thread_id: threadId, content }: MessageEvent): void {
  const thread = threadOf(draft.state, threadId!);
  // The thread has ended since the message was sent.
  if (thread.status !== 'terminated') draft.add(thread, 'user.message', { id, content, is_processed: false });
}

type InterruptEvent = Extract<ClientEvent, { type: 'user.interrupt' }>;

/** An interrupt without anything to stop is not logged: clients consider a session idle if its last event says so. */
function applyInterrupt(draft: Draft, id: string, event: InterruptEvent): void {
  const { session_thread_id: threadId } = event;
  const threads = targetsOf(draft.state, event);
  if (!threads.some(isStoppable)) return;
  draft.add(threadId === null ? null : threads[0]!, 'user.interrupt', { id, session_thread_id: threadId });
  interrupt(draft, threads, 'cancel');
}

/** The named thread comes first. */
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
 * The sender of a decision or tool result got a success response, so it is always logged. If the call no longer waits, because it was
 * interrupted or its program ended in the meantime, the frame says so and changes nothing.
 */
function applyAnswer(draft: Draft, input: AnswerInput): void {
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
    const { tool_use_id, result, deny_message, rule = null, rule_id, interrupt: isInterrupting = false } = event;
    const extension = {
      ...(rule_id === undefined ? {} : { rule_id }),
      ...toUpdatedInput(event),
      ...(isInterrupting ? { interrupt: true as const } : {}),
    };
    draft.add(thread, event.type, { id, tool_use_id, result, deny_message, rule, ...decided, ...extension });
    const endsTurn = isInterrupting && outcome.not_applied === undefined && !isProgramThread(draft.state, thread);
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
  addToolResult(draft, thread, call, toDeniedResult(call, message));
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
