import { cleanLine, plural } from '@fleetloom/protocol/text';
import { isRunning } from '../overview/agent-facts.ts';
import { type Agent, MAIN, type Overview } from '../overview/overview.ts';
import type { Style } from '../../terminal/palette.ts';
import { displayToolName } from './call-summary.ts';

/** The state of an agent as shown: a mark, a colour and a word (SPEC C7). */
export interface AgentState {
  sign: StateSign;
  word: string;
  style: Style;
}

/** The glyph of a state. */
export type StateSign =
  | 'thinking'
  | 'writing'
  | 'tool'
  | 'needsYou'
  | 'waits'
  | 'retry'
  | 'done'
  | 'failed'
  | 'stopped'
  | 'unfinished';

/** The current state of an agent, as sign, word and style. */
export function toAgentState(overview: Overview, agent: Agent): AgentState {
  if (!isRunning(overview, agent)) return endState(overview, agent);
  if (overview.ended) return { sign: 'unfinished', word: 'unfinished', style: 'attention' };
  if (agent.openRequests.size > 0) return { sign: 'needsYou', word: 'needs you', style: 'attention' };
  const { activity } = agent;
  if (activity.type === 'retry') {
    const attempts = activity.attemptsMax === undefined ? '' : `/${activity.attemptsMax}`;
    return { sign: 'retry', word: `retry ${activity.attempt}${attempts}`, style: 'retry' };
  }
  return callState(overview, agent) ?? modelState(overview, agent);
}

function endState(overview: Overview, agent: Agent): AgentState {
  const status = agent.key === MAIN ? (overview.lastTurn?.isError ? 'failed' : 'completed') : agent.status;
  if (status === 'failed') return { sign: 'failed', word: 'failed', style: 'failed' };
  if (status === 'stopped') return { sign: 'stopped', word: 'stopped', style: 'attention' };
  return { sign: 'done', word: 'done', style: 'ok' };
}

function callState(overview: Overview, agent: Agent): AgentState | undefined {
  const open = [...agent.openCalls].map((id) => overview.openCalls.get(id)?.call).filter((call) => call !== undefined);
  const own = open.filter((call) => call.agent === undefined);
  if (open.length === 0) return undefined;
  if (own.length === 0) {
    return { sign: 'waits', word: `waits for ${plural(open.length, 'agent')}`, style: 'waits' };
  }
  const word = own.length === 1 ? cleanLine(displayToolName(own[0]?.name ?? '')) : plural(own.length, 'tool');
  return { sign: 'tool', word, style: 'tool' };
}

function modelState(overview: Overview, agent: Agent): AgentState {
  if (agent.activity.type === 'writing') return { sign: 'writing', word: 'writing', style: 'writing' };
  if (agent.activity.type === 'thinking') return { sign: 'thinking', word: 'thinking', style: 'thinking' };
  const started = agent.first.arrivalMs !== undefined || agent.first.lineMs !== undefined || overview.turnsStarted > 0;
  return { sign: 'thinking', word: started ? 'working' : 'waiting', style: 'thinking' };
}
