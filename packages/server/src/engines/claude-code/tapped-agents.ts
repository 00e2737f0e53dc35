import { limits } from '../../base/limits.ts';
import type { ProgramEvent } from '../program.ts';
import type { GrowingBlocks } from './blocks.ts';
import type { GatewayEvent } from './gateway/events.ts';
import type { Requests } from './requests.ts';

interface TappedBlock {
  readonly name: string;
  readonly kind: 'text' | 'thinking' | 'call';
  text: string;
  /** Somebody could not follow: nothing more of it is told before it is whole. */
  isCut: boolean;
  /** Its line has come, or none will. */
  isSettled: boolean;
}

interface TappedMessage {
  readonly id: string;
  /** By their index. */
  readonly blocks: Map<number, TappedBlock>;
  isFinished: boolean;
}

interface TappedAgent {
  /** What cannot be told yet. */
  held: GatewayEvent[];
  message: TappedMessage | null;
  /** Calls whose results have not been told. */
  readonly calls: Set<string>;
}

/**
 * What the gateway sees of sub-agents, whose lines come only when a block is whole. The gateway is ahead of the lines: what
 * it sees waits until the agent is known and the results of the calls before have been told, so that everything has its
 * order. In return it knows when a request is over, which no line says.
 */
export class TappedAgents {
  readonly #blocks: GrowingBlocks;
  readonly #requests: Requests;
  readonly #agents = new Map<string, TappedAgent>();

  constructor(blocks: GrowingBlocks, requests: Requests) {
    this.#blocks = blocks;
    this.#requests = requests;
  }

  take(key: string, event: GatewayEvent, state: TapState): ProgramEvent[] {
    const agent = this.#agents.get(key) ?? { held: [], message: null, calls: new Set<string>() };
    this.#agents.set(key, agent);
    agent.held.push(event);
    // Whoever is too far behind is told block by block.
    if (agent.held.length > limits.programTappedEventsMax) agent.held = [];
    return this.#release(key, agent, state);
  }

  /** Lines have come: what waited for them may be told now. */
  release(key: string, state: TapState): ProgramEvent[] {
    const agent = this.#agents.get(key);
    return agent === undefined ? [] : this.#release(key, agent, state);
  }

  /** The call has a result. */
  returned(key: string, callId: string): void {
    this.#agents.get(key)?.calls.delete(callId);
  }

  /** The block that a whole line is of, if it was seen to grow. */
  settle(key: string, messageId: string | undefined, kind: 'text' | 'thinking'): string | undefined {
    const message = this.#agents.get(key)?.message;
    if (message?.id !== messageId) return undefined;
    const block = [...(message?.blocks.values() ?? [])].find((each) => each.kind === kind && !each.isSettled);
    if (block !== undefined) block.isSettled = true;
    return block?.name;
  }

  /** The line of a call has come, or the program asks whether it may run. */
  settleCall(key: string, callId: string): void {
    const blocks = this.#agents.get(key)?.message?.blocks.values() ?? [];
    for (const block of blocks) if (block.kind === 'call' && block.name === callId) block.isSettled = true;
  }

  /** Whether lines or the endpoint have yet to tell something of its request. */
  isAnswering(key: string): boolean {
    const message = this.#agents.get(key)?.message ?? null;
    return message !== null && !isWhole(message) && this.#requests.messageOf(key) === message.id;
  }

  forget(key: string): void {
    this.#agents.delete(key);
  }

  #release(key: string, agent: TappedAgent, state: TapState): ProgramEvent[] {
    const told: ProgramEvent[] = [];
    while (agent.held.length > 0 && state.isOpened) {
      const next = agent.held[0]!;
      if (next.messageId !== (agent.message?.id ?? null) && agent.calls.size > 0) break;
      agent.held.shift();
      for (const event of this.#tell(key, agent, next, state)) told.push(event);
    }
    const { message } = agent;
    if (message !== null && isWhole(message) && this.#requests.messageOf(key) === message.id) {
      told.push(...this.#requests.end(key));
    }
    return told;
  }

  #tell(key: string, agent: TappedAgent, { event, messageId, model }: GatewayEvent, state: TapState): ProgramEvent[] {
    if (messageId === null) return [];
    if (event.type === 'begun') {
      agent.message = { id: messageId, blocks: new Map(), isFinished: false };
      return this.#requests.begin(key, { messageId, model: model ?? 'unknown', usage: event.usage });
    }
    const { message } = agent;
    if (message?.id !== messageId) return [];
    if (event.type === 'usage') this.#requests.tell(key, messageId, event.usage, event.stopReason);
    else if (event.type === 'block_started') startBlock(agent, message, event);
    else if (event.type === 'delta') return this.#grow(key, message.blocks.get(event.index), event.text, state);
    else if (event.type === 'block_stopped') stopBlock(message.blocks.get(event.index));
    else if (event.type === 'finished') message.isFinished = true;
    // What broke off has no lines that could be waited for.
    else if (event.type === 'failed') agent.message = null;
    return [];
  }

  #grow(key: string, block: TappedBlock | undefined, text: string, { isFull }: TapState): ProgramEvent[] {
    if (block === undefined || block.kind === 'call') return [];
    block.text += text;
    // A prefix is true, and a text with a hole is not.
    block.isCut ||= isFull;
    if (block.isSettled || block.isCut || text === '') return [];
    return this.#blocks.grow(key, block.name, block.kind, text);
  }
}

export interface TapState {
  /** Its thread has been told of. */
  readonly isOpened: boolean;
  /** Nobody can follow at the moment. */
  readonly isFull: boolean;
}

function startBlock(
  agent: TappedAgent,
  message: TappedMessage,
  { index, block: kind, call }: Extract<GatewayEvent['event'], { type: 'block_started' }>,
): void {
  const state = { text: '', isCut: false, isSettled: false };
  if (call !== null) {
    agent.calls.add(call.id);
    message.blocks.set(index, { name: call.id, kind: 'call', ...state });
  } else if (kind === 'text' || kind === 'thinking') {
    message.blocks.set(index, { name: `${message.id} #${index}`, kind, ...state });
  }
}

/** A block without words gets no line. */
function stopBlock(block: TappedBlock | undefined): void {
  if (block?.kind === 'text' && block.text.trim() === '') block.isSettled = true;
}

function isWhole({ isFinished, blocks }: TappedMessage): boolean {
  return isFinished && [...blocks.values()].every(({ isSettled }) => isSettled);
}
