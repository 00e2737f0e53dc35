import type { AgentEvent } from '../wire/events.ts';
import { StreamTranslator, type StreamTranslatorOptions } from './stream-translator.ts';

/**
 * Events of a readable stream of bytes: a Node readable, a web stream, or any async iterable of chunks.
 * Nothing is read ahead: the next chunk is asked for when all events of the last one have been taken.
 *
 * @example
 * for await (const event of translateStream(child.stdout)) console.log(event.thread, event.type);
 */
export async function* translateStream(
  source: AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array>,
  options?: StreamTranslatorOptions,
): AsyncGenerator<AgentEvent, void, void> {
  const stream = new StreamTranslator(options);
  const encoder = new TextEncoder();
  for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
    // A readable with an encoding set gives strings, and never half a character.
    yield* stream.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
  }
  yield* stream.end();
}
