import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { isDeeper } from '../../base/json/is-deeper.ts';
import { findExcessBytes, jsonBytesAtLeast, jsonBytesAtMost } from '../../base/json/json-bytes.ts';
import { baseLimits } from '../../base/limits.ts';
import { logLimits } from '../../log/limits.ts';
import { sessionLimits } from '../core/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { findProgramEntry } from '../../engines/program/registry.ts';
import type { ApprovalRecord, NewKey, SessionRecord, ThreadRecord } from '../../store/records.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { commitOne, type SubmitChange } from '../../store/write.ts';
import { resultApprovalId } from '../core/state/approval-id.ts';
import type { ClientEvent, ClientInput } from '../core/client-event.ts';
import { findSizeProblem, SESSION_BYTES_MAX, toSessionProblem } from '../core/content-size.ts';
import type { ApprovalClosedBy } from '../../frames/payload-parts.ts';
import type { SessionData, ThreadData, WithdrawnData } from '../../frames/record-data.ts';
import { sessionError } from '../core/session-errors.ts';
import { toWorkChange } from './to-work-change.ts';

/** Events of one request to a session. */
export interface SendRequest {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly session: SessionRecord;
  readonly events: readonly ClientEvent[];
  /** The thread that the client names for a call, by the index of the event. */
  readonly claimedThreads?: ReadonlyMap<number, string>;
  /** Records decisions of approvals in the audit log, in the same write. */
  readonly audit?: Auditor | undefined;
  /** Stores the response for a client that repeats the request, in the same write. */
  readonly toKey?: (sent: readonly Sent[]) => NewKey;
}

/** An event that was accepted. */
export interface Sent extends ClientInput {
  readonly time: number;
  /** The thread that the event was sent to; null for the primary one. */
  readonly threadId: string | null;
}

/** Queues events for the owner of the session, all or none. All ids in the events are checked first. */
export async function sendEvents(request: SendRequest): Promise<readonly Sent[]> {
  const { store, clock, ids, session, events } = request;
  checkOpen(session);
  const isElsewhere = dataOf(session).is_read_only === true;
  if (isElsewhere && events.some(({ type }) => type !== 'user.tool_confirmation')) {
    throw sessionError('session_read_only', `${session.id} was imported and can only be read`);
  }
  checkSizes(events);
  await checkSessionSize(store, session, events);
  const time = clock.now();
  const sent: Sent[] = [];
  const changes: SubmitChange[] = [];
  for (const [index, event] of events.entries()) {
    const id = ids.next('sevt');
    const approval = await findApproval(request, event, index);
    if (approval !== undefined) {
      changes.push({
        type: 'resolve_approval',
        approvalId: approval.id,
        time,
        data: { event_id: id, ...(isElsewhere ? decisionOf(event) : resolutionOf(event)) },
      });
      const entry = toAuditEntry(request, event, approval);
      if (entry !== undefined) changes.push({ type: 'audit', entry });
    }
    const threadId = approval?.threadId ?? (await checkTarget(store, session, event, index));
    changes.push({ type: 'enqueue_input', input: { id, threadId, time, data: { event } } });
    sent.push({ id, event, time, threadId: threadId === primaryOf(session) ? null : threadId });
  }
  // The worker that ran its tools may have left when the session became idle.
  if (dataOf(session).environment_type === 'self_hosted') changes.push(toWorkChange(ids, time));
  // Requests of many clients may arrive in one turn of the event loop, and sealing and committing a long text takes milliseconds.
  const bytes = jsonBytesAtMost(events);
  const isLong = bytes > logLimits.logCommitAloneBytes;
  const pause = bytes > sessionLimits.sendAtOnceBytesMax ? yieldToEventLoop(isLong ? 0 : undefined) : undefined;
  // No await without a pause: it would let all requests of this turn of the event loop pass before the first one is committed.
  if (pause !== undefined) await pause;
  if (request.toKey !== undefined) changes.push({ type: 'put_key', key: request.toKey(sent) });
  await commitOne(store, { type: 'submit', sessionId: session.id, changes }).catch(async (error: unknown) => {
    if (isStoreError(error, 'already_resolved')) throw await explainResolved(request, error);
    if (isStoreError(error, 'archived')) throw sessionError('session_archived', `${session.id} is archived`);
    throw error;
  });
  return sent;
}

