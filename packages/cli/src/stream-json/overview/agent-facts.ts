import { cleanLine } from '@fleetloom/protocol/text';
import { durationBetween } from './moment.ts';
import { type Agent, type CallEntry, MAIN, type Overview } from './overview.ts';

/** The display name of an agent: its task, else its type, else its id, as one clean line. */
export function nameOf(agent: Agent): string {
  if (agent.key === MAIN) return MAIN;
  return cleanLine(agent.description ?? '') || cleanLine(agent.type ?? '') || cleanLine(agent.key);
}

/** Tokens that Claude Code reports for a sub-agent: the latest figure of each run, added up. */
export function agentTokens(agent: Agent): number | undefined {
  return addKnown([...agent.usageByRun.values()].map((usage) => usage.totalTokens));
}

/** The duration that Claude Code reports, else the time from the first to the last line of the agent. */
export function agentDurationMs(overview: Overview, agent: Agent): number | undefined {
  const reported =
    agent.key === MAIN
      ? overview.totals.durationMs
      : addKnown([...agent.usageByRun.values()].map((usage) => usage.durationMs));
  return reported ?? durationBetween(overview.timeSource, agent.first, agent.last);
}

export function callDurationMs(overview: Overview, call: CallEntry): number | undefined {
  return call.result && durationBetween(overview.timeSource, call.started, call.result.at);
}

/** Running, according to the stream so far. */
export function isRunning(overview: Overview, agent: Agent): boolean {
  if (agent.key !== MAIN) return agent.status === undefined || agent.status === 'running';
  return overview.turnsEnded === 0 || overview.turnsStarted > overview.turnsEnded;
}

function addKnown(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}
