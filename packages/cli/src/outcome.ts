import { cutText } from '@fleetloom/protocol/fleet';
import type { AgentEvent } from '@fleetloom/protocol/stream-json';
import { exitCode } from './exit-code.ts';
import { cleanLine } from './terminal/clean-text.ts';
import { formatPlural } from './terminal/format.ts';

/** How the run that was read went: what the exit code depends on. */
export interface Outcome {
  events: number;
  unreadableLines: number;
  /** Beginning of the first line that could not be read. */
  unreadableExcerpt?: string;
  openTurns: number;
  /** Undefined while no turn has ended. */
  lastTurnFailed?: boolean;
}

export function createOutcome(): Outcome {
  return { events: 0, unreadableLines: 0, openTurns: 0 };
}

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

/** A run counts as good when every line was readable, every turn ended, and the last one without an error (SPEC C8). */
export function toExitCode(outcome: Outcome): number {
  const good = outcome.unreadableLines === 0 && outcome.openTurns === 0 && outcome.lastTurnFailed === false;
  return good ? exitCode.ok : exitCode.failed;
}

/** What to tell somebody whose run was not read well, and what to do about it. Undefined where all is well. */
export function explainOutcome(outcome: Outcome): string | undefined {
  if (outcome.events === 0) return `The input was empty. ${RECORD}`;
  if (outcome.events === outcome.unreadableLines) {
    return `No line of the input is stream-json; the first begins with "${cutText(cleanLine(outcome.unreadableExcerpt ?? ''), 60)}". ${RECORD}`;
  }
  if (outcome.unreadableLines > 0) {
    return `${formatPlural(outcome.unreadableLines, 'line')} could not be read; "fleetloom translate --json" shows where, as "unreadable" events.`;
  }
  if (outcome.openTurns > 0 || outcome.lastTurnFailed === undefined) {
    return 'The stream ends without a result: the program was stopped or cut off, or is still writing.';
  }
  return undefined;
}

const RECORD = 'Let the program write it: claude -p "…" --output-format stream-json --verbose';
