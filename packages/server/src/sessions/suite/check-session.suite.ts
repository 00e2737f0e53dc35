import { isDeepStrictEqual } from 'node:util';
import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { ApprovalRecord, ThreadRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { resultApprovalId } from '../core/state/approval-id.ts';
import { beginState } from '../core/state/begin-state.ts';
import { evolve } from '../core/state/evolve.ts';
import { toSessionData, toThreadData } from '../core/state/record-data.ts';
import { toSummary } from '../core/state/to-summary.ts';
import { noUsage, openCallsOf, type SessionState } from '../core/state/state.ts';
import { addUsage } from '../core/state/usage.ts';
import { findLogProblems } from './check-log.suite.ts';

/** A session to be checked. */
export interface CheckedSession {
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** The problems of a session as the store has it. If something is written between two reads, the check begins again. */
export async function findSessionProblems(store: Store, checked: CheckedSession): Promise<string[]> {
  const readHead = async () => (await store.heads([checked.sessionId])).get(checked.sessionId);
  for (;;) {
    const head = await readHead();
    const problems = await checkOnce(store, checked);
    if (problems.length === 0 || (await readHead()) === head) return problems;
  }
}

async function checkOnce(store: Store, checked: CheckedSession): Promise<string[]> {
  const frames = await readFrames(store, checked.sessionId);
  const state = fold(checked.sessionId, frames);
  return [
    ...findLogProblems(frames),
    ...findUsageProblems(frames, state),
    ...(await findRecordProblems(store, checked, state)),
    ...(await findAskProblems(store, checked, state)),
  ];
}

/** The problems of an idle session: it may wait for decisions, tool results and budgets, and for nothing else. */
export async function findUnsettled(store: Store, checked: CheckedSession): Promise<string[]> {
  const frames = await readFrames(store, checked.sessionId);
  const state = fold(checked.sessionId, frames);
  const problems: string[] = [];
  const { status, stop } = state;
  if (status === 'running' || status === 'rescheduling') problems.push(`the session is still ${status}`);
  for (const thread of state.threads.values()) problems.push(...findThreadUnrest(thread));
  const isOpen = [...state.threads.values()].some(({ turn }) => turn !== null);
  if (!isOpen && state.run !== null) problems.push(`the run ${state.run.id} has not ended`);
  const isHeld = stop.reason.type === 'requires_action' || stop.reason.type === 'budget_reached';
  if (status === 'idle' && isOpen !== isHeld)
    problems.push(`turns are ${isOpen ? 'open' : 'over'} and it says ${stop.reason.type}`);
  if ((await store.inputs.peek(checked.sessionId, 1)).length > 0) problems.push('input was not taken up');
  const record = await store.sessions.get(checked.workspaceId, checked.sessionId);
  const data = toSessionData(state);
  if (!isDeepStrictEqual(record?.data, plain(data))) {
    problems.push(`the record says ${JSON.stringify(record?.data)}, the log ${JSON.stringify(data)}`);
  }
  return problems;
}

/** All frames of a session. */
export async function readFrames(store: Pick<Store, 'read'>, sessionId: string): Promise<SessionFrame[]> {
  const entries = await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
  return entries.flatMap((entry) => (entry.kind === 'frame' ? [toSessionFrame(entry.value)] : []));
}

/** The state after these frames. */
export function fold(sessionId: string, frames: readonly SessionFrame[]): SessionState {
  const [first, ...rest] = frames;
  const state = beginState(sessionId, first!);
  for (const frame of rest) evolve(state, frame);
  return state;
}

function findThreadUnrest(
  thread: SessionState['threads'] extends Map<string, infer Thread> ? Thread : never,
): string[] {
  const { id, status, turn, stop, inbox } = thread;
  if (status === 'running' || status === 'rescheduling') return [`${id} is still ${status}`];
  // A quiet message came before an interrupt, and waits for the next turn.
  const isWoken = inbox.some((waiting) => waiting.type !== 'letter' || !waiting.isQuiet);
  if (turn === null) return isWoken && status !== 'terminated' ? [`${id} has not read its letters`] : [];
  const { type } = stop.reason;
  const isHeld = type === 'requires_action' || type === 'budget_reached';
  return isHeld ? [] : [`${id} rests in an open turn that stopped for ${type}`];
}

function findUsageProblems(frames: readonly SessionFrame[], state: SessionState): string[] {
  const ends = frames.flatMap((frame) => (frame.type === 'span.model_request_end' ? [frame] : []));
  const total = ends.map(({ payload }) => payload.model_usage).reduce(addUsage, noUsage);
  const threads = [...state.threads.values()].map(({ usage }) => usage).reduce(addUsage, noUsage);
  const problems: string[] = [];
  if (!isDeepStrictEqual(total, state.usage)) problems.push('the usage of the session is not that of its requests');
  if (!isDeepStrictEqual(total, threads)) problems.push('the usage of the threads is not that of the session');
  return problems;
}

/** The records match the log at every moment. */
async function findRecordProblems(store: Store, checked: CheckedSession, state: SessionState): Promise<string[]> {
  const { workspaceId, sessionId } = checked;
  const record = await store.sessions.get(workspaceId, sessionId);
  const { items: threads } = await store.threads.list({ sessionId, limit: 1_000 });
  const problems: string[] = await findSummaryProblems(store, checked, state);
  const data = plain(toSessionData(state));
  if (record?.status !== state.status) problems.push(`the record is ${record?.status}, the log ${state.status}`);
  if ((record?.archivedAt !== null) !== state.isArchived)
    problems.push('record and log differ in whether it is archived');
  for (const part of ['usage', 'stop', 'budget', 'title', 'metadata', 'agent', 'active', 'run_id'] as const) {
    if (!isDeepStrictEqual(record?.data[part], data[part])) problems.push(`the record has another ${part}`);
  }
  if (threads.length !== state.threads.size)
    problems.push(`${threads.length} threads are listed of ${state.threads.size}`);
  for (const thread of threads) problems.push(...findThreadProblems(thread, state));
  return problems;
}

/** Every commit writes the summary that follows from its frames. Only deltas, which are not in the state, may be newer. */
async function findSummaryProblems(store: Store, checked: CheckedSession, state: SessionState): Promise<string[]> {
  const [kept] = await store.summaries.getAll(checked.workspaceId, [checked.sessionId]);
  const { search: _, ...summary } = toSummary(state);
  const isNewer = kept !== undefined && kept.activityAt >= summary.activityAt;
  if (!isNewer) return [`the summary is of ${kept?.activityAt}, the log of ${summary.activityAt}`];
  const { activityAt, createdAt, stallsAt, data, sessionId: __, ...rest } = kept;
  const expected = {
    ...summary,
    ...plain(summary.data),
    data: undefined,
    activityAt,
    createdAt,
    stallsAt,
    stalls: null,
  };
  const found = { ...rest, ...data, data: undefined, activityAt, createdAt, stallsAt, stalls: null };
  if (isDeepStrictEqual(found, expected)) return [];
  return [`the summary is ${JSON.stringify(found)}, the log says ${JSON.stringify(expected)}`];
}

function findThreadProblems(record: ThreadRecord, state: SessionState): string[] {
  const thread = state.threads.get(record.id);
  if (thread === undefined) return [`${record.id} is in no frame`];
  const problems: string[] = [];
  if (record.status !== thread.status) problems.push(`${record.id} is ${record.status}, in the log ${thread.status}`);
  if (record.parentThreadId !== thread.parentId) problems.push(`${record.id} has another parent`);
  if ((record.archivedAt !== null) !== thread.isArchived) problems.push(`whether ${record.id} is archived differs`);
  const data = plain(toThreadData(state, thread));
  for (const part of Object.keys(data)) {
    if (!isDeepStrictEqual(record.data[part], data[part]))
      problems.push(`the record of ${record.id} has another ${part}`);
  }
  return problems;
}

/** Each call that waits for a client has an open approval, and each open approval belongs to such a call. */
async function findAskProblems(store: Store, checked: CheckedSession, state: SessionState): Promise<string[]> {
  const { items: asks } = await store.approvals.list({ ...checked, limit: 1_000 });
  const known = new Map(asks.map((ask) => [ask.id, ask]));
  const inputs = await store.inputs.peek(checked.sessionId, 1_000);
  const expected = new Map(toExpectedAsks(state).map((ask) => [ask.id, ask.threadId]));
  const problems: string[] = [];
  for (const [id, threadId] of expected) {
    const ask = known.get(id);
    if (ask === undefined) problems.push(`no approval record for ${id}`);
    else if (ask.threadId !== threadId) problems.push(`the ask ${id} is of another thread`);
    else if (ask.resolution !== null && !isAnswerOnItsWay(ask)) problems.push(`${id} still waits and was answered`);
  }
  for (const ask of asks) {
    if (ask.resolution === null && !expected.has(ask.id)) problems.push(`${ask.id} is open and no call waits for it`);
  }
  return problems;

  function isAnswerOnItsWay({ resolution }: ApprovalRecord): boolean {
    return inputs.some(({ id }) => id === resolution?.data['event_id']);
  }
}

function toExpectedAsks(state: SessionState): { id: string; threadId: string }[] {
  return [...state.threads.values()].flatMap((thread) =>
    openCallsOf(thread).flatMap(({ id, kind, progress }) => {
      const isConfirmed = progress.type === 'asking' || (progress.type === 'proposed' && kind !== 'custom');
      if (isConfirmed) return [{ id, threadId: thread.id }];
      if (progress.type === 'proposed') return [{ id: resultApprovalId(id), threadId: thread.id }];
      return progress.type === 'outside' ? [{ id: resultApprovalId(id), threadId: thread.id }] : [];
    }),
  );
}

/** As the store returns it. */
function plain<Value extends object>(value: Value): Record<string, unknown> & Value {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown> & Value;
}
