import { untilAborted } from '../../base/until-aborted.ts';
import { setMaxListeners } from 'node:events';
import { ignoringFailure } from '../../base/in-background.ts';
import type { Json } from '../../base/json/json.ts';
import { AnswerFold } from './answer-fold.ts';
import type { EngineEvent, EngineFailure, Usage } from './engine.ts';
import { connectionLost, interrupted } from './failures.ts';

/** The source of the events of a response. */
export interface AnswerSource {
  /** The model in the request. */
  model: string;
  /**
   * Opens the events of a streamed Messages response. May throw any error; ends soon after the signal is aborted. An end without a
   * message_stop is a lost connection, even if the response looks complete.
   */
  open: (signal: AbortSignal) => AsyncIterable<Json | AnswerWait>;
  /** Converts an error of `open` to a failure. */
  classify: (error: unknown) => EngineFailure;
  /** Called with the usage so far, whenever it changes. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** Emitted by a source before the response begins: the request waits, or no longer waits. */
export class AnswerWait {
  readonly event: Extract<EngineEvent, { type: 'queued' | 'admitted' }>;

  constructor(event: AnswerWait['event']) {
    this.event = event;
  }
}

/**
 * Runs one response with the guarantees of an engine: it does not throw, there is exactly one last event, and the first aborted
 * signal ends it at once, as does a consumer that stops reading.
 */
export function runAnswer(source: AnswerSource, signals: readonly AbortSignal[]): AsyncIterable<EngineEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const life = linkSignals(signals);
      const events = answer(source, life.signal);
      return {
        next: async () => {
          const result = await events.next();
          if (result.done === true || isLast(result.value)) life.end();
          return result;
        },
        // A generator would first wait for its pending event.
        return: async () => {
          life.end();
          await events.return();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** The signal for closing an engine. All its requests listen to it, and Node would report more than ten as a leak. */
export function createClosing(): { readonly signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return { signal: controller.signal, close: () => controller.abort() };
}

async function* answer(asked: AnswerSource, signal: AbortSignal): AsyncGenerator<EngineEvent, void> {
  const { model, open, classify } = asked;
  const fold = new AnswerFold(model);
  let source: AsyncIterator<Json | AnswerWait> | undefined;
  try {
    while (!signal.aborted) {
      source ??= open(signal)[Symbol.asyncIterator]();
      const read = await untilAborted(source.next(), signal);
      if (read.done === true) return yield fail(connectionLost('the answer ended without a message_stop'));
      if (read.value instanceof AnswerWait) {
        yield read.value.event;
        continue;
      }
      const before = fold.usage;
      const events = fold.push(read.value);
      if (fold.usage !== null && fold.usage !== before) asked.onUsage?.(fold.usage);
      for (const event of events) {
        if (signal.aborted) break;
        if (isLast(event)) leave();
        yield event;
        if (isLast(event)) return;
      }
    }
    yield fail(interrupted());
  } catch (error) {
    yield fail(signal.aborted ? interrupted() : classify(error));
  } finally {
    leave();
  }

  function fail(failure: EngineFailure): EngineEvent {
    leave();
    return { type: 'failed', failure, usage: fold.usage };
  }

  /** Called before the last event: its consumer may take long, and the endpoint is free for another request. */
  function leave(): void {
    // The response has ended: errors of closing its source do not matter.
    ignoringFailure(source?.return?.());
    source = undefined;
  }
}

function isLast({ type }: EngineEvent): boolean {
  return type === 'finished' || type === 'failed';
}

/** Links several signals without AbortSignal.any, which keeps every short-lived signal alive as long as the longest. */
function linkSignals(signals: readonly AbortSignal[]): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const end = () => {
    controller.abort();
    for (const signal of signals) signal.removeEventListener('abort', end);
  };
  for (const signal of signals) signal.addEventListener('abort', end, { once: true });
  if (signals.some(({ aborted }) => aborted)) end();
  return { signal: controller.signal, end };
}
