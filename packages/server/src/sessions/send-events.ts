import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { jsonBytesAtMost } from '../base/json-bytes.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { PROGRAM_PREFIX } from '../engines/program.ts';
import type { ApprovalRecord, NewKey, SessionRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { commitOne, type SubmitChange } from '../store/write.ts';
import { resultAskId } from './ask-id.ts';
import type { ClientEvent, ClientInput } from './client-event.ts';
import { findProblem } from './content-size.ts';
import type { AskClosedBy } from '../frames/frames.ts';
import type { SessionData, WithdrawnData } from '../frames/record-data.ts';
import { sessionError } from './session-errors.ts';
import { toWorkChange } from './to-work-change.ts';

export interface SendRequest {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly session: SessionRecord;
  readonly events: readonly ClientEvent[];
  /** Which thread a client believes the answered call to be of, by the index of the event. */
  readonly claimedThreads?: ReadonlyMap<number, string>;
  /** Keeps the answer for a client that repeats the request, in the same write. */
  readonly toKey?: (sent: readonly Sent[]) => NewKey;
}

export interface Sent extends ClientInput {
  readonly time: number;
  /** The thread that it was routed to, if that is not the primary one. */
  readonly threadId: string | null;
}

/** Leaves events for the owner of the session, all or none: everything that they refer to is checked first. */
export async function sendEvents(request: SendRequest): Promise<readonly Sent[]> {
  const { store, clock, ids, session, events } = request;
  checkOpen(session);
  if (dataOf(session).is_read_only === true) {
    throw sessionError('session_read_only', `${session.id} was imported and can only be read`);
  }
  const time = clock.now();
  const sent: Sent[] = [];
  const changes: SubmitChange[] = [];
  for (const [index, event] of events.entries()) {
    checkSize(event, index);
    const id = ids.next('sevt');
    const ask = await findAsk(request, event, index);
    if (ask !== undefined) {
      changes.push({
        type: 'resolve_approval',
        approvalId: ask.id,
        time,
        data: { event_id: id, ...resolutionOf(event) },
      });
    }
    const threadId = ask?.threadId ?? (await checkTarget(store, session, event, index));
    changes.push({ type: 'enqueue_input', input: { id, threadId, time, data: { event } } });
    sent.push({ id, event, time, threadId: threadId === primaryOf(session) ? null : threadId });
  }
  // Whoever ran its tools may have left when it went idle.
  if (dataOf(session).environment_type === 'self_hosted') changes.push(toWorkChange(ids, time));
  // Requests of many clients may arrive in one turn of the event loop, and sealing and committing a long text takes milliseconds.
  const pause = jsonBytesAtMost(events) > limits.sendAtOnceBytesMax ? yieldToEventLoop() : undefined;
  // Not awaited where there is none: all requests would pass before the first of them is committed.
  if (pause !== undefined) await pause;
  if (request.toKey !== undefined) changes.push({ type: 'put_key', key: request.toKey(sent) });
  await commitOne(store, { type: 'submit', sessionId: session.id, changes }).catch(async (error: unknown) => {
    if (isStoreError(error, 'already_resolved')) throw await explainResolved(request, error);
    if (isStoreError(error, 'archived')) throw sessionError('session_archived', `${session.id} is archived`);
    throw error;
  });
  return sent;
}

/** An approval was answered or withdrawn between the check and the write: the second check finds out which. */
async function explainResolved(request: SendRequest, error: unknown): Promise<unknown> {
  try {
    for (const [index, event] of request.events.entries()) await findAsk(request, event, index);
  } catch (refusal) {
    return refusal;
  }
  // Two events of this request answer the same call.
  return sessionError('already_answered', `a call is answered twice: ${String(error)}`);
}

function checkOpen({ id, archivedAt, status }: SessionRecord): void {
  if (archivedAt !== null) throw sessionError('session_archived', `${id} is archived`);
  if (status === 'terminated') throw sessionError('session_terminated', `${id} has ended for good`);
}

/** What is taken up has to fit into the log. */
export function checkSize(event: ClientEvent, index: number): void {
  const problem = findProblem(`events[${index}]`, event);
  if (problem !== null) throw sessionError('event_too_large', problem);
}

/** The ask that an event answers. */
async function findAsk(request: SendRequest, event: ClientEvent, index: number): Promise<ApprovalRecord | undefined> {
  const { store, session, claimedThreads } = request;
  const wanted = toAskId(event);
  if (wanted === undefined) return undefined;
  if (event.type === 'user.tool_result' && dataOf(session).environment_type !== 'self_hosted') {
    throw sessionError('not_self_hosted', `events[${index}]: user.tool_result needs a self-hosted environment`);
  }
  const ask = await store.approvals.get(session.id, wanted.askId);
  if (ask === undefined || ask.data['kind'] !== (wanted.kind ?? ask.data['kind'])) {
    const other = await store.approvals.get(session.id, wanted.otherId);
    const code = (ask ?? other) ? 'wrong_answer' : 'unknown_tool_use';
    throw sessionError(code, `events[${index}]: ${wanted.toolUseId} does not wait for ${event.type}`);
  }
  if (event.type === 'user.tool_confirmation' && event.updated_input !== undefined) {
    const problem = findInputProblem(session);
    if (problem !== null) throw sessionError('input_not_changeable', `events[${index}]: ${problem}`);
  }
  if (ask.resolution !== null) throw toRefusal(ask, `events[${index}]: ${wanted.toolUseId}`);
  const claimed = claimedThreads?.get(index);
  if (claimed !== undefined && claimed !== ask.threadId) {
    throw sessionError('wrong_thread', `events[${index}]: ${wanted.toolUseId} does not belong to ${claimed}`);
  }
  return ask;
}

/** A worker runs the call that it reads on the wire, which has the input of the model. */
function findInputProblem(session: SessionRecord): string | null {
  if (dataOf(session).environment_type !== 'self_hosted') return null;
  return 'updated_input is not possible in a self-hosted environment, where a worker runs the call as it was made';
}

/** Why an approval takes no answer any more. */
function toRefusal({ resolution }: ApprovalRecord, place: string): Error {
  // Only sessions and this file write it.
  const data = (resolution?.data ?? {}) as Partial<WithdrawnData>;
  if (data.interrupted !== true) return sessionError('already_answered', `${place} was already answered`);
  if (data.closed_by === 'not_requested') {
    return sessionError('already_answered', `${place} was decided by the program, which did not ask`);
  }
  const why = data.closed_by === undefined ? 'the call ended' : withdrawals[data.closed_by];
  return sessionError('approval_withdrawn', `${place} was withdrawn because ${why}`);
}

const withdrawals: Record<Exclude<AskClosedBy, 'not_requested'>, string> = {
  cancel: 'the call was interrupted',
  archive: 'its thread or session was archived',
  limit: 'the budget was used up',
  error: 'its turn failed',
  restart: 'the server restarted',
  release: 'the server ended its idle program',
};

interface Wanted {
  readonly toolUseId: string;
  readonly askId: string;
  readonly otherId: string;
  readonly kind?: string;
}

function toAskId(event: ClientEvent): Wanted | undefined {
  if (event.type === 'user.tool_confirmation') {
    const { tool_use_id: toolUseId } = event;
    return { toolUseId, askId: toolUseId, otherId: resultAskId(toolUseId) };
  }
  if (event.type === 'user.custom_tool_result') {
    const { custom_tool_use_id: toolUseId } = event;
    return { toolUseId, askId: resultAskId(toolUseId), otherId: toolUseId, kind: 'custom' };
  }
  if (event.type === 'user.tool_result') {
    const { tool_use_id: toolUseId } = event;
    return { toolUseId, askId: resultAskId(toolUseId), otherId: toolUseId, kind: 'builtin' };
  }
  return undefined;
}

function resolutionOf(event: ClientEvent): object {
  return event.type === 'user.tool_confirmation' ? { result: event.result } : {};
}

/** Whom an event is for that answers nothing. */
async function checkTarget(
  store: Store,
  session: SessionRecord,
  event: ClientEvent,
  index: number,
): Promise<string | null> {
  if (event.type === 'user.interrupt') {
    const { session_thread_id: threadId } = event;
    if (threadId === null || (await store.threads.get(session.id, threadId)) !== undefined) return threadId;
    throw sessionError('thread_not_found', `events[${index}]: ${session.id} has no thread ${threadId}`);
  }
  if (event.type === 'user.message' && event.thread_id !== undefined) {
    await checkSteerable(store, session, event.thread_id, index);
  }
  if (dataOf(session).stop.reason.type === 'budget_reached' && session.status === 'idle') {
    throw sessionError('budget_reached', `events[${index}]: the budget of ${session.id} is used up`);
  }
  return event.type === 'user.message' ? (event.thread_id ?? primaryOf(session)) : primaryOf(session);
}

async function checkSteerable(store: Store, session: SessionRecord, threadId: string, index: number): Promise<void> {
  const thread = await store.threads.get(session.id, threadId);
  const place = `events[${index}]: ${threadId}`;
  if (thread === undefined) throw sessionError('thread_not_found', `${place} is no thread of ${session.id}`);
  if (thread.status === 'terminated') throw sessionError('thread_ended', `${place} has ended for good`);
  if (threadId !== primaryOf(session) && dataOf(session).agent.model.id.startsWith(PROGRAM_PREFIX)) {
    throw sessionError('thread_not_steerable', `${place} belongs to a program that alone speaks to its agents`);
  }
}

function primaryOf(session: SessionRecord): string {
  return dataOf(session).primary_thread_id;
}

/** Only sessions write it. */
function dataOf({ data }: SessionRecord): SessionData {
  return data as unknown as SessionData;
}
