import { setMaxListeners } from 'node:events';
import { ignoringFailure } from '../base/in-background.ts';
import type { Json } from '../base/json.ts';
import { AnswerFold } from './answer-fold.ts';
import type { EngineEvent, EngineFailure, Usage } from './engine.ts';
import { connectionLost, interrupted } from './failures.ts';

export interface AnswerSource {
  /** The model that is asked. */
  model: string;
  /**
   * The events of a streamed Messages answer. May throw whatever it likes; ends soon after the signal. Its end without a
   * message_stop is a lost connection, however whole the answer looked.
   */
  open: (signal: AbortSignal) => AsyncIterable<Json | AnswerWait>;
  /** What something that `open` threw means. */
  classify: (error: unknown) => EngineFailure;
  /** Told what was used up so far, each time that more is known. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** What a source tells before the answer begins: that it has to wait, and that it does not any more. */
export class AnswerWait {
  readonly event: Extract<EngineEvent, { type: 'queued' | 'admitted' }>;

  constructor(event: AnswerWait['event']) {
    this.event = event;
  }
}

/**
 * One answer as an engine promises it: nothing is thrown, there is one last event, and the first of the signals ends
 * it at once. So does a reader who stops reading.
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
        // A generator would first wait for the event that is under way.
        return: async () => {
          life.end();
          await events.return();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** The signal that an engine closes. All its requests listen to it, and Node would take more than ten for a leak. */
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
      if (read === undefined) break;
      if (read.done === true) return yield fail(connectionLost('the answer ended before its end was told'));
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

  /** Before the last event, not after it: its reader may take long, and the endpoint could answer somebody else. */
  function leave(): void {
    // Nobody waits for it, and what it throws now is about an answer that has ended.
    ignoringFailure(source?.return?.());
    source = undefined;
  }
}

function isLast({ type }: EngineEvent): boolean {
  return type === 'finished' || type === 'failed';
}

/** Nothing when the signal came first. Whoever does not heed signals is left behind. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return await new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    // Before anybody hears of it: an answer in small pieces would have a listener for each of the last ones.
    const end = () => signal.removeEventListener('abort', stop);
    promise.then(
      (value) => (end(), resolve(value)),
      (error: unknown) => (end(), reject(error as Error)),
    );
  });
}

/** One signal for several, by hand: AbortSignal.any keeps every short signal alive as long as the longest. */
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
