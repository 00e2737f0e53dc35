import type { Clock } from '../base/clock.ts';
import { readSummary, toCompacted, toSummaryRequest } from '../engines/compaction.ts';
import type { Engine, EngineEvent, ModelChoice, ModelRequest, RequestSign, Usage } from '../engines/engine.ts';
import { mishap } from '../engines/failures.ts';
import type { Turn } from '../store/frame.ts';
import type { Schedule } from '../base/schedule.ts';
import type { ToolOffer } from '../tools/toolbox.ts';
import { agentOf } from './agent-of.ts';
import type { Command } from './decide.ts';
import { delegationTools } from './delegation-tools.ts';
import { DeltaWriter } from './delta-writer.ts';
import type { NewSessionFrame, RequestPurpose, UsageTotals } from '../frames/frames.ts';
import { type SessionState, type ThreadState, threadOf } from './state.ts';
import { toTotals } from './take-answer.ts';

export interface RequestRunner {
  readonly engine: Engine;
  readonly offers: Offers;
  readonly models: ModelFacts;
  readonly nextEventId: () => string;
  /** How long to wait before the next attempt, after so many that failed. */
  readonly retryDelayMs: (failures: number) => number;
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** Resolves when it is durable. */
  readonly writeDelta: (frame: NewSessionFrame) => Promise<unknown>;
  /** Told what a request has used up so far. */
  readonly onUsage: (startId: string, spent: UsageTotals) => void;
  /** Told of each sign of life. */
  readonly onSign: (startId: string, sign: RequestSign) => void;
  /** Told of tools that cannot be offered. */
  readonly onProblems: (threadId: string, startId: string, problems: ToolOffer['problems']) => Promise<void>;
}

/** What agents of the session may use; it may have to ask servers for it. */
export interface Offers {
  get(state: SessionState, thread: ThreadState): Promise<ToolOffer>;
}

/** What is known of models. */
export interface ModelFacts {
  /** In billionths of a dollar; null if the price is not known. */
  costNanoUsd(model: string, usage: Usage, speed: 'standard' | 'fast'): number | null;
  windowTokens(model: string): number;
}

/** One model request, from what the agent is told to what came of it. Whatever happens, something did. */
export async function runRequest(
  runner: RequestRunner,
  state: SessionState,
  threadId: string,
  startId: string,
  signal: AbortSignal,
): Promise<Command> {
  const thread = threadOf(state, threadId);
  const asking = toAsking(runner, state, thread);
  try {
    const offer = await untilStopped(runner.offers.get(state, thread), signal);
    if (offer.problems.length > 0) await runner.onProblems(threadId, startId, offer.problems);
    const request = {
      ...asking.request,
      tools: toDefinitions(delegationTools(state, thread), offer),
      onUsage: (usage: Usage) => runner.onUsage(startId, toSpent(runner, asking.request.model, usage)),
      onSign: (sign: RequestSign) => runner.onSign(startId, sign),
    };
    const { nextEventId, clock, schedule, writeDelta } = runner;
    const deltas = new DeltaWriter({ threadId, turn: asking.turn, signal, nextEventId, clock, schedule, writeDelta });
    const isSummary = asking.purpose === 'compaction';
    const events = runner.engine.request(isSummary ? toSummaryRequest(request, asking.window) : request, signal);
    // A summary is not what the agent says to anybody, so nobody watches it grow.
    const eventIds = new Map<number, string>();
    const last = await follow(events, deltas, isSummary ? null : eventIds);
    if (last.type === 'failed') return toFailed(runner, asking, threadId, startId, last);
    const costNanoUsd = runner.models.costNanoUsd(last.model, last.usage, request.model.speed);
    if (isSummary) return toSummarised(asking, threadId, startId, last, costNanoUsd);
    const answered = { startId, event: last, costNanoUsd, offer, eventIds };
    return { type: 'answered', threadId, answered };
  } catch (error) {
    // Engines and toolboxes do not throw. One that does all the same must not take the session with it.
    return toFailed(runner, asking, threadId, startId, { type: 'failed', failure: mishap(error), usage: null });
  }
}

