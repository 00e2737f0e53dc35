import { untilAborted } from '../../base/until-aborted.ts';
import type { Command } from '../core/command.ts';
import type { Clock } from '../../base/clock.ts';
import { readSummary, toCompacted, toSummaryRequest } from '../../engines/model/compaction.ts';
import type {
  Engine,
  EngineEvent,
  EngineFailure,
  FailureReason,
  ModelChoice,
  ModelRequest,
  RequestPhase,
  Usage,
} from '../../engines/model/engine.ts';
import { unexpectedFailure } from '../../engines/model/failures.ts';
import type { Turn } from '../../store/frame.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { ToolOffer } from '../../tools/toolbox.ts';
import { agentOf } from '../core/state/agent-of.ts';
import { delegationTools } from '../core/delegation/delegation-tools.ts';
import { DeltaWriter } from './writes/delta-writer.ts';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { RequestPurpose, UsageTotals } from '../../frames/payload-parts.ts';
import { type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';
import { toTotals } from '../core/state/usage.ts';

/** What running a model request needs. */
export interface RequestRunner {
  readonly engine: Engine;
  readonly offers: OfferedTools;
  readonly models: ModelFacts;
  readonly nextEventId: () => string;
  /** How long to wait before the next attempt, after this number of failures. */
  readonly retryDelayMs: (failures: number) => number;
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** Completes the request before the engine gets it, or returns the reason why it cannot be made. */
  readonly prepareRequest: (request: ModelRequest) => Promise<ModelRequest | EngineFailure>;
  /** Called when the request has ended: `ok`, or why it failed. */
  readonly onEnd: (outcome: 'ok' | FailureReason) => void;
  /** Writes a delta. Resolves when the delta is durable. */
  readonly writeDelta: (frame: NewSessionFrame) => Promise<unknown>;
  /** Receives the usage of a model request so far. */
  readonly onUsage: (startId: string, spent: UsageTotals) => void;
  /** Receives each sign of activity on the connection. */
  readonly onSign: (startId: string, sign: RequestPhase) => void;
  /** Receives the tools that cannot be offered. */
  readonly onProblems: (threadId: string, startId: string, problems: ToolOffer['problems']) => Promise<void>;
}

/** The tools of a thread; listing them may need requests to MCP servers. */
export interface OfferedTools {
  get(state: SessionState, thread: ThreadState): Promise<ToolOffer>;
}

/** Prices and context windows of models. */
export interface ModelFacts {
  /** In billionths of a dollar; null if the price is not known. */
  costNanoUsd(model: string, usage: Usage, speed: 'standard' | 'fast'): number | null;
  windowTokens(model: string): number;
}

/** Runs one model request and resolves with the command for its outcome. Never rejects. */
export async function runRequest(
  runner: RequestRunner,
  state: SessionState,
  threadId: string,
  startId: string,
  signal: AbortSignal,
): Promise<Command> {
  const thread = threadOf(state, threadId);
  const input = toRequestInput(runner, state, thread);
  try {
    // A toolbox may wait for servers that do not answer.
    const offer = await untilAborted(runner.offers.get(state, thread), signal);
    if (offer.problems.length > 0) await runner.onProblems(threadId, startId, offer.problems);
    const request = {
      ...input.request,
      tools: toDefinitions(delegationTools(state, thread), offer),
      onUsage: (usage: Usage) => runner.onUsage(startId, toSpent(runner, input.request.model, usage)),
      onSign: (sign: RequestPhase) => runner.onSign(startId, sign),
    };
    const { nextEventId, clock, schedule, writeDelta } = runner;
    const deltas = new DeltaWriter({ threadId, turn: input.turn, signal, nextEventId, clock, schedule, writeDelta });
    const isSummary = input.purpose === 'compaction';
    const prepared = await runner.prepareRequest(isSummary ? toSummaryRequest(request, input.window) : request);
    // A summary is not part of the conversation, so it is not streamed.
    const eventIds = new Map<number, string>();
    const last: LastEvent =
      'consequence' in prepared
        ? { type: 'failed', failure: prepared, usage: null }
        : await follow(runner.engine.request(prepared, signal), deltas, isSummary ? null : eventIds);
    runner.onEnd(last.type === 'failed' ? last.failure.reason : 'ok');
    if (last.type === 'failed') return toFailed(runner, input, threadId, startId, last);
    const costNanoUsd = runner.models.costNanoUsd(last.model, last.usage, request.model.speed);
    if (isSummary) return toSummarised(input, threadId, startId, last, costNanoUsd);
    const answered = { startId, event: last, costNanoUsd, offer, eventIds };
    return { type: 'answered', threadId, answered };
  } catch (error) {
    // Engines and toolboxes do not throw. A defect in one must not lose the session.
    return toFailed(runner, input, threadId, startId, {
      type: 'failed',
      failure: unexpectedFailure(error),
      usage: null,
    });
  }
}

function toSpent({ models }: RequestRunner, { id, speed }: ModelChoice, usage: Usage): UsageTotals {
  return toTotals(usage, models.costNanoUsd(id, usage, speed));
}

/** The request as of its decision: the state changes while the request is open. */
interface RequestInput {
  readonly request: Omit<ModelRequest, 'tools'>;
  readonly purpose: RequestPurpose;
  readonly turn: Turn | null;
  readonly failures: number;
  readonly window: number;
}

function toRequestInput({ models }: RequestRunner, state: SessionState, thread: ThreadState): RequestInput {
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

/** Streams the events of a request as deltas, records the event ids of its blocks by index, and returns the last event. */
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
  return last ?? endedWithoutResult;
}

const endedWithoutResult: LastEvent = {
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
  { request, failures }: RequestInput,
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
  { request, window }: RequestInput,
  threadId: string,
  startId: string,
  { content, usage, model }: Extract<LastEvent, { type: 'finished' }>,
  costNanoUsd: number | null,
): Command {
  const summary = readSummary(content);
  const history = summary === null ? null : toCompacted(request.messages, summary, window);
  return { type: 'summarised', threadId, summarised: { startId, history, usage, costNanoUsd, model } };
}

/** Names must be unique, otherwise endpoints reject the request. Delegation tools come first, as they do in a call. */
function toDefinitions(own: ModelRequest['tools'], { tools }: ToolOffer): ModelRequest['tools'] {
  const taken = new Set(own.map(({ name }) => name));
  const offered = [...tools].filter(([name, { isEnabled }]) => isEnabled && !taken.has(name));
  return [...own, ...offered.map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }))];
}
