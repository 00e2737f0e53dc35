import type { StreamJsonMessage, WireBlock } from '@fleetloom/protocol/stream-json';
import type { RandomText } from '../../../../../../../bench/random-text.ts';
import type { AnswerEvent, GatewayEvent } from '../../gateway/events.ts';
import { noUsage } from '../translate/usage.ts';

/** One step of a program, on the channel on which the server sees it. */
export type SimulatedStep =
  | { readonly channel: 'gateway'; readonly event: GatewayEvent }
  | { readonly channel: 'stdout'; readonly line: StreamJsonMessage };

export interface SimulatedRun {
  /** The steps in the order of the program. The server may see the lines later. */
  readonly steps: readonly SimulatedStep[];
  readonly agents: readonly SimulatedAgent[];
}

export interface SimulationOptions {
  /** The lines of sub-agents have the id of the agent, as in 2.1.325, and not only the id of the call that started it. */
  readonly hasAgentIds: boolean;
  /** Responses contain texts of white space, which only the gateway sees. */
  readonly hasWhiteSpace: boolean;
}

/** A random run of a program: up to eight sub-agents with up to four responses of up to six blocks each. */
export function simulateProgram(random: RandomText, options: SimulationOptions): SimulatedRun {
  const agents = Array.from({ length: random.pick([1, 2, 3, 8]) }, (_, at) => createAgent(random, at, options));
  const steps: SimulatedStep[] = [stdout({ type: 'system', subtype: 'init', session_id: 's', model: 'm' })];
  for (const { callId, id } of agents) {
    const input = { description: id, prompt: id, subagent_type: 'worker' };
    steps.push(stdout(assistant(null, 'msg_main', { type: 'tool_use', id: callId, name: 'Agent', input })));
    const task = { task_id: id, tool_use_id: callId, task_type: 'local_agent', description: id, prompt: id };
    steps.push(stdout({ type: 'system', subtype: 'task_started', ...task }));
  }
  const rest = agents.map((agent) => [...agent.steps]);
  while (rest.some((own) => own.length > 0)) {
    const own = random.pick(rest.filter((each) => each.length > 0));
    steps.push(...own.splice(0, 1 + random.below(6)));
  }
  return { steps, agents };
}

export interface SimulatedAgent {
  readonly id: string;
  readonly callId: string;
  readonly steps: SimulatedStep[];
  /** The content of the agent's transcript in order: texts, thinking, opaque blocks, calls. */
  readonly said: string[];
  /** Every response was streamed. Without a stream the gateway cannot know that lines of a response are still to come. */
  isStreamed: boolean;
}

function createAgent(random: RandomText, at: number, options: SimulationOptions): SimulatedAgent {
  const [id, callId] = [`agent_${at}`, `toolu_spawn_${at}`];
  const agent: SimulatedAgent = { id, callId, steps: [], said: [], isStreamed: true };
  const ids = options.hasAgentIds ? { agent_id: id } : {};
  const print = (line: StreamJsonMessage) => void agent.steps.push(stdout({ ...line, ...ids }));
  const answers = 1 + random.below(4);
  for (let number = 0; number < answers; number++) {
    answer(random, agent, print, options, `msg_${at}_${number}`, number === answers - 1);
  }
  const end = { task_id: id, tool_use_id: callId, status: 'completed' };
  agent.steps.push(stdout({ type: 'system', subtype: 'task_notification', ...end, summary: '' }));
  return agent;
}

