import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { describe, expect, it } from 'vitest';
import { httpLimits } from '../../limits.ts';
import { type TestHttpServer, type TestHttpServerOptions, withHttpServer } from '../../server/http-server.suite.ts';
import { requestError } from '../../../base/request-error.ts';
import { defineRoute } from '../../routing/route.ts';
import { createEventEncoder, encodeWireEvent } from './event-encoder.ts';
import { type EventStream, OpenStream, type StreamEnd } from './event-stream.ts';

interface Live extends TestHttpServer {
  /** Every stream that was opened, in order. */
  readonly streams: EventStream[];
  readonly ends: StreamEnd[];
}

/** A server with a route that opens a stream, into which the test writes. */
async function withStreams(
  over: TestHttpServerOptions & { handle?: (stream: EventStream) => void | Promise<void> },
  run: (test: Live) => Promise<void>,
): Promise<void> {
  const { handle, ...options } = over;
  const streams: EventStream[] = [];
  const ends: StreamEnd[] = [];
  const route = defineRoute({
    name: 'things.stream',
    summary: 'A stream',
    method: 'get',
    path: '/v1/stream',
    accepts: ['api'],
    gives: 'stream',
    handle: async ({ openStream }) => {
      const stream = openStream();
      streams.push(stream);
      await handle?.(stream);
      return stream;
    },
  });
  const streamOptions = { ...options.streams, onEnd: (end: StreamEnd) => void ends.push(end) };
  await withHttpServer({ ...options, routes: [route], streams: streamOptions }, (test) =>
    run({ ...test, streams, ends }),
  );
}

const event = (text: string) => {
  const said = { type: 'agent.message', text };
  return encodeWireEvent(said);
};

