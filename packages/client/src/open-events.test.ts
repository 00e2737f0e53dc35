import type { RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { encodeComment, encodeEvent, SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../../test/support/http-server.ts';
import { limits } from './limits.ts';
import { openEvents } from './open-events.ts';
import { readEvents } from './read-events.ts';
import { ResponseError } from './response-error.ts';

describe('reading', () => {
  it('[L1] events and comments of a response arrive in order, cut up in any way', async () => {
    const text = [encodeEvent({ event: 'greeting', data: 'grüß\ndich', id: '7' }), encodeComment('ping')].join('');
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.of(byte));
    const url = await start((_request, response) => Readable.from(bytes).pipe(stream(response)));
    expect(await collect(readEvents(await fetch(url)))).toEqual([
      { type: 'event', event: 'greeting', data: 'grüß\ndich', id: '7' },
      { type: 'comment', text: 'ping' },
    ]);
  });

  it('[L1] an event is there as soon as it was sent, while the response continues', async () => {
    const url = await start((_request, response) => stream(response).write(encodeEvent({ data: 'early' })));
    const items = openEvents(url);
    expect(await items.next()).toMatchObject({ done: false, value: { data: 'early' } });
    await items.return();
  });

  it('[L2] a consumer that stops reading closes the connection', async () => {
    const onClose = vi.fn();
    const url = await start((_request, response) => {
      response.on('close', onClose);
      stream(response).write(encodeEvent({ data: 'one' }) + encodeEvent({ data: 'two' }));
    });
    for await (const item of openEvents(url)) {
      expect(item).toMatchObject({ data: 'one' });
      break;
    }
    await vi.waitFor(() => expect(onClose).toHaveBeenCalled(), 20_000);
  });

  it('[L2] no connection is made before the first item is asked for', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const items = openEvents('http://127.0.0.1:9', { fetch });
    await items.return();
    expect(fetch).not.toHaveBeenCalled();
  });

  it('[L3] a signal ends a connection that waits for events, and prevents one that is not made yet', async () => {
    const url = await start((_request, response) => stream(response).write(encodeEvent({ data: 'one' })));
    const controller = new AbortController();
    const items = openEvents(url, { signal: controller.signal });
    await items.next();
    const rest = items.next();
    controller.abort();
    await expect(rest).rejects.toMatchObject({ name: 'AbortError' });
    await expect(openEvents(url, { signal: controller.signal }).next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('[L4] a connection that breaks is an error, and the part of an event that was lost is reported before it', async () => {
    const url = await start((_request, response) => {
      stream(response).write(`${encodeEvent({ data: 'whole', id: '1' })}data: ha`);
      setImmediate(() => response.destroy());
    });
    const decoder = new SseDecoder();
    const items: SseItem[] = [];
    const reading = collect(openEvents(url, { decoder }), items);
    await expect(reading).rejects.toThrow(TypeError);
    expect(items).toEqual([
      { type: 'event', event: 'message', data: 'whole', id: '1' },
      { type: 'cut', bytes: 'data: ha'.length },
    ]);
    expect(decoder.lastEventId).toBe('1');
  });
});

describe('asking', () => {
  it('[L5] an event stream is asked for, with the headers that were given', async () => {
    const asked = await requestHeaders({ headers: { authorization: 'Bearer key', 'x-team': 'a' } });
    expect(asked).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer key', 'x-team': 'a' });
    expect(asked).not.toHaveProperty('last-event-id');
    expect(await requestHeaders({ headers: { Accept: 'application/json' } })).toMatchObject({
      accept: 'application/json',
    });
  });

  it('[L5] a decoder that has been used continues where it stopped, with an id in any script', async () => {
    const asked = await requestHeaders({ decoder: new SseDecoder({ lastEventId: 'sevt_01 ü' }) });
    expect(Buffer.from(String(asked['last-event-id']), 'latin1').toString()).toBe('sevt_01 ü');
    const own = { headers: { 'Last-Event-ID': '3' }, decoder: new SseDecoder({ lastEventId: '9' }) };
    expect(await requestHeaders(own)).toMatchObject({ 'last-event-id': '3' });
  });
});

describe('responses that are not event streams', () => {
  it('[L6] a status outside 2xx is an error with the status and what the server said', async () => {
    const url = await start((_request, response) => {
      response.writeHead(503, { 'content-type': 'text/event-stream' }).end('the store is being moved\n');
    });
    const error = await failure(openEvents(url));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error.message).toBe('the server answered 503 Service Unavailable: the store is being moved');
    expect(error.status).toBe(503);
  });

  it.each([
    [limits.excerptCharsMax, limits.excerptCharsMax],
    [limits.excerptCharsMax + 1, limits.excerptCharsMax],
    [0, 0],
  ])('[L6] of %i characters in the body the message has %i', async (sent, shown) => {
    const url = await start((_request, response) => response.writeHead(404).end('é'.repeat(sent)));
    const { message } = await failure(openEvents(url));
    expect(message).toBe(`the server answered 404 Not Found${shown === 0 ? '' : `: ${'é'.repeat(shown)}`}`);
  });

  it('[L6] nothing is read beyond that, and the connection is closed', async () => {
    const onClose = vi.fn();
    const url = await start((_request, response) => {
      response.on('close', onClose).writeHead(500);
      Readable.from(endless('x'.repeat(1000))).pipe(response);
    });
    expect((await failure(openEvents(url))).message).toMatch(/^the server answered 500 Internal Server Error: x{200}$/);
    await vi.waitFor(() => expect(onClose).toHaveBeenCalled(), 20_000);
  });

  it('[L6] an error whose body does not end is reported after 1 s, with what has arrived', async () => {
    const url = await start((_request, response) => response.writeHead(502).write('partly'));
    const response = await fetch(url);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const onError = vi.fn();
    const failed = failure(readEvents(response)).then(onError);
    await vi.advanceTimersByTimeAsync(limits.excerptWaitMs - 1);
    await new Promise(setImmediate);
    expect(onError).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expect(onError.mock.calls[0]?.[0].message).toBe('the server answered 502 Bad Gateway: partly');
  });

  it('[L6] an error whose body breaks off is still reported, with the cause', async () => {
    const url = await start((_request, response) => {
      response.writeHead(500).write('half a rea');
      setImmediate(() => response.destroy());
    });
    const error = await failure(openEvents(url));
    expect(error.message).toBe('the server answered 500 Internal Server Error: half a rea');
    expect(error.cause).toBeInstanceOf(Error);
  });

  it.each([
    ['text/html; charset=utf-8', 'text/html; charset=utf-8'],
    ['text/event-streams', 'text/event-streams'],
    [undefined, 'no content type'],
  ])('[L7] the content type %s is an error that names it', async (type, named) => {
    const url = await start((_request, response) => {
      response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('<!doctype html>');
    });
    const error = await failure(openEvents(url));
    expect(error.message).toBe(
      `the server answered 200 OK with ${named}, not text/event-stream: check the address: <!doctype html>`,
    );
    expect(error.status).toBe(200);
  });

  it.each(['text/event-stream', 'Text/Event-Stream;charset=UTF-8', 'text/event-stream ; a=b'])(
    '[L7] the content type %s is right',
    async (type) => {
      const url = await start((_request, response) => response.writeHead(200, { 'content-type': type }).end(': hi\n'));
      expect(await collect(openEvents(url))).toEqual([{ type: 'comment', text: 'hi' }]);
    },
  );
});

async function start(listener: RequestListener): Promise<string> {
  const server = await serve(listener);
  onTestFinished(server.close);
  return `${server.origin}/events`;
}

function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

async function collect(source: AsyncIterable<SseItem>, items: SseItem[] = []): Promise<SseItem[]> {
  for await (const item of source) items.push(item);
  return items;
}

async function failure(source: AsyncIterable<SseItem>): Promise<ResponseError> {
  const error: unknown = await collect(source).then(
    () => new Error('there was no error'),
    (reason: unknown) => reason,
  );
  if (error instanceof ResponseError) return error;
  throw error;
}

function* endless(text: string): Generator<string> {
  for (;;) yield text;
}

async function requestHeaders(options: Parameters<typeof openEvents>[1]): Promise<Record<string, unknown>> {
  let headers = {};
  const url = await start((request, response) => {
    headers = request.headers;
    stream(response).end();
  });
  await collect(openEvents(url, options));
  return headers;
}
