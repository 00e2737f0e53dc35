import { type AgentEvent, type TaskUsage, type ThreadFacts, UNRESOLVED } from '@fleetloom/protocol/stream-json';
import { limits } from '../../base/limits.ts';
import { cutLine } from './cut-line.ts';
import { addEntry, moveAgent, placeOf } from './entries.ts';
import type { EventOf } from './event-of.ts';
import { answer, call } from './fold-calls.ts';
import { abort, replace, retract } from './fold-changes.ts';
import { noteRaw } from './fold-raw.ts';
import { give, report, say } from './fold-texts.ts';
import { endTurn, startTurn } from './fold-turns.ts';
import { mergeAgents } from './merge-agents.ts';
import { isFromAnotherTime, type Moment, markFirst, markLast, parseLineTime } from './moment.ts';
import { type Agent, createAgent, MAIN, type Overview } from './overview.ts';

/** Adds one event to the overview. `arrivalMs` is undefined for recordings. */
export function foldOverview(overview: Overview, event: AgentEvent, arrivalMs?: number): void {
  const at = toMoment(event, arrivalMs);
  const agent = agentOf(overview, event);
  if (isFromAnotherTime(at)) overview.timeSource = 'line';
  for (const seen of [overview, agent]) {
    markFirst(seen.first, at);
    markLast(seen.last, at);
  }
  switch (event.type) {
    case 'session_meta':
      return startTurn(overview, event, at);
    case 'thread_start':
      return learn(overview, agent, event, event.depth);
    case 'thread_update':
      if (event.sameAs !== undefined) return mergeAgents(overview, agent, event.sameAs);
      return learn(overview, agent, event, event.depth);
    case 'run_start':
      return startRun(agent, event);
    case 'thread_progress':
      return noteUsage(agent, event.usage, event.late ? agent.runs - 2 : agent.runs - 1);
    case 'thread_status':
      return changeStatus(agent, event);
    case 'thread_report':
      noteUsage(agent, event.usage, event.run ?? agent.runs - 1);
      return report(agent, event.summary);
    case 'prompt':
      return give(agent, event);
    case 'text_delta':
    case 'thinking_delta':
      return say(agent, event);
    case 'tool_use_start':
    case 'tool_use':
      return call(overview, agent, event, at);
    case 'tool_result':
      return answer(overview, agent, event, at);
    case 'replace':
      return replace(agent, event);
    case 'retract':
      return retract(overview, agent, placeOf(event));
    case 'block_aborted':
      return abort(agent, placeOf(event));
    case 'permission_request':
      if (agent.openRequests.size < limits.openRequestsMax) agent.openRequests.set(event.requestId, event);
      return;
    case 'permission_withdrawn':
      for (const each of overview.agents.values()) each.openRequests.delete(event.requestId);
      return;
    case 'turn_complete':
      return endTurn(overview, agent, event, at);
    case 'error':
      return addEntry(agent, { type: 'note', kind: 'error', text: cutLine(event.message) });
    case 'gap':
      overview.missingResults += Math.max(1, event.got - event.expected);
      return;
    case 'raw':
      return noteRaw(overview, agent, event.kind, event.value);
    case 'unreadable':
      overview.unreadableLines += 1;
      return;
    case 'tool_input_delta':
      return;
  }
}

function toMoment(event: AgentEvent, arrivalMs: number | undefined): Moment {
  const lineMs = parseLineTime(event.ts);
  return { ...(arrivalMs !== undefined && { arrivalMs }), ...(lineMs !== undefined && { lineMs }) };
}

function agentOf(overview: Overview, event: AgentEvent): Agent {
  const known = overview.agents.get(event.thread);
  if (known) return known;
  const agent = createAgent(event.thread, MAIN, event.depth);
  agent.status = 'running';
  overview.agents.set(event.thread, agent);
  moveAgent(overview, agent, MAIN);
  return agent;
}

function learn(overview: Overview, agent: Agent, facts: Partial<ThreadFacts>, depth: number): void {
  agent.depth = depth;
  if (facts.agentType !== undefined) agent.type = facts.agentType;
  if (facts.description !== undefined) agent.description = facts.description;
  if (facts.background !== undefined) agent.background = facts.background;
  if (facts.toolUseId !== undefined) overview.spawnedBy.set(facts.toolUseId, agent.key);
  const parent = facts.parent === undefined || facts.parent === UNRESOLVED ? agent.parent : facts.parent;
  moveAgent(overview, agent, parent ?? MAIN, facts.toolUseId);
}

function startRun(agent: Agent, { run, late }: EventOf<'run_start'>): void {
  agent.runs = run + 1;
  if (late) return;
  agent.status = 'running';
  agent.activity = { type: 'working' };
}

function noteUsage(agent: Agent, usage: TaskUsage | undefined, run: number): void {
  if (usage) agent.usageByRun.set(Math.max(0, run), { ...agent.usageByRun.get(Math.max(0, run)), ...usage });
}

function changeStatus(agent: Agent, event: EventOf<'thread_status'>): void {
  if (event.late) return;
  agent.status = event.status;
  if (event.error !== undefined) agent.error = cutLine(event.error);
  if (event.status !== 'running') agent.openRequests.clear();
}
