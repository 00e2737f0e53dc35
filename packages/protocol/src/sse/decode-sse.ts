import { SseDecoder, type SseDecoderOptions, type SseItem } from './decode.ts';

/**
 * The items of a whole response body: `for await (const item of decodeSse(response.body)) …`.
 *
 * Pass a decoder instead of options to keep `lastEventId` and `retryMs` over several connections. A source that fails
 * passes its error on, after the `cut` item of what was lost.
 */
export async function* decodeSse(
  source: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  options: SseDecoder | SseDecoderOptions = {},
): AsyncGenerator<SseItem, void, undefined> {
  const decoder = options instanceof SseDecoder ? options : new SseDecoder(options);
  try {
    for await (const chunk of Symbol.asyncIterator in source ? source : chunksOf(source)) yield* decoder.push(chunk);
    yield* decoder.end();
  } catch (error) {
    yield* decoder.end();
    throw error;
  } finally {
    // A caller that stops reading must not carry half an event into the next connection.
    decoder.end();
  }
}

// Safari's streams are not iterable. A caller that stops reading early must not leave the response open.
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
    reader.releaseLock();
  }
}
