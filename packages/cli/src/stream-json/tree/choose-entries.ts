import type { TurnComplete } from '@fleetloom/protocol/stream-json';
import { cleanLine, plural } from '@fleetloom/protocol/text';
import { isRunning } from '../overview/agent-facts.ts';
import {
  type Agent,
  type CallEntry,
  type Entry,
  MAIN,
  type OpenRequest,
  type Overview,
  type TextEntry,
} from '../overview/overview.ts';
import { toAgentState } from './agent-state.ts';
import type { DrawnText } from './draw-text.ts';
import type { Drawing } from './drawing.ts';

/** The entries drawn below an agent. */
export type Chosen =
  | { type: 'agent'; agent: Agent }
  /** A call; `asks` if it waits for an approval. */
  | { type: 'call'; call: CallEntry; asks: boolean }
  | { type: 'turn'; turn: TurnComplete }
  | ({ type: 'text' } & DrawnText)
  | { type: 'request'; request: OpenRequest }
  | { type: 'failure'; says: string }
  | { type: 'counted'; says: string };

/** The newest entries of an agent that the detail level allows, in order; the others are counted. */
export function chooseEntries(overview: Overview, drawing: Drawing, agent: Agent): Chosen[] {
  const choice = createChoice(overview, drawing, agent);
  const chosen: Chosen[] = [];
  // Runs for every agent and redraw: without agents below, older entries need not be visited.
  const oldest = agent.hasAgents ? 0 : Math.max(0, agent.entries.length - choice.entriesLookedAt);
  for (let index = agent.entries.length - 1; index >= oldest; index -= 1) {
    const one = choose(overview, drawing, agent, agent.entries[index] as Entry, choice);
    if (one) chosen.push(one);
  }
  const earlier = agent.calls - choice.callsSeen;
  if (earlier > 0 && choice.countsCalls) {
    chosen.push({ type: 'counted', says: countCalls(earlier, agent.failedCalls - choice.failedCallsSeen) });
  }
  chosen.reverse();
  if (choice.agentsHidden.length > 0)
    chosen.push({ type: 'counted', says: countAgents(overview, choice.agentsHidden) });
  for (const request of choice.requests.values()) chosen.push({ type: 'request', request });
  if (agent.status === 'failed' && agent.error) chosen.push({ type: 'failure', says: cleanLine(agent.error) });
  return chosen;
}

/** How many entries of each type may still be chosen, and the counts of omitted entries. */
interface Choice {
  calls: number;
  texts: number;
  thoughts: number;
  turns: number;
  notes: number;
  /** With only one or two calls drawn, a row that counts the others is omitted. */
  countsCalls: boolean;
  /** Whether the next text is the newest text. */
  newestText: boolean;
  /** The text being written. */
  beingWritten: Entry | undefined;
  /** Questions to the user without a known call; 2.1.197 asks before it reports the call. */
  requests: Map<string, OpenRequest>;
  entriesLookedAt: number;
  /** Calls that are drawn, or whose agent is drawn. */
  callsSeen: number;
  failedCallsSeen: number;
  agentsHidden: Agent[];
}

function createChoice(overview: Overview, { detail }: Drawing, agent: Agent): Choice {
  const running = isRunning(overview, agent) && !overview.ended;
  const calls = detail.calls[running ? 0 : 1];
  const texts = detail.texts[running ? 0 : 1];
  const writes = running && (agent.activity.type === 'writing' || agent.activity.type === 'thinking');
  return {
    calls,
    texts: agent.key === MAIN ? Math.max(1, texts) : texts,
    thoughts: detail.thoughts,
    turns: detail.turns,
    notes: texts,
    countsCalls: calls > 2,
    newestText: true,
    beingWritten: writes
      ? agent.entries.findLast((entry) => entry.type === 'text' || entry.type === 'thinking')
      : undefined,
    requests: new Map([...agent.openRequests].map(([id, request]) => [request.toolUseId ?? id, request])),
    entriesLookedAt: 4 * (calls + texts + detail.thoughts) + ENTRIES_LOOKED_AT_MIN,
    callsSeen: 0,
    failedCallsSeen: 0,
    agentsHidden: [],
  };
}

const ENTRIES_LOOKED_AT_MIN = 20;

function choose(overview: Overview, drawing: Drawing, agent: Agent, entry: Entry, choice: Choice): Chosen | undefined {
  switch (entry.type) {
    case 'agent':
    case 'call': {
      const child = entry.agent === undefined ? undefined : overview.agents.get(entry.agent);
      if (child) {
        if (entry.type === 'call') seeCall(entry, choice);
        return chooseAgent(overview, drawing, child, choice);
      }
      return entry.type === 'call' ? chooseCall(entry, choice) : undefined;
    }
    case 'text':
      return chooseText(drawing, agent, entry, choice);
    case 'thinking':
      return isBlank(entry) || choice.thoughts-- <= 0 ? undefined : drawn(entry, drawing.detail.textLines, choice);
    case 'turn':
      return choice.turns-- <= 0 ? undefined : { type: 'turn', turn: entry.turn };
    case 'note':
      if (entry.kind === 'error') return { type: 'failure', says: cleanLine(entry.text) };
      return choice.notes-- <= 0 ? undefined : given(drawing, entry.text);
  }
}

function chooseAgent(overview: Overview, { detail, only }: Drawing, child: Agent, choice: Choice): Chosen | undefined {
  const hidden = only ? !only.has(child.key) : detail.countEnded && toAgentState(overview, child).sign === 'done';
  if (!hidden) return { type: 'agent', agent: child };
  choice.agentsHidden.push(child);
  return undefined;
}

function chooseCall(call: CallEntry, choice: Choice): Chosen | undefined {
  const asks = choice.requests.delete(call.id);
  if (!asks && choice.calls-- <= 0) return undefined;
  seeCall(call, choice);
  return { type: 'call', call, asks };
}

function seeCall(call: CallEntry, choice: Choice): void {
  choice.callsSeen += 1;
  if (call.result?.isError) choice.failedCallsSeen += 1;
}

function chooseText({ detail }: Drawing, agent: Agent, entry: TextEntry, choice: Choice): Chosen | undefined {
  if (isBlank(entry) || choice.texts-- <= 0) return undefined;
  const isAnswer = agent.key === MAIN && choice.newestText;
  choice.newestText = false;
  return drawn(entry, isAnswer ? detail.answerLines : detail.textLines, choice);
}

function isBlank(entry: TextEntry): boolean {
  return !/\S/.test(entry.text);
}

function drawn(entry: TextEntry, lines: number, choice: Choice): Chosen {
  return { type: 'text', entry, lines, tail: entry === choice.beingWritten };
}

function given({ detail }: Drawing, text: string): Chosen {
  const entry = { type: 'text' as const, text, omittedChars: 0, aborted: false };
  return { type: 'text', entry, lines: detail.textLines, tail: false, given: true };
}

/** `12 earlier calls, 1 failed`. */
function countCalls(calls: number, failed: number): string {
  return `${plural(calls, 'earlier call')}${failed > 0 ? `, ${failed} failed` : ''}`;
}

/** `12 more agents: 9 done, 3 running`. */
function countAgents(overview: Overview, agents: readonly Agent[]): string {
  const words = new Map<string, number>();
  for (const agent of agents) {
    const word = isRunning(overview, agent) ? 'running' : toAgentState(overview, agent).word;
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  const parts = [...words].map(([word, count]) => `${count} ${word}`);
  return `${plural(agents.length, 'more agent')}: ${parts.join(', ')}`;
}
