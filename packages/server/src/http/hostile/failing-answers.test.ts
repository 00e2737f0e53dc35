import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import { ContentAnswer } from '../response/answer.ts';
import { knownSecrets, type TestHttpServerOptions, withHttpServer } from '../server/http-server.suite.ts';
import { type AnyRoute, defineRoute, type RouteRequest } from '../routing/route.ts';
import { encodeWireEvent } from '../streams/sse/event-encoder.ts';
import { exchangeBytes, openRaw, sendRaw, untilClosed } from './raw-http.suite.ts';

const anything = z.looseObject({});

function route(handle: (request: RouteRequest) => Promise<never>, gives: AnyRoute['gives'] = anything): AnyRoute {
  return defineRoute({
    name: 'things.fail',
    summary: 'Fails',
    method: 'get',
    path: '/v1/fail',
    accepts: ['api'],
    gives,
    handle,
  });
}

const live = (
  handle: (request: RouteRequest) => Promise<unknown>,
  gives?: AnyRoute['gives'],
): TestHttpServerOptions => ({
  routes: [route(handle as never, gives)],
  clock: systemClock,
});

describe('failing routes', () => {
  it('[H106] any thrown value becomes one complete answer, is logged once, and the connection serves the next request', async () => {
    const deep: unknown[] = [];
    for (let at = deep, level = 0; level < 100_000; level++) {
      const inner: unknown[] = [];
      at.push(inner);
      at = inner;
    }
    const cyclic: { self?: object } = {};
    cyclic.self = cyclic;
    const failures: (() => unknown)[] = [
      () => Promise.reject(new Error('disk')),
      () => Promise.reject(undefined),
      () => Promise.reject(null),
      () => Promise.reject(Symbol('x')),
      () => Promise.reject(Object.create(null)),
      () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
      () => cyclic,
      () => deep,
      () => ({ big: 1n }),
      () => ({
        toJSON: () => {
          throw new Error('no');
        },
      }),
      () => new ContentAnswer({ 'content-type': 'text/✓' }, Readable.from(['x'])),
      () => new ContentAnswer({ 'bad name': 'x' }, Readable.from(['x'])),
      () => new ContentAnswer({ 'x-y': 'a\r\nb' }, Readable.from(['x'])),
    ];
    for (const [index, failure] of failures.entries()) {
      await withHttpServer(
        live(async () => failure()),
        async ({ server, errors, requests }) => {
          const ask = 'GET /v1/fail HTTP/1.1\r\nhost: localhost\r\n\r\n';
          const next = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
          const [answer, health] = await exchangeBytes(server.port, ask + next);
          expect([index, answer?.status, answer?.isWhole, health?.status]).toEqual([index, 500, true, 200]);
          expect(JSON.parse(answer!.text).request_id).toBe(answer!.headers['request-id']);
          expect([index, errors.length]).toEqual([index, 1]);
          await expect.poll(() => requests.length).toBe(2);
          expect(requests[0]).toMatchObject({ status: 500, errorCode: 'unexpected', isComplete: true });
        },
      );
    }
  });

  it('[H106] a failing log closes at most the connection of its request, and the next client is served', () => {
    const onError = () => {
      throw new Error('the log is full');
    };
    const warned: unknown[] = [];
    const onWarning = (warning: unknown) => warned.push(warning);
    process.on('warning', onWarning);
    const fails = live(async () => {
      throw new Error('disk');
    });
    return withHttpServer({ ...fails, log: { onError, onRequest: onError } }, async ({ server, send }) => {
      expect(await exchangeBytes(server.port, 'GET /v1/fail HTTP/1.1\r\nhost: localhost\r\n\r\n')).toEqual([]);
      expect((await send({ path: '/healthz' })).status).toBe(200);
      await expect.poll(() => warned.length).toBeGreaterThan(0);
    }).finally(() => process.off('warning', onWarning));
  });
});

describe('streams', () => {
  it('[H106] a stream opened for a client that has left is over at once', async () => {
    let arrived = () => {};
    const isThere = new Promise<void>((resolve) => (arrived = resolve));
    let goOn = () => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const aborted: boolean[] = [];
    const late = live(async ({ openStream }) => {
      arrived();
      await held;
      const stream = openStream();
      aborted.push(stream.signal.aborted, stream.send(encodeWireEvent({ type: 'ping' })));
      await stream.room();
      stream.end();
      return stream;
    }, 'stream');
    await withHttpServer(late, async ({ server, requests, errors }) => {
      const socket = await openRaw(server.port);
      socket.write('GET /v1/fail HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await isThere;
      socket.destroy();
      await expect.poll(() => requests.length).toBe(1);
      goOn();
      await expect.poll(() => aborted).toEqual([true, false]);
      expect([server.openStreams, errors]).toEqual([0, []]);
    });
  });

  it('[H106] an error in a stream is one event and the end, and later events are dropped', () => {
    const breaks = live(async ({ openStream, fail }) => {
      const stream = openStream();
      stream.send(encodeWireEvent({ type: 'first' }));
      setTimeout(() => {
        fail(new Error('disk'));
        fail(new Error('again'));
        stream.send(encodeWireEvent({ type: 'late' }));
        stream.end();
      }, 20);
      return stream;
    }, 'stream');
    return withHttpServer(breaks, async ({ server, errors }) => {
      const socket = await openRaw(server.port);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write('GET /v1/fail HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await untilClosed(socket);
      expect(text).toMatch(/event: first[^]*event: error\ndata: {"type":"error"[^]*\n\n\r\n0\r\n\r\n$/);
      expect(text).not.toMatch(/late|disk|again/);
      expect(errors.map(String)).toEqual(['Error: disk']);
      expect(server.openStreams).toBe(0);
    });
  });
});

it('[H108] 2,000 requests with wrong keys are refused while requests with a valid key are served', () =>
  withHttpServer(
    { ...live(async () => ({})), access: knownSecrets({ right: { kind: 'api', id: 'key_1', workspaceId: 'w' } }) },
    async ({ server, send, errors }) => {
      const wrong = async (count: number) => {
        for (let index = 0; index < count; index++) {
          const headers = [['x-api-key', `wrong-${index}`]] as const;
          expect((await sendRaw(server.port, { method: 'GET', target: '/v1/fail', headers })).status).toBe(401);
        }
      };
      const flood = Promise.all(Array.from({ length: 20 }, () => wrong(100)));
      const state = { isOver: false };
      inBackground(
        flood.finally(() => (state.isOver = true)),
        () => {},
      );
      let longestMs = 0;
      while (!state.isOver) {
        const startedAt = performance.now();
        expect((await send({ path: '/v1/fail', headers: { 'x-api-key': 'right' } })).status).toBe(200);
        longestMs = Math.max(longestMs, performance.now() - startedAt);
      }
      await flood;
      expect(longestMs).toBeLessThan(2_000);
      expect(errors).toEqual([]);
    },
  ));
