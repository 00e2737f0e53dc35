import {
  type AgentEvent,
  type TaskUsage,
  type ThreadFacts,
  type TurnComplete,
  UNRESOLVED,
} from '@fleetloom/protocol/stream-json';
import { limits } from '../limits.ts';
import { addEntry, dropPlace, moveAgent, placeOf } from './entries.ts';
import { durationBetween, type Moment, markFirst, markLast, parseLineTime } from './moment.ts';
import { type Agent, createAgent, MAIN, type Overview, type TextEntry, type Totals } from './overview.ts';
import { toReport } from './report.ts';

/** Takes one event into the overview. `arrivalMs` is left out for recordings. */
export function foldOverview(overview: Overview, event: AgentEvent, arrivalMs?: number): void {
  const at = toMoment(event, arrivalMs);
  const agent = agentOf(overview, event);
  for (const seen of [overview, agent]) {
    markFirst(seen.first, at);
    markLast(seen.last, at);
  }
  switch (event.type) {
    case 'session_meta':
      return startTurn(overview, event, at);
    case 'thread_start':
    case 'thread_update':
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
      return retract(agent, placeOf(event));
    case 'block_aborted':
      return abort(agent, placeOf(event));
    case 'permission_request':
      agent.openRequests.set(event.requestId, event);
      return;
    case 'permission_withdrawn':
      for (const each of overview.agents.values()) each.openRequests.delete(event.requestId);
      return;
    case 'turn_complete':
      return endTurn(overview, agent, event, at);
    case 'error':
      return addEntry(agent, { type: 'note', kind: 'error', text: cut(event.message) });
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

type Of<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;

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

function startTurn(overview: Overview, event: Of<'session_meta'>, at: Moment): void {
  overview.turnsStarted += 1;
  overview.turnStarts.push(at);
  if (overview.turnStarts.length > limits.entriesPerAgentMax) overview.turnStarts.shift();
  if (event.model) overview.model = event.model;
  if (event.sessionId) overview.sessionId = event.sessionId;
  if (event.version) overview.version = event.version;
  if (event.cwd) overview.cwd = event.cwd;
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

function startRun(agent: Agent, { run, late }: Of<'run_start'>): void {
  agent.runs = run + 1;
  if (late) return;
  agent.status = 'running';
  agent.activity = { type: 'working' };
}

function noteUsage(agent: Agent, usage: TaskUsage | undefined, run: number): void {
  if (usage) agent.usageByRun.set(Math.max(0, run), { ...agent.usageByRun.get(Math.max(0, run)), ...usage });
}

function changeStatus(agent: Agent, event: Of<'thread_status'>): void {
  if (event.late) return;
  agent.status = event.status;
  if (event.error !== undefined) agent.error = cut(event.error);
  if (event.status !== 'running') agent.openRequests.clear();
}

/** Foreground agents print only their calls: then their report is all that is heard of them. */
function report(agent: Agent, summary: string | undefined): void {
  const text = summary === undefined ? undefined : toReport(summary, agent.description);
  if (text === undefined || agent.entries.some((entry) => entry.type === 'text')) return;
  const entry: TextEntry = { type: 'text', place: `report#${agent.runs}`, text: '', omittedChars: 0, aborted: false };
  append(entry, text);
  addEntry(agent, entry);
}

function give(agent: Agent, event: Of<'prompt'>): void {
  // The prompt that starts an agent is told by its description; what the program says by itself is no news.
  if (event.role === 'prompt' || event.role === 'note' || event.role === 'synthetic') return;
  const text = event.media === undefined ? cut(event.content) : '[image]';
  addEntry(agent, { type: 'note', kind: 'given', text });
}

function say(agent: Agent, event: Of<'text_delta'> | Of<'thinking_delta'>): void {
  const type = event.type === 'text_delta' ? 'text' : 'thinking';
  agent.activity = { type: type === 'text' ? 'writing' : 'thinking' };
  agent.openRequests.clear();
  const place = placeOf(event);
  const known = agent.byPlace.get(place);
  if (known && known.type !== 'call') return append(known, event.content);
  const entry: TextEntry = { type, place, text: '', omittedChars: 0, aborted: false };
  if (event.type === 'text_delta' && event.error !== undefined) entry.error = event.error;
  append(entry, event.content);
  agent.blocks += 1;
  addEntry(agent, entry);
}

function append(entry: TextEntry, text: string): void {
  const room = limits.textCharsMax - entry.text.length;
  entry.text += text.length > room ? text.slice(0, room) : text;
  entry.omittedChars += Math.max(0, text.length - room);
}

function call(overview: Overview, agent: Agent, event: Of<'tool_use_start'> | Of<'tool_use'>, at: Moment): void {
  const place = placeOf(event);
  const input = event.type === 'tool_use' ? event.input : undefined;
  const known = agent.byPlace.get(place);
  agent.activity = { type: 'working' };
  if (known?.type === 'call') {
    known.input = input ?? known.input;
    return;
  }
  const spawned = overview.spawnedBy.get(event.toolUseId);
  agent.blocks += 1;
  agent.calls += 1;
  const entry = { type: 'call' as const, place, id: event.toolUseId, name: event.toolName, input, started: at };
  addEntry(agent, entry);
  if (overview.openCalls.size < limits.openCallsMax) {
    overview.openCalls.set(event.toolUseId, { agent, call: entry });
    agent.openCalls.add(event.toolUseId);
  }
  const child = spawned === undefined ? undefined : overview.agents.get(spawned);
  if (child) moveAgent(overview, child, agent.key, event.toolUseId);
}

function answer(overview: Overview, agent: Agent, event: Of<'tool_result'>, at: Moment): void {
  for (const [requestId, request] of agent.openRequests) {
    if (request.toolUseId === event.toolUseId) agent.openRequests.delete(requestId);
  }
  const open = overview.openCalls.get(event.toolUseId);
  if (!open) return;
  overview.openCalls.delete(event.toolUseId);
  open.agent.openCalls.delete(event.toolUseId);
  open.agent.activity = { type: 'working' };
  if (event.isError) open.agent.failedCalls += 1;
  open.call.result = { isError: event.isError, message: event.isError ? cut(event.output) : '', at };
}

function replace(agent: Agent, event: Of<'replace'>): void {
  const entry = agent.byPlace.get(placeOf(event));
  if (entry?.type === 'call') {
    const value = event.value as { input?: unknown } | null;
    entry.input = value?.input ?? entry.input;
  } else if (entry && event.content !== undefined) {
    entry.text = '';
    entry.omittedChars = 0;
    append(entry, event.content);
    if (event.error !== undefined) entry.error = event.error;
  }
}

function retract(agent: Agent, place: string): void {
  const entry = dropPlace(agent, place);
  if (!entry) return;
  agent.blocks -= 1;
  if (entry.type === 'call') agent.calls -= 1;
}

function abort(agent: Agent, place: string): void {
  const entry = agent.byPlace.get(place);
  if (entry && entry.type !== 'call') entry.aborted = true;
}

function endTurn(overview: Overview, main: Agent, turn: TurnComplete, at: Moment): void {
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
 * A recording that is piped in (`cat run.ndjson | …`) looks like a live stream, only faster than it says it was. Then the
 * arrival clock tells nothing, and no time is better than a wrong one (SPEC C4).
 */
function distrustArrival(overview: Overview, started: Moment | undefined, turn: TurnComplete, at: Moment): void {
  if (overview.timeSource !== 'arrival' || !started || turn.durationMs === undefined) return;
  const seenMs = durationBetween('arrival', started, at);
  if (seenMs !== undefined && seenMs < turn.durationMs / 2 - 20) overview.timeSource = 'line';
}

function noteRaw(overview: Overview, agent: Agent, kind: string, value: unknown): void {
  if (kind.startsWith('block/')) agent.blocks += 1;
  const told = value as { attempt?: unknown; max_retries?: unknown; subagent_retry?: Retry } | null;
  if (kind === 'system/api_retry') noteRetry(agent, told ?? {});
  const retry = kind === 'tool_progress' ? told?.subagent_retry : undefined;
  if (retry) noteRetry(overview.agents.get(String(retry.agent_id)) ?? agent, retry);
}

interface Retry {
  agent_id?: unknown;
  attempt?: unknown;
  max_retries?: unknown;
}

function noteRetry(agent: Agent, retry: Retry): void {
  if (typeof retry.attempt !== 'number') return;
  agent.activity = { type: 'retry', attempt: retry.attempt };
  if (typeof retry.max_retries === 'number') agent.activity.attemptsMax = retry.max_retries;
}

function cut(text: string): string {
  return text.length > limits.lineCharsMax ? text.slice(0, limits.lineCharsMax) : text;
}
