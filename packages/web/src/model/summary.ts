import {
  hasExamplePrice,
  type SessionHealth,
  type StateId,
  states,
  type ThreadRow,
  tokensOf,
  toThreadRows,
  toThreadState,
} from '@fleetloom/protocol/fleet';
import type { SessionModel } from './session-model.ts';

/** A row with its state at the moment that is shown. */
export interface ShownRow extends ThreadRow {
  readonly sessionId: string;
  readonly state: StateId;
  readonly glyph: string;
  readonly word: string;
  readonly session: SessionModel;
  /** The server's report on the session's threads; undefined in a replay. */
  readonly health: SessionHealth | undefined;
}

/** The rows of a session with their states. */
export function toShownRows(
  session: SessionModel,
  slots: SessionModel['slots'],
  now: number,
  health?: SessionHealth,
): readonly ShownRow[] {
  return toThreadRows(slots.runs).map((row) => {
    const { id: state, word, attempt } = toThreadState(row.slot, now, session.customTools);
    const glyph = `${states[state].glyph}${attempt ?? ''}`;
    return { ...row, sessionId: session.id, state, glyph, word, session, health };
  });
}

/** The figures of the header. */
export interface Summary {
  readonly counts: Readonly<Record<Group, number>>;
  readonly costUsd: number;
  readonly hasUnknownCost: boolean;
  /** Whether a part of the cost is only an example. */
  readonly hasExampleCost: boolean;
  readonly tokens: number;
  readonly tokensPerSecond: number;
  /** US dollars of the last minute. */
  readonly burnPerMinute: number;
  readonly budgetUsd: number | null;
  /** Requests that an overloaded endpoint rejected (429, 529), and requests that are retried for other reasons. */
  readonly refusalsPerMinute: number;
  readonly retriesPerMinute: number;
  /** Model requests of all models in progress, and model requests that are queued. */
  readonly requests: number;
  readonly queued: number;
}

/** The groups to filter by. */
export type Group = 'running' | 'needs' | 'stalled' | 'failed' | 'done';

/** The group of a state. */
export function groupOf(state: StateId): Group {
  switch (state) {
    case 'needs':
      return 'needs';
    case 'stalled':
      return 'stalled';
    case 'error':
      return 'failed';
    case 'done':
    case 'cancelled':
      return 'done';
    default:
      return 'running';
  }
}

/** A session with its rows at the moment that is shown. */
export interface SummaryInput {
  readonly session: SessionModel;
  readonly slots: SessionModel['slots'];
  readonly rows: readonly ShownRow[];
}

/** The figures of these sessions. */
export function summarize(sessions: readonly SummaryInput[], now: number): Summary {
  const counts: Record<Group, number> = { running: 0, needs: 0, stalled: 0, failed: 0, done: 0 };
  const sum = {
    costUsd: 0,
    hasUnknownCost: false,
    hasExampleCost: false,
    tokens: 0,
    burnPerMinute: 0,
    budgetUsd: null as number | null,
  };
  let [chars, refusalsPerMinute, retriesPerMinute, requests, queued] = [0, 0, 0, 0, 0];
  const isRecent = (at: number) => at > now - MINUTE_MS && at <= now;
  for (const { session, slots, rows } of sessions) {
    const { usage } = slots.totals;
    sum.costUsd += usage.costUsd;
    sum.hasUnknownCost ||= usage.requestsWithoutCost > 0;
    sum.hasExampleCost ||= hasExamplePrice(session.record?.agent.model.id ?? '');
    sum.tokens += tokensOf(usage);
    sum.burnPerMinute += session.spentSince(now - MINUTE_MS, now);
    const budget = session.record?.budget;
    if (budget != null) sum.budgetUsd = (sum.budgetUsd ?? 0) + Number(budget.max_list_cost.amount) / 100;
    for (const row of rows) {
      counts[groupOf(row.state)] += 1;
      if (row.slot.state === 'running' && isRequesting(row.slot.phase)) requests += 1;
      if (row.slot.state === 'running' && row.slot.phase === 'queued') queued += 1;
      const track = session.tracks.get(row.key);
      if (track === undefined) continue;
      chars += track
        .pulsesUntil(now, RATE_SECONDS + 1)
        .slice(0, -1)
        .reduce((total, count) => total + count, 0);
      refusalsPerMinute += track.refusalTimes.filter(isRecent).length;
      retriesPerMinute += track.retryTimes.filter(isRecent).length;
    }
  }
  return {
    counts,
    ...sum,
    tokensPerSecond: chars / CHARS_PER_TOKEN / RATE_SECONDS,
    refusalsPerMinute,
    retriesPerMinute,
    requests,
    queued,
  };
}

function isRequesting(phase: ShownRow['slot']['phase']): boolean {
  return phase === 'requesting' || phase === 'thinking' || phase === 'writing';
}

const MINUTE_MS = 60_000;
const RATE_SECONDS = 5;
/** A rough average for all models. */
export const CHARS_PER_TOKEN = 4;
