import type { IncomingMessage } from 'node:http';
import {
  decodeSse,
  encodeComment,
  encodeEvent,
  SseDecoder,
  type SseDecoderOptions,
  type SseEvent,
  type SseFields,
  type SseItem,
  sseLimits,
} from '@fleetloom/protocol/sse';
import { expectTypeOf } from 'vitest';

// --- writing ---

expectTypeOf<SseFields>().toEqualTypeOf<{ data: string; event?: string; id?: string; retry?: number }>();
expectTypeOf(encodeEvent).toEqualTypeOf<(fields: SseFields) => string>();
expectTypeOf(encodeComment).toEqualTypeOf<(text: string) => string>();
// @ts-expect-error: an event without data is dispatched by no reader
encodeEvent({ event: 'ping' });
// @ts-expect-error: data is text; JSON.stringify it first
encodeEvent({ data: { a: 1 } });
// @ts-expect-error: absent, not undefined
encodeEvent({ data: '', id: undefined });

// --- reading ---

expectTypeOf<SseEvent>().toEqualTypeOf<{ type: 'event'; event: string; data: string; id: string }>();
expectTypeOf<SseItem>().toEqualTypeOf<
  | SseEvent
  | { type: 'comment'; text: string }
  | { type: 'oversize'; bytes: number; limit: number }
  | { type: 'cut'; bytes: number }
>();
expectTypeOf<SseDecoderOptions>().toEqualTypeOf<{ eventBytesMax?: number; lastEventId?: string }>();
expectTypeOf(SseDecoder).toBeConstructibleWith();
expectTypeOf(SseDecoder).toBeConstructibleWith({ lastEventId: '7' });
expectTypeOf<SseDecoder['push']>().toEqualTypeOf<(chunk: Uint8Array) => SseItem[]>();
expectTypeOf<SseDecoder['end']>().toEqualTypeOf<() => SseItem[]>();
expectTypeOf<SseDecoder['lastEventId']>().toEqualTypeOf<string>();
expectTypeOf<SseDecoder['retryMs']>().toEqualTypeOf<number | undefined>();
// @ts-expect-error: characters are not bytes
new SseDecoder().push('data: 1\n\n');

export function isExhaustive(item: SseItem): string | number {
  // @ts-expect-error: only an event has data
  void item.data;
  switch (item.type) {
    case 'event':
      return item.data;
    case 'comment':
      return item.text;
    case 'oversize':
      return item.limit;
    case 'cut':
      return item.bytes;
    default:
      return item satisfies never;
  }
}

expectTypeOf(decodeSse).returns.toEqualTypeOf<AsyncGenerator<SseItem, void, undefined>>();

export function reads(body: NonNullable<Response['body']>, response: IncomingMessage, texts: AsyncIterable<string>) {
  decodeSse(body);
  decodeSse(body, { eventBytesMax: 1 });
  decodeSse(response, new SseDecoder());
  // @ts-expect-error: characters are not bytes
  decodeSse(texts);
}

// --- limits ---

expectTypeOf<typeof sseLimits>().toExtend<{ readonly eventBytesMax: number; readonly retryMsMax: number }>();
// @ts-expect-error: a shared constant cannot be changed
sseLimits.eventBytesMax = 1;
