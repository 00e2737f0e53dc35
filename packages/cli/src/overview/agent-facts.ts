import { cleanLine } from '../terminal/clean-text.ts';
import { durationBetween } from './moment.ts';
import { type Agent, type CallEntry, MAIN, type Overview } from './overview.ts';

/** What to call an agent: its task, else its type, else its id. One clean line. */
export function nameOf(agent: Agent): string {
  if (agent.key === MAIN) return MAIN;
  return cleanLine(agent.description ?? '') || cleanLine(agent.type ?? '') || cleanLine(agent.key);
}

/** Tokens as the program counts them for a sub-agent: the latest number of each run, added up. */
export function agentTokens(agent: Agent): number | undefined {
  return addKnown([...agent.usageByRun.values()].map((usage) => usage.totalTokens));
}

/** The program's own figures where it gives them, else the time from the agent's first to its last line. */
export function agentDurationMs(overview: Overview, agent: Agent): number | undefined {
  const told =
    agent.key === MAIN
      ? overview.totals.durationMs
      : addKnown([...agent.usageByRun.values()].map((usage) => usage.durationMs));
  return told ?? durationBetween(overview.timeSource, agent.first, agent.last);
}

export function callDurationMs(overview: Overview, call: CallEntry): number | undefined {
  return call.result && durationBetween(overview.timeSource, call.started, call.result.at);
}

/** Still at work, as far as the stream has told. */
export function isRunning(overview: Overview, agent: Agent): boolean {
  if (agent.key !== MAIN) return agent.status === undefined || agent.status === 'running';
  return overview.turnsEnded === 0 || overview.turnsStarted > overview.turnsEnded;
}

function addKnown(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}
