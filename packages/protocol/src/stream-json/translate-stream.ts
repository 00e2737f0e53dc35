import type { AgentEvent } from './events.ts';
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
  options: StreamTranslatorOptions = {},
): AsyncGenerator<AgentEvent, void, void> {
  const stream = new StreamTranslator(options);
  const encoder = new TextEncoder();
  let rest = '';
  for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
    if (typeof chunk === 'string') {
      // A readable with an encoding set gives strings. Half a pair of surrogates has no UTF-8: it waits for the other half.
      const text = rest + chunk;
      [rest = ''] = /[\ud800-\udbff]$/.exec(text) ?? [];
      yield* stream.push(encoder.encode(text.slice(0, text.length - rest.length)));
    } else yield* stream.push(chunk);
  }
  yield* stream.push(encoder.encode(rest));
  yield* stream.end();
}
