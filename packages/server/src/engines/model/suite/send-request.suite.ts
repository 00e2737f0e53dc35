import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll } from 'vitest';
import type { AssistantBlock, Message } from '../../../base/content.ts';
import type { Engine, EngineEvent, EngineFailure, ModelRequest } from '../engine.ts';

export interface TestedEngine {
  readonly engine: Engine;
  /** Closes the resources of the engine. */
  readonly close: () => Promise<void>;
}

/** An engine for models `scripted/…`, whose waits are real. */
export type CreateEngine = () => Promise<TestedEngine>;

/** One engine for all tests of a block. */
export function useEngine(createEngine: CreateEngine): { readonly engine: Engine } {
  let tested: TestedEngine | undefined;
  beforeAll(async () => {
    tested = await createEngine();
  });
  afterAll(async () => {
    await tested?.engine.close();
    await tested?.close();
  });
  return {
    get engine() {
      if (tested === undefined) throw new Error('the engine is there only while tests run');
      return tested.engine;
    },
  };
}

let threads = 0;

/** A request that the model answers with these steps. Each request has its own thread, since attempts are counted by thread. */
export function asking(turn: readonly object[], changes: Partial<ModelRequest> = {}): ModelRequest {
  return askingScript({ turns: [turn] }, changes);
}

export function askingScript(script: object, changes: Partial<ModelRequest> = {}): ModelRequest {
  threads += 1;
  return {
    model: { id: 'scripted/echo', effort: null, speed: 'standard' },
    system: null,
    messages: [said(`<script>${JSON.stringify(script).replaceAll('<', '\\u003c')}</script>`)],
    tools: [],
    thread: { id: `sthr_${threads}`, agentName: 'tester' },
    ...changes,
  };
}

export function said(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** A signal that is never aborted. It has many listeners. */
export const never = new AbortController().signal;
setMaxListeners(0, never);

export async function collect(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const collected: EngineEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

export async function ask(engine: Engine, request: ModelRequest, signal = never): Promise<EngineEvent[]> {
  return await collect(engine.request(request, signal));
}

export type Finished = Extract<EngineEvent, { type: 'finished' }>;

export function finishedOf(events: readonly EngineEvent[]): Finished {
  const last = events.at(-1);
  if (last?.type !== 'finished') throw new Error(`no answer, but ${JSON.stringify(last)}`);
  return last;
}

export function failureOf(events: readonly EngineEvent[]): EngineFailure {
  const last = events.at(-1);
  if (last?.type !== 'failed') throw new Error(`no failure, but ${JSON.stringify(last)}`);
  return last.failure;
}

/** A problem with the order of the events, if there is one. engine.ts defines the order. */
export function findDisorder(events: readonly EngineEvent[]): string | undefined {
  const kinds: string[] = [];
  const texts: string[] = [];
  for (const [at, event] of events.entries()) {
    const isLast = event.type === 'finished' || event.type === 'failed';
    if (isLast !== (at === events.length - 1)) return `event ${at} of ${events.length} is ${event.type}`;
    if (event.type === 'block_started') {
      if (event.index !== kinds.length) return `block ${event.index} began as number ${kinds.length}`;
      kinds.push(event.block);
      texts.push('');
    }
    if (event.type === 'delta') {
      if (event.index !== kinds.length - 1) return `block ${event.index} grew while ${kinds.length - 1} was open`;
      if (event.text === '') return 'an empty delta';
      texts[event.index] += event.text;
    }
    if (event.type === 'finished') return compare(event.content, kinds, texts);
  }
  return events.length === 0 ? 'no event at all' : undefined;
}

function compare(content: readonly AssistantBlock[], kinds: readonly string[], texts: readonly string[]) {
  if (content.length !== kinds.length) return `${kinds.length} blocks began, ${content.length} are in the answer`;
  for (const [at, block] of content.entries()) {
    const kind = block.type === 'redacted_thinking' ? 'thinking' : block.type === 'opaque' ? 'other' : block.type;
    if (kind !== kinds[at]) return `block ${at} began as ${kinds[at]} and is ${block.type}`;
    const text = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : '';
    if (text !== texts[at]) return `block ${at} is not what its deltas add up to`;
  }
  return undefined;
}
