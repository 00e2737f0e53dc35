import { setImmediate as nextTick } from 'node:timers/promises';
import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { ignoringFailure } from '../../../base/in-background.ts';
import { gaugeJson } from '../../../base/json/json-gauge.ts';
import { isObject, type Json, type JsonObject } from '../../../base/json/json.ts';
import { modelLimits } from '../limits.ts';
import { brokenAnswer, classifyEndpointError, connectionLost } from '../failures.ts';
import type { Schedule } from '../../../base/schedule.ts';
import { StreamError } from './stream-error.ts';
import { withTimeout } from './with-timeout.ts';

/** Time limits of reading an answer. */
export interface ReadStreamOptions {
  /** How long the stream may be silent. Only time spent waiting counts: a slow consumer is not the endpoint's fault. */
  readonly silenceMs: number;
  /** How long the reader may wait in total. */
  readonly answerMs?: number | undefined;
  readonly schedule: Schedule;
  readonly clock?: Pick<Clock, 'steady'> | undefined;
  /** Called when bytes arrive. */
  readonly onBytes?: (() => void) | undefined;
}

/**
 * The events of a response, pings included, read only as fast as the consumer reads. Throws a {@link StreamError} for an error
 * in an event and for a response that is not an event stream. Ends without an error when the stream ends.
 */
export async function* readStream(response: Response, options: ReadStreamOptions): AsyncGenerator<Json, void> {
  const reader = response.body?.getReader();
  try {
    checkType(response);
    if (reader === undefined) return;
    const decoder = new SseDecoder({ eventBytesMax: modelLimits.engineEventBytesMax });
    const read = createByteReader(reader, options);
    let events = 0;
    for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
      for (const item of decoder.push(bytes)) {
        // A response of only pings would otherwise be read without handling other events of the process.
        if (++events % EVENTS_AT_ONCE === 0) await nextTick();
        yield* toEvents(item);
      }
    }
  } finally {
    // A consumer that leaves early does not need the rest or its errors.
    ignoringFailure(reader?.cancel());
  }
}

const EVENTS_AT_ONCE = 256;

/** Creates a function that reads the next bytes; undefined at the end. */
function createByteReader(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { silenceMs, answerMs = modelLimits.engineAnswerMs, schedule, clock = systemClock, onBytes }: ReadStreamOptions,
): () => Promise<Uint8Array | undefined> {
  const toSilence = () => new StreamError(connectionLost(`the answer fell silent for ${silenceMs} ms`));
  let [bytes, waitedMs] = [0, 0];
  return async () => {
    const before = clock.steady();
    const { done, value } = await withTimeout(reader.read(), silenceMs, schedule, toSilence);
    if (done) return undefined;
    waitedMs += clock.steady() - before;
    bytes += value.length;
    if (waitedMs > answerMs) throw tooMuch(`the answer was not over after ${answerMs} ms`);
    if (bytes > modelLimits.engineAnswerBytesMax) {
      throw tooMuch(`the answer has more than ${modelLimits.engineAnswerBytesMax} bytes`);
    }
    onBytes?.();
    return value;
  };
}

/** An error that is not retried: the next response would most likely be too large again. */
function tooMuch(message: string): StreamError {
  return new StreamError({ ...brokenAnswer(message), consequence: 'turn' });
}

/** Rejects a response that is not an event stream: a wrong address or a proxy responds with a web page and status 200. */
function checkType({ headers }: Response): void {
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return;
  const message = `the endpoint answered with ${type === '' ? 'no content type' : type} instead of an event stream`;
  throw new StreamError({ ...brokenAnswer(`${message}: check the base URL`), consequence: 'turn' });
}

function* toEvents(item: SseItem): Generator<Json> {
  if (item.type === 'oversize') {
    throw new StreamError(brokenAnswer(`an event of the answer has ${item.bytes} bytes; ${item.limit} are allowed`));
  }
  if (item.type !== 'event') return;
  const event = parse(item.data);
  if (item.event === 'error' || isError(event)) throw new StreamError(toFailure(event));
  yield event;
}

function parse(data: string): Json {
  if (data.length > GAUGED_CHARS && gaugeJson(data).values > modelLimits.engineValuesMax) {
    throw new StreamError(brokenAnswer(`an event of the answer has more than ${modelLimits.engineValuesMax} values`));
  }
  try {
    // The cast: JSON.parse returns JSON values, although its type is `any`.
    return JSON.parse(data) as Json;
  } catch {
    // Without the position in the text, which would not help.
    throw new StreamError(brokenAnswer('an event of the answer is not valid JSON'));
  }
}

/** Characters of an event that is parsed without measuring it first. */
const GAUGED_CHARS = 64 * 1024;

function isError(event: Json): event is JsonObject {
  return isObject(event) && event['type'] === 'error';
}

function toFailure(event: Json) {
  const error = isObject(event) ? event['error'] : undefined;
  const { type, message } = isObject(error) ? error : {};
  return classifyEndpointError({
    status: undefined,
    errorType: typeof type === 'string' ? type : undefined,
    message: typeof message === 'string' ? message : 'the endpoint broke off its answer',
    retryAfterMs: null,
  });
}