/** An approval was decided or withdrawn between the check and the write: a second check finds out which. */
async function explainResolved(request: SendRequest, error: unknown): Promise<unknown> {
  try {
    for (const [index, event] of request.events.entries()) await findApproval(request, event, index);
  } catch (refusal) {
    return refusal;
  }
  // Two events of this request are for the same call.
  return sessionError('already_answered', `a call is answered twice: ${String(error)}`);
}

function checkOpen({ id, archivedAt, status }: SessionRecord): void {
  if (archivedAt !== null) throw sessionError('session_archived', `${id} is archived`);
  if (status === 'terminated') throw sessionError('session_terminated', `${id} is terminated`);
}

/** Checks that events fit into the log; the events of one request are one commit. */
export function checkSizes(events: readonly ClientEvent[]): void {
  for (const [index, event] of events.entries()) {
    const problem = findSizeProblem(`events[${index}]`, event);
    if (problem === null) continue;
    const code = isDeeper(event, baseLimits.contentDepthMax) ? 'event_too_deep' : 'event_too_large';
    throw sessionError(code, problem);
  }
  const bytes = findExcessBytes(events, sessionLimits.contentBytesMax);
  if (bytes === undefined || events.length === 1) return;
  throw sessionError('event_too_large', `events has ${bytes} bytes, and ${sessionLimits.contentBytesMax} are allowed`);
}

/**
 * Throws if the session would have too much content with these events. Short events are checked without the pending inputs:
 * the number of inputs is bounded.
 */
async function checkSessionSize(store: Store, session: SessionRecord, events: readonly ClientEvent[]): Promise<void> {
  const added = jsonBytesAtLeast(events);
  let bytes = (dataOf(session).content_bytes ?? 0) + added;
  if (added > sessionLimits.sendAtOnceBytesMax) bytes += await store.inputs.bytes(session.id);
  const isContent = ({ type }: ClientEvent) => type !== 'user.interrupt' && type !== 'user.tool_confirmation';
  if (bytes > SESSION_BYTES_MAX && events.some(isContent)) {
    throw sessionError('session_too_large', toSessionProblem('these events', bytes));
  }
}

/** The audit entry of a decision, without the content, which is in the log of the session. */
function toAuditEntry({ audit, session }: SendRequest, event: ClientEvent, { id, data }: ApprovalRecord) {
  if (event.type !== 'user.tool_confirmation') return undefined;
  const details = { session_id: session.id, tool: data['name'] ?? null, result: event.result };
  return audit?.('approval.decided', id, { ...details, has_updated_input: event.updated_input !== undefined });
}

/** The approval record that an event is for. */
async function findApproval(
  request: SendRequest,
  event: ClientEvent,
  index: number,
): Promise<ApprovalRecord | undefined> {
  const { store, session, claimedThreads } = request;
  const wanted = toApprovalId(event);
  if (wanted === undefined) return undefined;
  if (event.type === 'user.tool_result' && dataOf(session).environment_type !== 'self_hosted') {
    throw sessionError('not_self_hosted', `events[${index}]: user.tool_result needs a self-hosted environment`);
  }
  const approval = await store.approvals.get(session.id, wanted.approvalId);
  if (approval === undefined || approval.data['kind'] !== (wanted.kind ?? approval.data['kind'])) {
    const other = await store.approvals.get(session.id, wanted.otherId);
    const code = (approval ?? other) ? 'wrong_answer' : 'unknown_tool_use';
    throw sessionError(code, `events[${index}]: ${wanted.toolUseId} does not wait for ${event.type}`);
  }
  if (event.type === 'user.tool_confirmation' && event.updated_input !== undefined) {
    const problem = findInputProblem(session);
    if (problem !== null) throw sessionError('input_not_changeable', `events[${index}]: ${problem}`);
  }
  if (approval.resolution !== null) throw toRefusal(approval, `events[${index}]: ${wanted.toolUseId}`);
  const claimed = claimedThreads?.get(index);
  if (claimed !== undefined && claimed !== approval.threadId) {
    throw sessionError('wrong_thread', `events[${index}]: ${wanted.toolUseId} does not belong to ${claimed}`);
  }
  return approval;
}

