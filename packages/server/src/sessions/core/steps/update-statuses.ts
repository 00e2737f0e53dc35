import { isOverBudget } from '../state/budget.ts';
import type { Draft } from '../draft.ts';
import { endRun } from './end-run.ts';
import type { StopReason } from '../../../frames/payload-parts.ts';
import { announceRunning } from '../turn/start-turn.ts';
import {
  type Call,
  openCallsOf,
  primaryOf,
  type SessionState,
  type Stopped,
  type ThreadState,
  threadOf,
} from '../state/state.ts';

/** Logs the status of each thread, then of the session, where it has changed. */
export function updateStatuses(draft: Draft): void {
  for (const thread of draft.state.threads.values()) updateThreadStatus(draft, thread);
  updateSessionStatus(draft);
}

/**
 * Logs the idle status again. A client that has sent a decision waits for the next status, and a decision that was not
 * applied changes none.
 */
export function announceIdleAgain(draft: Draft): void {
  const { status, stop } = draft.state;
  if (status === 'idle') announceIdle(draft, stop);
}

function updateThreadStatus(draft: Draft, thread: ThreadState): void {
  const now = activityOf(draft, thread);
  const subject = { session_thread_id: thread.id, agent_name: thread.agentName };
  if (now.type === 'running') return announceRunning(draft, thread);
  if (now.type === 'rescheduling') {
    if (thread.status !== 'rescheduling') draft.event(thread, 'session.thread_status_rescheduled', subject);
  } else if (now.type === 'held' && !isStoppedBy(thread, now.reason)) {
    draft.event(thread, 'session.thread_status_idle', { ...subject, stop_reason: now.reason, stop_details: null });
  }
}

type Activity =
  | { readonly type: 'idle' | 'running' | 'rescheduling' }
  /** The turn is open and waits for a client or a larger budget. */
  | { readonly type: 'held'; readonly reason: StopReason };

function activityOf(draft: Draft, thread: ThreadState): Activity {
  const { turn } = thread;
  if (turn === null) return { type: 'idle' };
  if (turn.phase.type === 'waiting') return { type: 'rescheduling' };
  const asks = pendingActionsOf(draft, thread);
  if (asks === undefined) return { type: 'running' };
  const reason = asks.length > 0 ? { type: 'requires_action' as const, event_ids: asks } : budgetReached;
  return { type: 'held', reason };
}

const budgetReached = { type: 'budget_reached' } as const;

/**
 * The calls that a client has to act on before the thread can continue; empty if only the budget stops it. Undefined:
 * something is under way. A call that waits for children waits for what they wait for, so that a session whose agents
 * all ask is not at work.
 */
function pendingActionsOf(draft: Draft, thread: ThreadState): string[] | undefined {
  const phase = thread.turn?.phase;
  if (phase?.type === 'program') return pendingActionsOfProgram(draft, thread, phase.startId);
  if (phase?.type !== 'due' && phase?.type !== 'calling') return undefined;
  const open = openCallsOf(thread);
  if (open.length === 0) return isOverBudget(draft.state, draft.now) ? [] : undefined;
  return joinPendingActions(open.map((call) => pendingActionsOfCall(draft, call)));
}

/**
 * A program continues on its own, unless everything that it has begun waits for a client. It asks about calls that change
 * something one after the other, so calls that it has not asked about yet wait behind the one that it has.
 */
function pendingActionsOfProgram(draft: Draft, thread: ThreadState, startId: string | null): string[] | undefined {
  if (startId !== null) return undefined;
  const open = openCallsOf(thread);
  const begun = open.filter(({ progress }) => progress.type !== 'proposed');
  const asks =
    open.length > 0
      ? joinPendingActions(begun.map((call) => pendingActionsOfCall(draft, call)))
      : pendingActionsOfWorkflow(draft, thread);
  return asks !== undefined && asks.length > 0 ? asks : undefined;
}

/** A workflow sends no model requests: it waits for what all of its agents wait for. */
function pendingActionsOfWorkflow(draft: Draft, { id, turn }: ThreadState): string[] | undefined {
  if (turn?.iteration !== 0) return undefined;
  const agents = [...draft.state.threads.values()].filter((thread) => thread.parentId === id && thread.turn !== null);
  return joinPendingActions(agents.map((agent) => pendingActionsOf(draft, agent)));
}

function pendingActionsOfCall(draft: Draft, { id, progress, children, answers }: Call): string[] | undefined {
  if (progress.type === 'asking' || progress.type === 'outside') return [id];
  if (progress.type !== 'joining') return undefined;
  const busy = [...children].filter(([index]) => !answers.has(index));
  return joinPendingActions(busy.map(([, child]) => pendingActionsOf(draft, threadOf(draft.state, child))));
}

function joinPendingActions(asks: readonly (string[] | undefined)[]): string[] | undefined {
  return asks.every((ids) => ids !== undefined) ? asks.flat() : undefined;
}

function isStoppedBy({ status, stop }: Pick<ThreadState, 'status' | 'stop'>, reason: StopReason): boolean {
  return status === 'idle' && JSON.stringify(stop.reason) === JSON.stringify(reason);
}

function updateSessionStatus(draft: Draft): void {
  const { state } = draft;
  if (state.status === 'terminated') return;
  const threads = [...state.threads.values()];
  if (threads.some(({ status }) => status === 'running')) {
    if (state.status !== 'running') draft.event(null, 'session.status_running', {});
    return;
  }
  if (threads.some(({ status }) => status === 'rescheduling')) {
    if (state.status !== 'rescheduling') draft.event(null, 'session.status_rescheduled', {});
    return;
  }
  const stop = stopOf(state);
  if (state.status === 'idle' && (state.run === null || isStoppedBy(state, stop.reason))) return;
  becomeIdle(draft, stop);
}

/** No thread is running. The idle status comes last: clients stop reading at it. */
function becomeIdle(draft: Draft, stop: Stopped): void {
  const { state } = draft;
  if ([...state.threads.values()].every(({ turn }) => turn === null)) endRun(draft);
  announceIdle(draft, stop);
}

function announceIdle(draft: Draft, stop: Stopped): void {
  const { state } = draft;
  // While it was running its time went on, so the clock is read as if it stopped now.
  const { totalMs, since } = state.active;
  const activeMs = totalMs + (since === null ? 0 : draft.now - since);
  draft.event(null, 'session.usage', { usage: state.usage, active_ms: activeMs, budget: state.budget });
  draft.event(null, 'session.status_idle', { stop_reason: stop.reason, stop_details: stop.details });
}

/** Pending actions first, then the budget; otherwise the stop reason of the primary thread. */
function stopOf(state: SessionState): Stopped {
  const held = [...state.threads.values()].filter(({ turn }) => turn !== null).map(({ stop }) => stop.reason);
  const asks = held.flatMap((reason) => (reason.type === 'requires_action' ? reason.event_ids : []));
  if (asks.length > 0) return { reason: { type: 'requires_action', event_ids: [...new Set(asks)] }, details: null };
  if (held.some(({ type }) => type === 'budget_reached')) return { reason: budgetReached, details: null };
  return primaryOf(state).stop;
}
