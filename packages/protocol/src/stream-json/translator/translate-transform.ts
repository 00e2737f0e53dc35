import type { AgentEvent } from '../wire/events.ts';
import { StreamTranslator, type StreamTranslatorOptions } from './stream-translator.ts';

/**
 * Translates as a web TransformStream, for `pipeThrough`. Backpressure of the reader stops the source: one chunk is read at a time.
 *
 * @example
 * for await (const event of response.body.pipeThrough(createTranslateTransform())) show(event);
 */
export function createTranslateTransform(options?: StreamTranslatorOptions): TransformStream<Uint8Array, AgentEvent> {
  const stream = new StreamTranslator(options);
  const enqueue = (events: AgentEvent[], controller: TransformStreamDefaultController<AgentEvent>) => {
    for (const event of events) controller.enqueue(event);
  };
  return new TransformStream({
    transform: (chunk, controller) => enqueue(stream.push(chunk), controller),
    flush: (controller) => enqueue(stream.end(), controller),
  });
}