/** One model request, its response, which may break off in a text, and the results of its calls. */
function answer(
  random: RandomText,
  agent: SimulatedAgent,
  print: (line: StreamJsonMessage) => void,
  { hasWhiteSpace }: SimulationOptions,
  messageId: string,
  isLast: boolean,
): void {
  const { id, callId, steps, said } = agent;
  const see = (event: AnswerEvent) => void steps.push({ channel: 'gateway', event: toGateway(id, messageId, event) });
  const results: (() => void)[] = [];
  see({ type: 'requested' });
  // The content of a response without a stream is only in the lines.
  const isStreamed = random.next() > 0.05;
  agent.isStreamed &&= isStreamed;
  if (isStreamed) see({ type: 'begun', usage: noUsage });
  let isBroken = isStreamed && !isLast && random.next() < 0.1;
  const count = 1 + random.below(6);
  for (let index = 0; index < count; index++) {
    const kind = random.pick(isLast ? SAID : ([...SAID, 'call', 'call'] as const));
    const toolId = `toolu_${messageId}_${index}`;
    const text = kind === 'blank' && !(hasWhiteSpace && isStreamed) ? '' : toText(random, kind);
    const isCut = isBroken && index === count - 1 && (kind === 'text' || kind === 'thinking');
    if (index === count - 1) isBroken = isCut;
    const block = kind === 'call' ? 'tool_use' : kind === 'redacted' ? 'other' : kind === 'thinking' ? kind : 'text';
    const call = kind === 'call' ? { id: toolId, name: 'Bash' } : null;
    if (isStreamed) see({ type: 'block_started', index, block, call });
    for (const piece of isStreamed ? cut(random, text) : []) see({ type: 'delta', index, text: piece });
    if (isCut) see(BROKEN);
    else if (isStreamed) see({ type: 'block_stopped', index });
    if (kind === 'blank') {
      if (text !== '') said.push(`text ${text}`);
      continue;
    }
    print(assistant(callId, messageId, toWire(kind, text, toolId)));
    said.push(`${kind} ${kind === 'call' ? toolId : text}`);
    const content = [{ type: 'tool_result', tool_use_id: toolId, content: 'ok', is_error: false }];
    const giveResult = () => print({ type: 'user', parent_tool_use_id: callId, message: { role: 'user', content } });
    if (kind !== 'call') continue;
    // A tool may end before the response does.
    if (random.next() < 0.2) giveResult();
    else results.push(giveResult);
  }
  if (isStreamed && !isBroken) see({ type: 'usage', usage: { ...noUsage, outputTokens: 1 }, stopReason: 'end_turn' });
  if (!isBroken) see({ type: 'finished' });
  for (const giveResult of results) giveResult();
}

const BROKEN: AnswerEvent = { type: 'failed', failure: { reason: 'broken', status: null, message: 'broken' } };
const SAID = ['text', 'text', 'thinking', 'redacted', 'blank'] as const;
type Kind = (typeof SAID)[number] | 'call';

function toText(random: RandomText, kind: Kind): string {
  if (kind === 'blank') return random.pick(['', ' ', '\n\n', ' \t\n ']);
  if (kind === 'redacted') return 'data';
  // Equal texts, and texts that begin alike, must not be taken for each other.
  if (random.next() < 0.4) return random.pick(['One', 'One two', 'One two three', ' One', 'One\n']);
  return random.prose(1 + random.below(200), 0.3).trimStart() || 'x';
}

/** Splits a text into pieces of one character up to the whole text. A character is never cut in two. */
function cut(random: RandomText, text: string): string[] {
  const characters = Array.from(text);
  const size = random.pick([1, 2, 7, 50, Infinity]);
  const pieces: string[] = [];
  while (characters.length > 0) pieces.push(characters.splice(0, size).join(''));
  return pieces;
}

function toWire(kind: Kind, text: string, toolId: string): WireBlock {
  if (kind === 'call') return { type: 'tool_use', id: toolId, name: 'Bash', input: { command: 'true' } };
  if (kind === 'redacted') return { type: 'redacted_thinking', data: text };
  return kind === 'thinking' ? { type: 'thinking', thinking: text, signature: 's' } : { type: 'text', text };
}

let lines = 0;

function assistant(parent: string | null, id: string, block: WireBlock): StreamJsonMessage {
  const message = { id, model: 'm', role: 'assistant', content: [block], usage: {} };
  return { type: 'assistant', parent_tool_use_id: parent, uuid: `line_${++lines}`, message };
}

function stdout(line: StreamJsonMessage): SimulatedStep {
  return { channel: 'stdout', line };
}

function toGateway(agentId: string, messageId: string, event: AnswerEvent): GatewayEvent {
  const isBegun = event.type !== 'requested';
  return {
    sessionId: 's',
    agentId,
    parentAgentId: null,
    requestId: `request ${messageId}`,
    messageId: isBegun ? messageId : null,
    model: 'm',
    event,
  };
}
