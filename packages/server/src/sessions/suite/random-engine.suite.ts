import type { RandomText } from '../../../../../bench/random-text.ts';
import type { AssistantBlock, ToolUseBlock } from '../../base/content.ts';
import type { Json, JsonObject } from '../../base/json/json.ts';
import type { Engine, EngineEvent, EngineFailure, ModelRequest, Stop, Usage } from '../../engines/model/engine.ts';
import { findHistoryProblems } from './check-history.suite.ts';

/** What the random engine needs. */
export interface RandomEngineOptions {
  readonly random: RandomText;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Of all calls. After so many requests it only talks, so that every run comes to an end. */
  readonly requestsMax: number;
  /** Out of a hundred requests. */
  readonly failures: number;
  /** Numbers every call of a tool, so that a tool knows for which one it runs. */
  readonly nextCall: () => number;
  readonly onProblem: (problem: string) => void;
}

/** A model that does whatever a model may do, at random: it talks, thinks, calls, delegates, refuses and breaks. */
export function createRandomEngine(options: RandomEngineOptions): Engine {
  const { random, requestsMax, onProblem } = options;
  let requests = 0;
  return {
    request: (request, signal) => {
      requests++;
      for (const problem of findHistoryProblems(request.messages)) onProblem(`${request.thread.id}: ${problem}`);
      return play(options, toPlan(options, request, requests > requestsMax), signal);
    },
    close: async () => void random,
  };
}

interface Plan {
  readonly content: readonly AssistantBlock[];
  /** How far it gets, in blocks, before it fails; undefined: it does not. */
  readonly failure: { readonly after: number; readonly what: EngineFailure | 'no last word' } | undefined;
  readonly stop: Stop;
  readonly usage: Usage;
}

function toPlan(options: RandomEngineOptions, request: ModelRequest, isTired: boolean): Plan {
  const { random } = options;
  const usage = {
    inputTokens: random.below(500),
    outputTokens: random.below(200),
    cacheReadTokens: random.below(100),
    cacheWrite5mTokens: random.below(50),
    cacheWrite1hTokens: random.below(50),
  };
  const content = toContent(options, request, isTired);
  const calls = content.filter(({ type }) => type === 'tool_use').length;
  const isFailing = !isTired && random.below(100) < options.failures;
  const failure = isFailing ? { after: random.below(content.length + 1), what: toFailure(random) } : undefined;
  return { content, failure, stop: toStop(random, calls, isTired), usage };
}

function toContent(
  { random, nextCall }: RandomEngineOptions,
  request: ModelRequest,
  isTired: boolean,
): AssistantBlock[] {
  const blocks: AssistantBlock[] = [];
  if (random.below(4) === 0)
    blocks.push({ type: 'thinking', thinking: random.prose(random.below(60)), signature: 'sig' });
  if (random.below(20) === 0) blocks.push({ type: 'redacted_thinking', data: 'sealed' });
  if (random.below(20) === 0) blocks.push({ type: 'opaque', raw: { type: 'news', text: 'unknown' } });
  if (isTired || random.below(10) < 7) blocks.push({ type: 'text', text: random.prose(random.below(120), 0.2) });
  const calls = isTired || random.below(10) < 4 ? 0 : 1 + random.below(3);
  for (let at = 0; at < calls; at++) {
    const { name, input } = toCall(random, request, nextCall);
    // Threads use the same names for their calls: only within one history they differ.
    blocks.push({ type: 'tool_use', id: `toolu_${request.messages.length}_${at}`, name, input });
    if (random.below(6) === 0) blocks.push({ type: 'text', text: random.prose(20) });
  }
  return blocks;
}

/** Tools that the random toolbox has, and two that it does not. */
const toolNames = [
  'quick',
  'slow',
  'stubborn',
  'broken',
  'failing',
  'asking',
  'asking',
  'remote',
  'remote_asking',
  'custom',
];

function toCall(
  random: RandomText,
  request: ModelRequest,
  nextCall: () => number,
): Pick<ToolUseBlock, 'name' | 'input'> {
  const canDelegate = request.tools.some(({ name }) => name === 'delegate');
  if (canDelegate ? random.below(10) < 7 : random.below(30) === 0) return toDelegation(random, request);
  const name = random.below(15) === 0 ? random.pick(['disabled', 'nonsense']) : random.pick(toolNames);
  return { name, input: { n: nextCall() } };
}