/** Why the input of a call cannot be changed: a worker runs the call that it reads on the wire, with the input of the model. */
function findInputProblem(session: SessionRecord): string | null {
  if (dataOf(session).environment_type !== 'self_hosted') return null;
  return 'updated_input is not possible in a self-hosted environment, where a worker runs the call as it was made';
}

/** Why an approval can no longer be decided. */
function toRefusal({ resolution }: ApprovalRecord, place: string): Error {
  // Only sessions and this file write this data.
  const data = (resolution?.data ?? {}) as Partial<WithdrawnData>;
  if (data.interrupted !== true) return sessionError('already_answered', `${place} was already answered`);
  if (data.closed_by === 'not_requested') {
    return sessionError('already_answered', `${place} was decided by the program, which did not ask`);
  }
  const why = data.closed_by === undefined ? 'the call ended' : withdrawals[data.closed_by];
  return sessionError('approval_withdrawn', `${place} was withdrawn because ${why}`);
}

const withdrawals: Record<Exclude<ApprovalClosedBy, 'not_requested'>, string> = {
  cancel: 'the call was interrupted',
  archive: 'its thread or session was archived',
  limit: 'the budget was used up',
  error: 'its turn failed',
  restart: 'the server restarted',
  release: 'the server ended its idle program',
};

interface Wanted {
  readonly toolUseId: string;
  readonly approvalId: string;
  readonly otherId: string;
  readonly kind?: string;
}

function toApprovalId(event: ClientEvent): Wanted | undefined {
  if (event.type === 'user.tool_confirmation') {
    const { tool_use_id: toolUseId } = event;
    return { toolUseId, approvalId: toolUseId, otherId: resultApprovalId(toolUseId) };
  }
  if (event.type === 'user.custom_tool_result') {
    const { custom_tool_use_id: toolUseId } = event;
    return { toolUseId, approvalId: resultApprovalId(toolUseId), otherId: toolUseId, kind: 'custom' };
  }
  if (event.type === 'user.tool_result') {
    const { tool_use_id: toolUseId } = event;
    return { toolUseId, approvalId: resultApprovalId(toolUseId), otherId: toolUseId, kind: 'builtin' };
  }
  return undefined;
}

function resolutionOf(event: ClientEvent): object {
  return event.type === 'user.tool_confirmation' ? { result: event.result } : {};
}

/** The decision as it is stored: a client delivers it to the program, perhaps after a restart of this server. */
function decisionOf(event: ClientEvent): object {
  if (event.type !== 'user.tool_confirmation') return {};
  const { result, deny_message, updated_input, interrupt } = event;
  return {
    result,
    deny_message,
    ...(updated_input === undefined ? {} : { updated_input }),
    ...(interrupt === true ? { interrupt } : {}),
  };
}

/** The thread that an event without a tool call is for. */
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
  if (thread === undefined) throw sessionError('thread_not_found', `${place} is not a thread of ${session.id}`);
  if (thread.status === 'terminated') throw sessionError('thread_ended', `${place} is terminated`);
  if (isSubAgent(session, thread)) {
    throw sessionError('thread_not_steerable', `${place} belongs to a program that alone speaks to its agents`);
  }
}

/** Whether a thread is a sub-agent. Records from before a session could have several programs are not marked. */
function isSubAgent(session: SessionRecord, { id, data }: ThreadRecord): boolean {
  // Only sessions write this data.
  const { agent, is_sub_agent: isMarked = false } = data as unknown as ThreadData;
  const program = findProgramEntry(dataOf(session).agent.model.id);
  const isOfProgram = program !== undefined && [program, undefined].includes(findProgramEntry(agent.model.id));
  return isMarked || (isOfProgram && id !== primaryOf(session));
}

function primaryOf(session: SessionRecord): string {
  return dataOf(session).primary_thread_id;
}

/** The data of a session record, which only sessions write. */
function dataOf({ data }: SessionRecord): SessionData {
  return data as unknown as SessionData;
}
