import { cutText } from '@fleetloom/protocol/fleet';
import type { AgentEvent } from '@fleetloom/protocol/stream-json';
import { cleanLine, plural } from '@fleetloom/protocol/text';
import { exitCode } from '../../base/exit-code.ts';

/** The outcome of the run in a stream, which decides the exit code. */
export interface Outcome {
  events: number;
  unreadableLines: number;
  /** Beginning of the first unreadable line. */
  unreadableExcerpt?: string;
  openTurns: number;
  /** Undefined while no turn has ended. */
  lastTurnFailed?: boolean;
}

export function createOutcome(): Outcome {
  return { events: 0, unreadableLines: 0, openTurns: 0 };
}

/** Counts an event; the outcome decides the exit code. */
export function foldOutcome(outcome: Outcome, event: AgentEvent): void {
  outcome.events += 1;
  if (event.type === 'session_meta') outcome.openTurns += 1;
  if (event.type === 'turn_complete') {
    outcome.openTurns = Math.max(0, outcome.openTurns - 1);
    outcome.lastTurnFailed = event.isError;
  }
  if (event.type === 'unreadable') {
    outcome.unreadableLines += 1;
    if (event.issue.type === 'malformed') outcome.unreadableExcerpt ??= event.issue.excerpt;
  }
}

/** 0 if every line was readable, every turn ended, and the last turn had no error (SPEC C8). */
export function toExitCode(outcome: Outcome): number {
  const good = outcome.unreadableLines === 0 && outcome.openTurns === 0 && outcome.lastTurnFailed === false;
  return good ? exitCode.ok : exitCode.failed;
}

/** A message about a problem of the stream and its fix; undefined if there is no problem. */
export function explainOutcome(outcome: Outcome): string | undefined {
  if (outcome.events === 0) return `The input was empty. ${RECORD}`;
  if (outcome.events === outcome.unreadableLines) {
    return `No line of the input is stream-json; the first begins with "${cutText(cleanLine(outcome.unreadableExcerpt ?? ''), 60)}". ${RECORD}`;
  }
  if (outcome.unreadableLines > 0) {
    return `${plural(outcome.unreadableLines, 'line')} could not be read; "fleetloom translate --json" shows where, as "unreadable" events.`;
  }
  if (outcome.openTurns > 0 || outcome.lastTurnFailed === undefined) {
    return 'The stream ends without a result: Claude Code was stopped, or is still writing.';
  }
  return undefined;
}

const RECORD = 'Record a stream with: claude -p "…" --output-format stream-json --verbose';