function toDelegation(random: RandomText, { messages }: ModelRequest): { name: string; input: Json } {
  const choice = random.below(12);
  if (choice === 0) return { name: 'list_agents', input: {} };
  if (choice === 1)
    return { name: random.pick(['send_to_agent', 'delegate']), input: random.pick<JsonObject>(badInputs) };
  const threads = [...new Set(JSON.stringify(messages).match(/sthr_[0-9a-z]+/g))];
  if (choice < 5 && threads.length > 0) {
    return {
      name: 'send_to_agent',
      input: { agent: 'w0', message: random.prose(30), thread_id: random.pick(threads) },
    };
  }
  if (choice < 8) return { name: 'send_to_agent', input: { agent: toName(random), message: random.prose(30) } };
  const tasks = Array.from({ length: 1 + random.below(3) }, () => ({
    agent: toName(random),
    message: random.prose(30),
  }));
  return { name: 'delegate', input: { tasks } };
}

function toName(random: RandomText): string {
  return random.below(12) === 0 ? 'unknown' : `w${random.below(4)}`;
}

const badInputs = [
  {},
  { tasks: [] },
  { tasks: [{ agent: 'w0' }] },
  { agent: 'w0', message: ' ' },
  { thread_id: 'sthr_0', message: 'x' },
];

function toStop(random: RandomText, calls: number, isTired: boolean): Stop {
  const chance = isTired ? 99 : random.below(40);
  const reason =
    chance === 0
      ? 'refusal'
      : chance === 1
        ? 'max_tokens'
        : chance === 2
          ? 'context_window_exceeded'
          : chance === 3
            ? 'pause_turn'
            : calls > 0
              ? 'tool_use'
              : 'end_turn';
  return { reason, category: reason === 'refusal' ? 'harm' : null, explanation: null };
}

function toFailure(random: RandomText): EngineFailure | 'no last word' {
  const choice = random.below(40);
  const retryAfterMs = random.below(3) === 0 ? random.below(20_000) : null;
  if (choice === 0) return 'no last word';
  if (choice === 1) return { reason: 'billing', message: '402', consequence: 'session', retryAfterMs: null };
  if (choice < 5) return { reason: 'request_failed', message: '400', consequence: 'turn', retryAfterMs: null };
  if (choice < 8) return { reason: 'context_exceeded', message: 'too long', consequence: 'turn', retryAfterMs: null };
  if (choice < 20) return { reason: 'rate_limited', message: '429', consequence: 'retry', retryAfterMs };
  if (choice < 30) return { reason: 'overloaded', message: '529', consequence: 'retry', retryAfterMs };
  return { reason: 'connection_lost', message: 'cut', consequence: 'retry', retryAfterMs: null };
}

async function* play(options: RandomEngineOptions, plan: Plan, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const { random, sleep } = options;
  const pace = random.pick([0, 0, 1, 7, 40]);
  try {
    for (const [index, block] of plan.content.entries()) {
      if (plan.failure?.after === index) return yield* fail(plan);
      yield { type: 'block_started', index, block: toKind(block) };
      for (const text of toPieces(random, block)) {
        if (pace > 0) await sleep(pace, signal);
        signal.throwIfAborted();
        yield { type: 'delta', index, text };
      }
    }
    if (pace > 0) await sleep(pace, signal);
    signal.throwIfAborted();
    if (plan.failure !== undefined) return yield* fail(plan);
    yield { type: 'finished', content: plan.content, stop: plan.stop, usage: plan.usage, model: 'wild' };
  } catch {
    // Only the signal gets here.
    const failure = { reason: 'interrupted', message: 'stopped', consequence: 'retry', retryAfterMs: null } as const;
    yield { type: 'failed', failure, usage: null };
  }
}

function* fail({ failure, usage }: Plan): Generator<EngineEvent> {
  const { what, after } = failure!;
  if (what !== 'no last word') yield { type: 'failed', failure: what, usage: after === 0 ? null : usage };
}

function toKind({ type }: AssistantBlock) {
  if (type === 'text' || type === 'thinking' || type === 'tool_use') return type;
  return type === 'redacted_thinking' ? 'thinking' : 'other';
}

function toPieces(random: RandomText, block: AssistantBlock): string[] {
  const text = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : '';
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(25);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}