/** A toolbox may wait for servers that do not answer. Rejects when the request is stopped first. */
async function untilStopped<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
  });
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function toSpent({ models }: RequestRunner, { id, speed }: ModelChoice, usage: Usage): UsageTotals {
  return toTotals(usage, models.costNanoUsd(id, usage, speed));
}

/** What is asked, as it was when the request was decided: the state goes on while it is under way. */
interface Asking {
  readonly request: Omit<ModelRequest, 'tools'>;
  readonly purpose: RequestPurpose;
  readonly turn: Turn | null;
  readonly failures: number;
  readonly window: number;
}

function toAsking({ models }: RequestRunner, state: SessionState, thread: ThreadState): Asking {
  const { model, system } = agentOf(state, thread);
  const phase = thread.turn?.phase;
  return {
    request: {
      model: {
        id: model.id,
        effort: model.effort.type,
        speed: model.speed,
        ...(model.inference_geo === undefined ? {} : { inferenceGeo: model.inference_geo }),
      },
      system,
      messages: [...thread.history],
      thread: { id: thread.id, agentName: thread.agentName },
    },
    purpose: phase?.type === 'requesting' ? phase.purpose : 'turn',
    turn: thread.turn,
    failures: thread.turn?.failures ?? 0,
    window: models.windowTokens(model.id),
  };
}

type LastEvent = Extract<EngineEvent, { type: 'finished' | 'failed' }>;

/** Writes what the request waits for and what grows, with the event ids of its blocks by index; returns how it ended. */
async function follow(
  events: AsyncIterable<EngineEvent>,
  deltas: DeltaWriter,
  eventIds: Map<number, string> | null,
): Promise<LastEvent> {
  let last: LastEvent | undefined;
  for await (const event of events) {
    if (event.type === 'queued') deltas.queue(event);
    else if (event.type === 'admitted') deltas.admit();
    else if (event.type === 'finished' || event.type === 'failed') last = event;
    else if (eventIds === null) continue;
    else if (event.type === 'block_started') {
      const { block } = event;
      if (block === 'text' || block === 'thinking') eventIds.set(event.index, deltas.begin(block));
    } else if (event.type === 'delta') {
      const id = eventIds.get(event.index);
      if (id !== undefined) await deltas.grow(id, event.text);
    }
  }
  deltas.flush();
  return last ?? endedWithoutWord;
}

const endedWithoutWord: LastEvent = {
  type: 'failed',
  failure: {
    reason: 'unknown',
    message: 'the engine ended without an answer',
    consequence: 'retry',
    retryAfterMs: null,
  },
  usage: null,
};

function toFailed(
  { models, retryDelayMs }: RequestRunner,
  { request, failures }: Asking,
  threadId: string,
  startId: string,
  { failure, usage }: Extract<LastEvent, { type: 'failed' }>,
): Command {
  const { id: model, speed } = request.model;
  const costNanoUsd = usage === null ? 0 : models.costNanoUsd(model, usage, speed);
  const delayMs = failure.retryAfterMs ?? retryDelayMs(failures);
  return { type: 'failed', threadId, failed: { startId, failure, usage, costNanoUsd, model, delayMs } };
}

function toSummarised(
  { request, window }: Asking,
  threadId: string,
  startId: string,
  { content, usage, model }: Extract<LastEvent, { type: 'finished' }>,
  costNanoUsd: number | null,
): Command {
  const summary = readSummary(content);
  const history = summary === null ? null : toCompacted(request.messages, summary, window);
  return { type: 'summarised', threadId, summarised: { startId, history, usage, costNanoUsd, model } };
}

/** Names must be unique, or endpoints refuse all of them. A session's own tools come first, as they do in a call. */
function toDefinitions(own: ModelRequest['tools'], { tools }: ToolOffer): ModelRequest['tools'] {
  const taken = new Set(own.map(({ name }) => name));
  const offered = [...tools].filter(([name, { isEnabled }]) => isEnabled && !taken.has(name));
  return [...own, ...offered.map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }))];
}
