import {
  isCutOff,
  openEvents,
  type OpenEventsOptions,
  readEvents,
  ResponseError,
  ServerClock,
  toContinueMessage,
} from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import type { SseDecoder, SseDecoderOptions, SseItem } from '@fleetloom/protocol/sse';
import { expectTypeOf } from 'vitest';

type Items = AsyncGenerator<SseItem, void, undefined>;

expectTypeOf(readEvents).toEqualTypeOf<(response: Response, decoder?: SseDecoder | SseDecoderOptions) => Items>();
expectTypeOf(openEvents).toEqualTypeOf<(url: string | URL, options?: OpenEventsOptions) => Items>();
expectTypeOf<OpenEventsOptions>().toEqualTypeOf<{
  headers?: Record<string, string>;
  signal?: AbortSignal;
  fetch?: typeof fetch;
  decoder?: SseDecoder;
}>();

export async function reads(url: string, response: Promise<Response>): Promise<void> {
  for await (const item of openEvents(url)) {
    // @ts-expect-error: a heartbeat has no data
    void item.data;
    if (item.type === 'event') expectTypeOf(item.data).toEqualTypeOf<string>();
  }
  // @ts-expect-error: await it first
  readEvents(response);
  // @ts-expect-error: absent, not undefined
  openEvents(url, { signal: undefined });
  // @ts-expect-error: options alone cannot be gone on with; the decoder that keeps the place can
  openEvents(url, { decoder: { lastEventId: '7' } });
}

expectTypeOf<ResponseError>().toExtend<Error>();
expectTypeOf<ResponseError['name']>().toEqualTypeOf<'ResponseError'>();
expectTypeOf<ResponseError['status']>().toEqualTypeOf<number>();

export function statusOf(error: unknown): number {
  if (error instanceof ResponseError) return error.status;
  // @ts-expect-error: it is read, not set
  new ResponseError('no', 404).status = 200;
  return 0;
}

expectTypeOf<ServerClock['sawAnswer']>().parameters.toEqualTypeOf<[string | null, number, number]>();
expectTypeOf<ServerClock['sawEvent']>().parameters.toEqualTypeOf<[number, number]>();
expectTypeOf(new ServerClock().toServerTime(Date.now())).toEqualTypeOf<number>();

expectTypeOf(toContinueMessage).toEqualTypeOf<(events: readonly SessionEvent[]) => string>();

expectTypeOf(isCutOff).toEqualTypeOf<(events: readonly SessionEvent[]) => boolean>();
