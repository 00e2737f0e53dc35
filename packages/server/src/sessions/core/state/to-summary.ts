import { cutText, fleetLimits, toLabel, toSessionName, toSessionState } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { SummaryData } from '../../../frames/summary-data.ts';
import type { SessionSummary } from '../../../store/summaries.ts';
import { sessionLimits } from '../limits.ts';
import { isOverBudget } from './budget.ts';
import { type Call, type OpenTurn, primaryOf, type SessionState, type ThreadState } from './state.ts';
import { sumTokens } from './usage.ts';

/** When a thread last received anything that is not in the state, and whether its model request waits in a queue. */
export interface ThreadActivity {
  readonly at: number;
  readonly isQueued: boolean;
}

/** The summary of a session. `activity`: of threads that receive text, which the state does not have. */
export function toSummary(
  state: SessionState,
  activity: ReadonlyMap<string, ThreadActivity> = new Map(),
): SessionSummary & { readonly data: SummaryData } {
  const { agent, created, newestRun, usage } = state;
  const threads = [...state.threads.values()];
  const pending = threads.flatMap(findPending);
  const isHeld = state.run !== null && state.status === 'idle' && state.stop.reason.type === 'budget_reached';
  const needsYou = pending.length + (isHeld ? 1 : 0);
  const isRunning = state.run !== null || state.status === 'running' || state.status === 'rescheduling';
  const isOver = state.status === 'terminated';
  const shown = toSessionState({
    isArchived: state.isArchived,
    needsYou,
    isRunning,
    outcome: newestRun?.state ?? (isOver ? 'failed' : null),
  });
  const stalls = threads.flatMap((thread) => toStall(thread, activity.get(thread.id)) ?? []).toSorted((a, b) => a - b);
  // A run that was rejected has no message of its own.
  const firstMessage = toLine(state.firstMessage ?? newestRun?.message ?? null);
  const title = toLine(state.title);
  const name = toSessionName({ title, firstMessage });
  const agentName = cleanLine(agent.name);
  return {
    state: shown,
    stallsAt: stalls[0] ?? null,
    agentName,
    model: cleanLine(agent.model.id),
    createdAt: state.createdAt,
    activityAt: Math.max(state.updatedAt, ...[...activity.values()].map(({ at }) => at)),
    costNanoUsd: usage.cost_nano_usd,
    tokens: sumTokens(usage),
    activeMs: state.active.totalMs,
    search: toSearch([name, title, firstMessage, agentName]),
    data: {
      agent_id: agent.id,
      name,
      title: state.title,
      reason: toReason(state, shown, pending),
      repository: created.source?.repository ?? directoryOf(state),
      branch: created.source?.branch ?? null,
      changes: state.workspace?.counts ?? null,
      started_at: primaryOf(state).startedAt,
      ended_at: state.run === null ? (newestRun?.ended_at ?? null) : null,
      active_since: state.active.since,
      needs_you: needsYou,
      threads: threads.length,
      failed_threads: threads.filter(({ hasFailed }) => hasFailed).length,
      stalls,
      created_by: created.created_by ?? null,
      is_read_only: created.is_read_only ?? false,
      ...(state.budget === null
        ? {}
        : { budget: state.budget, budget_state: isOverBudget(state, state.updatedAt) ? 'reached' : 'within' }),
    },
  };
}

/** The calls that only a person, or the program of a person, can answer. */
function findPending({ turn, calls }: ThreadState): Call[] {
  if (turn === null) return [];
  return [...calls.values()].filter(
    ({ progress, runsAt }) => progress.type === 'asking' || (progress.type === 'outside' && runsAt === 'client'),
  );
}

/** Tools, delegates and waits may be silent; a model may not. */
function toStall(thread: ThreadState, activity: ThreadActivity | undefined): number | undefined {
  const { turn, updatedAt } = thread;
  if (turn === null || !isWaitingForModel(turn, thread)) return undefined;
  const isNewer = activity !== undefined && activity.at >= updatedAt;
  if (isNewer && activity.isQueued) return undefined;
  const lastAt = Math.max(updatedAt, turn.startedAt, isNewer ? activity.at : 0);
  return lastAt + fleetLimits.stalledMs + fleetLimits.activityMs;
}

function isWaitingForModel({ phase, iteration }: OpenTurn, { calls }: ThreadState): boolean {
  if (phase.type === 'requesting') return true;
  if (phase.type !== 'program') return false;
  // A program that has not begun its first request is starting.
  return phase.startId !== null || (iteration === 0 && calls.size === 0);
}

function toReason(state: SessionState, shown: SessionSummary['state'], [first]: readonly Call[]): string | null {
  const text = findReason(state, shown, first);
  return text === null
    ? null
    : cutText(cleanLine(cutText(text, 4 * sessionLimits.reasonCharsMax)), sessionLimits.reasonCharsMax);
}

function findReason(state: SessionState, shown: SessionSummary['state'], first: Call | undefined): string | null {
  if (shown === 'needs_you') {
    if (first === undefined) return 'the budget is used up';
    const label = toLabel(first.input);
    return label === '' ? first.name : `${first.name}: ${label}`;
  }
  if (shown === 'running') return state.status === 'rescheduling' ? 'retrying' : null;
  if (shown === 'failed') return state.runError;
  return shown === 'done' && state.newestRun?.state === 'cancelled' ? 'cancelled' : null;
}

/** Imported sessions name the directory that they ran in. */
function directoryOf({ created, metadata }: SessionState): string | null {
  const directory = created.is_read_only === true ? metadata['directory'] : undefined;
  return typeof directory === 'string' ? directory : null;
}

/** What a search looks at. Each part is on a line of its own, so that a word never matches across two of them. */
function toSearch(parts: readonly string[]): string {
  return [...new Set(parts.map((part) => part.toLowerCase()))].filter((text) => text !== '').join('\n');
}

/** One line that can be shown: every character that hides, turns or moves text is shown by its name. */
function toLine(text: string | null): string {
  return cleanLine(cutText(text ?? '', sessionLimits.searchCharsMax));
}