describe('delivery', () => {
  it('[H38] headers are sent at once, and forbid buffering, changes and compression', () =>
    withStreams({}, async ({ server }) => {
      const reader = await open(server.port, { 'accept-encoding': 'gzip, deflate', accept: 'application/json' });
      await reader.until('\r\n\r\n');
      expect(reader.text()).toMatch(/^HTTP\/1.1 200 OK\r\n/);
      for (const header of [
        'request-id: req_01',
        'content-type: text/event-stream; charset=utf-8',
        'cache-control: no-cache, no-transform',
        'x-accel-buffering: no',
      ]) {
        expect(reader.text().toLowerCase()).toContain(`\r\n${header}`);
      }
      expect(reader.text()).not.toMatch(/content-(encoding|length)/i);
      reader.socket.destroy();
    }));

  it('[H39] every event has its name, one line of data and a blank line', () => {
    const odd = { type: 'agent.message', id: 'sevt_1', text: 'a\nb\u2028c\r' };
    const text = Buffer.from(encodeWireEvent(odd)).toString();
    expect(text).toBe(
      'event: agent.message\nid: sevt_1\ndata: {"type":"agent.message","id":"sevt_1","text":"a\\nb\u2028c\\r"}\n\n',
    );
    const encode = createEventEncoder();
    const said = { type: 'agent.message', text: 'once' };
    expect(encode(said)).toBe(encode(said));
    expect(encode({ ...said })).not.toBe(encode(said));
    expect(encode({ ...said })).toEqual(encode(said));
  });

  it('[H39] the official client reads them', () =>
    withStreams({}, async ({ server, streams, advance }) => {
      const client = new Anthropic({ baseURL: server.url, apiKey: 'any' });
      const response = await client.get('/v1/stream', { stream: true }).asResponse();
      const read = Stream.fromSSEResponse<{ text: string }>(response, new AbortController())[Symbol.asyncIterator]();
      streams[0]!.send(event('one'));
      advance(httpLimits.streamPingMs);
      streams[0]!.send(event('two'));
      streams[0]!.end();
      const texts: string[] = [];
      for (let next = await read.next(); next.done !== true; next = await read.next()) texts.push(next.value.text);
      expect(texts).toEqual(['one', 'two']);
    }));

  it('[H40] events of one tick are one write', () =>
    withStreams({}, async ({ server, streams }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      const before = reader.text().length;
      for (let index = 0; index < 16; index++) streams[0]!.send(event(`text ${index}`));
      await Promise.resolve();
      streams[0]!.send(event('last'));
      await reader.until('last"}\n\n\r\n');
      // One chunk: its length, the events, nothing between.
      const [size, ...rest] = reader.text().slice(before).split('\r\n');
      expect(rest).toHaveLength(2);
      expect(Buffer.byteLength(rest[0]!)).toBe(Number.parseInt(size!, 16));
      expect(rest[0]!.match(/event: /g)).toHaveLength(17);
      reader.socket.destroy();
    }));

  it('[H40] readers of equal and of different events each receive their own', () =>
    withStreams({}, async ({ server, streams }) => {
      const readers = [await open(server.port), await open(server.port), await open(server.port)];
      for (const reader of readers) await reader.until('\r\n\r\n');
      const [a, b, c, own] = [event('a'), event('b'), event('c'), event('own')];
      const given = [
        [a, b, c],
        [a, b, c],
        [a, own, c],
      ];
      // The order of streams may differ from that of connections.
      streams.forEach((stream, index) => given[index]!.forEach((bytes) => stream.send(bytes)));
      for (const reader of readers) await reader.until('"c"');
      streams.forEach((stream) => stream.end());
      for (const reader of readers) await reader.until('0\r\n\r\n');
      const texts = readers.map((reader) =>
        [...reader.text().matchAll(/"text":"(\w+)"/g)].map((match) => match[1]).join(' '),
      );
      expect(texts.toSorted()).toEqual(['a b c', 'a b c', 'a own c']);
      for (const reader of readers) reader.socket.destroy();
    }));

  it('[H41] a stream is never silent for longer than the limit, and a busy one gets no ping', () =>
    withStreams({}, async ({ server, streams, advance }) => {
      expect(httpLimits.streamPingMs).toBeLessThanOrEqual(10_000);
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      const pings = () => reader.text().match(/event: ping\ndata: \{"type":"ping"\}\n\n/g)?.length ?? 0;
      const half = httpLimits.streamPingMs / 2;
      advance(half);
      await reader.until('ping');
      advance(half - 1);
      streams[0]!.send(event('one'));
      await reader.until('one');
      advance(1);
      streams[0]!.send(event('two'));
      await reader.until('two');
      expect(pings()).toBe(1);
      advance(half);
      await until(() => pings() === 2);
      for (let count = 3; count < 10; count++) {
        advance(half);
        await until(() => pings() === count);
      }
      reader.socket.destroy();
    }));

  it('[H42] an error before the stream is an error response, and one within it an event that the official client throws', async () => {
    const handle = (stream: EventStream) => {
      stream.send(event('one'));
      throw requestError('invalid_request', 'the session is gone');
    };
    await withStreams({ handle }, async ({ server, requests }) => {
      const reader = await open(server.port);
      await reader.until('0\r\n\r\n');
      const [, data] = /event: error\ndata: (.*)\n\n/.exec(reader.text()) ?? [];
      const requestId = /request-id: (\S+)/.exec(reader.text())?.[1];
      expect(JSON.parse(data!)).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error' },
        request_id: requestId,
      });
      const client = new Anthropic({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
      const response = await client.get('/v1/stream', { stream: true }).asResponse();
      const read = async () => {
        for await (const _ of Stream.fromSSEResponse(response, new AbortController()));
      };
      await expect(read()).rejects.toBeInstanceOf(APIError);
      reader.socket.destroy();
      await until(() => requests.length === 2);
      expect(requests[0]).toMatchObject({ isStream: true, errorCode: 'invalid_request' });
    });
    await withStreams({ streams: { perKeyMax: 0 } }, async ({ send }) => {
      const { status, json } = await send({ path: '/v1/stream' });
      expect([status, json.error.type]).toEqual([429, 'rate_limit_error']);
    });
    await withStreams({}, async ({ send }) => {
      expect((await send({ method: 'HEAD', path: '/v1/stream' })).status).toBe(404);
    });
  });

  it('[H43] a key has a limited number of streams, and closing one makes room', () =>
    withStreams({ streams: { perKeyMax: 2 } }, async ({ server, send }) => {
      const readers = [await open(server.port), await open(server.port)];
      await until(() => server.openStreams === 2);
      const refused = await send({ path: '/v1/stream' });
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
      readers[0]!.socket.destroy();
      await until(() => server.openStreams === 1);
      const third = await open(server.port);
      await third.until('200 OK');
      for (const { socket } of [...readers, third]) socket.destroy();
      await until(() => server.openStreams === 0);
      expect(httpLimits.streamsPerKeyMax).toBe(1_024);
    }));
});

