import { decodeSse, type SseDecoder, type SseDecoderOptions, type SseItem } from '@fleetloom/protocol/sse';
import { checkResponse } from './response-error.ts';

/**
 * The items of a `fetch` response, as they arrive. Stopping to read closes the connection.
 *
 * Fails with a `ResponseError` if the response is not an event stream. Pass a decoder to know where to resume after a
 * connection that broke: it keeps `lastEventId` and `retryMs`.
 *
 * @example
 * for await (const item of readEvents(await fetch(url))) if (item.type === 'event') show(item.data);
 */
export async function* readEvents(
  response: Response,
  decoder: SseDecoder | SseDecoderOptions = {},
): AsyncGenerator<SseItem, void, undefined> {
  await checkResponse(response);
  if (response.body !== null) yield* decodeSse(response.body, decoder);
}
