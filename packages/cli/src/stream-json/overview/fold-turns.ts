import type { TurnComplete } from '@fleetloom/protocol/stream-json';
import { limits } from '../../base/limits.ts';
import { addEntry } from './entries.ts';
import type { EventOf } from './event-of.ts';
import { durationBetween, type Moment } from './moment.ts';
import type { Agent, Overview, Totals } from './overview.ts';

/** A turn starts; other turns may be open. */
export function startTurn(overview: Overview, event: EventOf<'session_meta'>, at: Moment): void {
  overview.turnsStarted += 1;
  overview.turnStarts.push(at);
  if (overview.turnStarts.length > limits.entriesPerAgentMax) overview.turnStarts.shift();
  if (event.model) overview.model = event.model;
  if (event.sessionId) overview.sessionId = event.sessionId;
  if (event.version) overview.version = event.version;
  if (event.cwd) overview.cwd = event.cwd;
}

/** The oldest open turn has ended. */
export function endTurn(overview: Overview, main: Agent, turn: TurnComplete, at: Moment): void {
  overview.turnsEnded += 1;
  overview.lastTurn = turn;
  const own = turn.mainUsage;
  addTotals(overview.totals, {
    ...turn,
    mainTokens: own && own.inputTokens + own.outputTokens + own.cacheReadTokens + own.cacheCreationTokens,
  });
  main.openRequests.clear();
  addEntry(main, { type: 'turn', turn });
  distrustArrival(overview, overview.turnStarts.shift(), turn, at);
}

const TOTALS = ['costUsd', 'inputTokens', 'outputTokens', 'durationMs', 'mainTokens'] as const;

function addTotals(totals: Totals, turn: { [Field in keyof Totals]: Totals[Field] | undefined }): void {
  for (const field of TOTALS) {
    const value = turn[field];
    if (value !== undefined) totals[field] = (totals[field] ?? 0) + value;
  }
}

/**
 * A piped recording (`cat run.ndjson | …`) looks like a live stream that is faster than its own figures. Arrival times then
 * mean nothing, and no time is better than a wrong one (SPEC C4).
 */
function distrustArrival(overview: Overview, started: Moment | undefined, turn: TurnComplete, at: Moment): void {
  if (overview.timeSource !== 'arrival' || !started || turn.durationMs === undefined) return;
  const seenMs = durationBetween('arrival', started, at);
  if (seenMs !== undefined && seenMs < turn.durationMs / 2 - 20) overview.timeSource = 'line';
}