describe('slow and disconnected readers', () => {
  const megabyte = event('x'.repeat(1024 * 1024));

  it('[H44] a stopped reader is disconnected when its buffer is full, and does not affect other readers', () =>
    withStreams({}, async ({ server, streams, ends, requests }) => {
      const stalled = await open(server.port);
      await stalled.until('\r\n\r\n');
      stalled.socket.pause();
      const other = await open(server.port);
      await other.until('\r\n\r\n');
      const [slow, quick] = streams as [EventStream, EventStream];
      let given = 0;
      // This producer does not wait for room, so that the buffer limit ends the stream.
      while (!slow.signal.aborted && given < 100) {
        slow.send(megabyte);
        given++;
        await new Promise((resolve) => setImmediate(resolve));
      }
      // The socket buffers of both sides, the allowed buffer, and the event above it.
      expect(given).toBeGreaterThan(4);
      expect(given).toBeLessThan(20);
      expect(ends).toEqual(['slow']);
      expect(slow.send(megabyte)).toBe(false);
      quick.send(event('still here'));
      await other.until('still here');
      stalled.socket.resume();
      await once(stalled.socket, 'close');
      // No last chunk, so that the client notices the cut.
      expect(stalled.text().endsWith('0\r\n\r\n')).toBe(false);
      expect(requests).toMatchObject([{ isStream: true, isComplete: false }]);
      other.socket.destroy();
    }));

  it('[H44] one event larger than the buffer passes', () =>
    withStreams({ streams: { bufferBytesMax: 1_000 } }, async ({ server, streams, ends }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      streams[0]!.send(megabyte);
      await reader.until('x"}\n\n');
      expect(ends).toEqual([]);
      reader.socket.destroy();
    }));

  it('[H44] the buffer may hold as much as the limit, and the next event after more ends the stream', () =>
    // Nothing is written in this test: `defer` never runs.
    withStreams({ streams: { bufferBytesMax: 1_000, defer: () => {} } }, async ({ server, streams, ends }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      const [stream] = streams as [EventStream];
      expect(stream.send(new Uint8Array(1_000))).toBe(true);
      expect(stream.send(new Uint8Array(1))).toBe(true);
      expect(ends).toEqual([]);
      expect(stream.send(new Uint8Array(1))).toBe(false);
      expect(ends).toEqual(['slow']);
      reader.socket.destroy();
    }));

  it('[H45] a producer that sends more than the buffer in one tick is asked to wait in time, and the reader loses nothing', () =>
    withStreams({}, async ({ server, streams, ends }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      const [stream] = streams as [EventStream];
      const piece = event('y'.repeat(8 * 1024));
      const count = Math.ceil((3 * httpLimits.streamBufferBytesMax) / piece.length);
      // Like a feed of a long history: pauses only when `send` returns false.
      for (let given = 0; given < count; given++) if (!stream.send(piece)) await stream.room();
      stream.end();
      await reader.until('0\r\n\r\n');
      expect(reader.text().match(/event: agent.message/g)).toHaveLength(count);
      expect(ends).toEqual(['ended']);
      reader.socket.destroy();
    }));

  it('[H45] events of one tick are one write, up to a size at which they are written at once', async () => {
    const writes: number[] = [];
    const steady = () => performance.now();
    const bufferBytesMax = httpLimits.streamBufferBytesMax;
    const hooks = { bufferBytesMax, stallMs: 60_000, steady, flushSoon: () => {}, onEnd: () => {} };
    const streams: OpenStream[] = [];
    const server = createServer((_, response) => {
      streams.push(new OpenStream(response, hooks));
      const write = response.write.bind(response) as (bytes: Uint8Array) => boolean;
      response.write = (bytes: Uint8Array) => (writes.push(bytes.length), write(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => streams.length === 1);
    const [stream] = streams as [OpenStream];
    expect(stream.send(Buffer.alloc(httpLimits.streamWriteBytesMax - 1, 'x'))).toBe(true);
    expect(writes).toEqual([]);
    // A socket with that many bytes is full until it emits `drain`.
    expect(stream.send(Buffer.from('y'))).toBe(false);
    expect(writes).toEqual([httpLimits.streamWriteBytesMax]);
    await stream.room();
    stream.end();
    await once(socket, 'close');
    await new Promise((resolve) => server.close(resolve));
  });

  it('[H45] a producer that waits for room buffers nothing for a stopped reader, and continues when it reads again', () =>
    withStreams({}, async ({ server, streams, ends, advance }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      reader.socket.pause();
      const [stream] = streams as [EventStream];
      let given = 0;
      let isWaiting = false;
      const feeding = (async () => {
        while (given < 50) {
          given++;
          isWaiting = !stream.send(megabyte);
          if (isWaiting) await stream.room();
          isWaiting = false;
          await new Promise((resolve) => setImmediate(resolve));
        }
        stream.end();
      })();
      // Until nothing changes: the socket buffers of the kernel fill up first.
      let before = -1;
      for (let still = 0; still < 10; ) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        still = isWaiting && before === given ? still + 1 : 0;
        before = given;
      }
      expect(given).toBeLessThan(15);
      // Pings would only queue behind the other bytes.
      advance(httpLimits.streamPingMs * 10);
      expect(ends).toEqual([]);
      reader.socket.resume();
      await feeding;
      await reader.until('0\r\n\r\n');
      expect(reader.text().match(/event: agent.message/g)).toHaveLength(50);
      expect(reader.text()).not.toContain('ping');
      expect(ends).toEqual(['ended']);
      reader.socket.destroy();
    }));

  it('[H46] a reader that reads nothing for too long is disconnected, also after the end of the stream', async () => {
    for (const isEnded of [false, true]) {
      await withStreams({ streams: { stallMs: 100 } }, async ({ server, streams, ends, requests }) => {
        const reader = await open(server.port);
        await reader.until('\r\n\r\n');
        reader.socket.pause();
        const [stream] = streams as [EventStream];
        while (stream.send(megabyte)) await new Promise((resolve) => setImmediate(resolve));
        if (isEnded) stream.end();
        await until(() => requests.length === 1);
        expect(ends).toEqual([isEnded ? 'ended' : 'stalled']);
        expect(stream.signal.aborted).toBe(true);
        reader.socket.destroy();
      });
    }
  });

  it('[H47] a reader that disconnects is noticed at once, and the producer is notified', () =>
    withStreams({}, async ({ server, streams, ends, advance }) => {
      const reader = await open(server.port);
      await reader.until('\r\n\r\n');
      const [stream] = streams as [EventStream];
      expect(stream.signal.aborted).toBe(false);
      reader.socket.destroy();
      await once(stream.signal, 'abort');
      expect(ends).toEqual(['gone']);
      await stream.room();
      expect(stream.send(event('too late'))).toBe(false);
      stream.end();
      advance(httpLimits.streamPingMs);
      expect(ends).toEqual(['gone']);
      expect(server.openStreams).toBe(0);
    }));

  it('[H72] a reader that ends its side is gone from that moment, not only when its connection is closed', async () => {
    const gone: boolean[] = [];
    const steady = () => performance.now();
    const hooks = { bufferBytesMax: 1, stallMs: 60_000, steady, flushSoon: () => {}, onEnd: () => {} };
    const server = createServer((request, response) => {
      const { signal } = new OpenStream(response, hooks);
      request.socket.once('end', () => gone.push(signal.aborted));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    socket.end();
    await once(socket, 'close');
    expect(gone).toEqual([true]);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('good-bye', () => {
  it('[H48] when the server stops, streams receive everything sent, a reconnect delay and an orderly end', () =>
    withStreams({}, async ({ server, streams, ends, send }) => {
      const readers = [await open(server.port), await open(server.port)];
      await until(() => server.openStreams === 2);
      const late = connect(server.port, '127.0.0.1');
      let lateText = '';
      late.on('data', (chunk: Buffer) => (lateText += chunk.toString()));
      late.write('GET /v1/stream HTTP/1.1\r\n');
      await readers[0]!.until('200 OK');
      await send({ path: '/healthz' });
      for (const stream of streams) stream.send(event('last words'));
      const closed = server.close();
      late.write('host: localhost\r\n\r\n');
      await until(() => lateText.endsWith('}'));
      expect(lateText).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 1\r\n[^]*"error_code":"shutting_down"/i);
      await closed;
      for (const reader of readers) {
        await reader.until('0\r\n\r\n');
        expect(reader.text()).toMatch(
          /last words"}\n\n(\r\n\w+\r\n)?event: ping\nretry: 1000\ndata: \{"type":"ping"\}\n\n/,
        );
      }
      expect(ends).toEqual(['ended', 'ended']);
    }));
});

interface Reader {
  readonly socket: Socket;
  readonly text: () => string;
  /** Resolves when this text was received. */
  readonly until: (text: string) => Promise<void>;
}

async function open(port: number, headers: Record<string, string> = {}): Promise<Reader> {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /v1/stream HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`);
  // A destroyed connection may be reset.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return { socket, text: () => text, until: (wanted) => until(() => text.includes(wanted)) };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
