import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { knownSecrets, type TestHttpServerOptions, withHttpServer } from '../server/http-server.suite.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { serve } from '../server/listen.ts';
import { toConnectionLimits } from '../connections/connection-limits.ts';
import { exchangeBytes, openRaw, untilClosed } from './raw-http.suite.ts';

const anything = z.looseObject({});
const alice = { kind: 'api', id: 'key_alice', workspaceId: 'wrkspc_a' } as const;
const bob = { kind: 'api', id: 'key_bob', workspaceId: 'wrkspc_b' } as const;
const access = knownSecrets({ alice, bob });

const echo = defineRoute({
  name: 'things.create',
  summary: 'Returns its input',
  method: 'post',
  path: '/v1/things',
  accepts: ['api'],
  body: z.strictObject({ name: z.string().optional() }),
  gives: anything,
  handle: async ({ body }) => ({ body }),
});

const large = defineRoute({
  name: 'things.large',
  summary: 'Says a lot',
  method: 'get',
  path: '/v1/large',
  accepts: ['api'],
  gives: anything,
  handle: async () => ({ text: 'x'.repeat(30_000_000) }),
});

const stream = defineRoute({
  name: 'things.stream',
  summary: 'Never ends',
  method: 'get',
  path: '/v1/stream',
  accepts: ['api'],
  gives: 'stream',
  handle: async ({ openStream }) => openStream(),
});

const routes: readonly AnyRoute[] = [echo, large, stream];
const live: TestHttpServerOptions = { routes, access, clock: systemClock };

describe('requests that clients of Node cannot send', () => {
  it('[H98] each is answered in the envelope, and the next client is served', () =>
    withHttpServer(
      { ...live, timeouts: { headersMs: 300, requestMs: 300, checkMs: 50 } },
      async ({ server, send, errors }) => {
        const key = 'authorization: Bearer alice';
        const host = 'host: localhost';
        const cases: [bytes: string | Buffer, statuses: number[]][] = [
          [`GET /healthz HTTP/1.1\r\n${host}\r\nupgrade: websocket\r\nconnection: upgrade, close\r\n\r\n`, [200]],
          [
            `GET /healthz HTTP/1.1\r\n${host}\r\nupgrade: h2c\r\nhttp2-settings: AAA\r\nconnection: upgrade, close\r\n\r\n`,
            [200],
          ],
          ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
          [`GET http://localhost/healthz HTTP/1.1\r\n${host}\r\nconnection: close\r\n\r\n`, [200]],
          [`GET http://evil.example/healthz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`, [403]],
          [`GET http://[ HTTP/1.1\r\n${host}\r\nconnection: close\r\n\r\n`, [400]],
          [`OPTIONS * HTTP/1.1\r\n${host}\r\nconnection: close\r\n\r\n`, [400]],
          [`CONNECT localhost:1 HTTP/1.1\r\n${host}\r\n\r\n`, [400]],
          ['GET /healthz\r\n', [400, 408]],
          ['GET /healthz HTTP/0.9\r\n\r\n', [400]],
          ['GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', [400]],
          [`GET /healthz HTTP/1.1\r\n${host}\r\n${host}\r\nconnection: close\r\n\r\n`, [200, 400]],
          [`GET /healthz HTTP/1.0\r\n${host}\r\n\r\n`, [200]],
          [`GET /healthz HTTP/1.1\r\n${host}\r\nx: \u0000\r\n\r\n`, [400]],
          [`GET /healthz HTTP/1.1\r\n${host}\r\nx : y\r\n\r\n`, [400]],
          [`GET /healthz HTTP/1.1\r\n${host}\r\n folded\r\nconnection: close\r\n\r\n`, [400]],
          [`GET / HTTP/1.1\r\n${host}\r\nx: ${'y'.repeat(baseLimits.headerBytesMax)}\r\n\r\n`, [431]],
          [`GET /healthz?${'q'.repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n\r\n`, [431]],
          [`GET / HTTP/1.1\r\n${host}\r\n${'a:b\r\n'.repeat(5_000)}connection: close\r\n\r\n`, [404]],
          [Buffer.from('1603010200010001fc0303', 'hex'), [400]],
          [Buffer.alloc(100_000, 0xff), [400]],
          // Two lengths: a proxy may have used another one than the server (request smuggling).
          [
            `POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
            [400],
          ],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x`, [400]],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: +2\r\n\r\n{}`, [400]],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: 2, 2\r\n\r\n{}`, [400]],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: -1\r\n\r\n`, [400]],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\n`, [400]],
          [`POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n`, [400]],
          [
            `POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
            [400],
          ],
          [
            `POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
            [400],
          ],
          [
            `POST /v1/things HTTP/1.1\r\n${host}\r\n${key}\r\ntransfer-encoding: chunked\r\n\r\n${'f'.repeat(20)}\r\n`,
            [400],
          ],
        ];
        for (const [bytes, statuses] of cases) {
          const answers = await exchangeBytes(server.port, bytes, 5_000);
          const shown = bytes.toString('latin1').slice(0, 120);
          expect([shown, answers.length]).toEqual([shown, 1]);
          expect([shown, statuses]).toEqual([shown, expect.arrayContaining([answers[0]!.status])]);
          const { status, headers, text, isWhole } = answers[0]!;
          expect([shown, isWhole]).toEqual([shown, true]);
          if (status >= 400) expect([shown, JSON.parse(text).request_id]).toEqual([shown, headers['request-id']]);
          expect((await send({ path: '/healthz' })).status).toBe(200);
        }
        expect(errors).toEqual([]);
      },
    ));

  it('[H99] Expect: 100-continue is answered with 100 for a valid key, and with 401 for a wrong one', () =>
    withHttpServer(live, async ({ server }) => {
      const ask = async (key: string) => {
        const socket = await openRaw(server.port);
        let text = '';
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('{"name":"a"}');
        });
        const head = `POST /v1/things HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\nconnection: close`;
        socket.write(`${head}\r\nexpect: 100-continue\r\ncontent-length: 12\r\n\r\n`);
        await untilClosed(socket);
        return text;
      };
      expect(await ask('alice')).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK[^]*{"body":{"name":"a"}}$/);
      expect(await ask('wrong')).toMatch(/^HTTP\/1.1 401 /);
    }));

  it('[X22] after a refusal the rest of the body of a client that closes is read, so that closing does not reset the connection', () =>
    withHttpServer(live, async ({ server }) => {
      const socket = await openRaw(server.port);
      let isClosed = false;
      socket.on('end', () => (isClosed = true));
      const head = 'POST /v1/things HTTP/1.1\r\nhost: localhost\r\nx-api-key: wrong\r\nconnection: close\r\n';
      socket.write(`${head}content-length: 10\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
      await new Promise((resolve) => setTimeout(resolve, baseLimits.lingerMs / 5));
      expect(isClosed).toBe(false);
      socket.write('0123456789');
      await once(socket, 'end');
      socket.destroy();
    }));

  it('[H99] a client that continues to send its body after the answer is disconnected within about a second', () =>
    withHttpServer(live, async ({ server }) => {
      for (const target of ['POST /v1/things', 'GET /healthz', 'POST /nowhere']) {
        const socket = await openRaw(server.port);
        const startedAt = performance.now();
        let text = '';
        socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
        socket.write(`${target} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`);
        const sending = setInterval(() => socket.write('1\r\nx\r\n'), 10);
        await untilClosed(socket);
        clearInterval(sending);
        expect(text).toMatch(/^HTTP\/1.1 (401|200|404) /);
        expect(performance.now() - startedAt).toBeLessThan(10 * baseLimits.lingerMs);
      }
    }));
});

describe('slow clients', () => {
  it('[H95] a refused connection is closed although its client keeps its side open', () =>
    withHttpServer({ ...live, timeouts: { headersMs: 50, requestMs: 50, checkMs: 20 } }, async ({ server }) => {
      for (const bytes of ['', 'GET /healthz HTTP/1.1\r\nhost: local', 'NOISE\r\n\r\n']) {
        const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => {});
        let text = '';
        socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
        socket.write(bytes);
        await once(socket, 'end');
        expect(text).toMatch(/^HTTP\/1.1 (408|400) /);
        // Our side is still open; that the server has closed shows when something is sent.
        const sending = setInterval(() => socket.write('x'), 50);
        await untilClosed(socket);
        clearInterval(sending);
      }
    }));

  it('[H96] a client that stops reading an answer is disconnected, and a slow one receives all of it', () =>
    withHttpServer(
      { ...live, timeouts: { headersMs: 5_000, requestMs: 5_000, checkMs: 20, stallMs: 300 } },
      async ({ server, requests }) => {
        const ask = async () => {
          const socket = await openRaw(server.port);
          socket.pause();
          socket.write('GET /v1/large HTTP/1.1\r\nhost: localhost\r\nx-api-key: alice\r\nconnection: close\r\n\r\n');
          return socket;
        };
        const stopped = await ask();
        await expect.poll(() => requests.length).toBe(1);
        expect(requests).toMatchObject([{ route: 'things.large', isComplete: false }]);
        stopped.destroy();
        const slow = await ask();
        let bytes = 0;
        slow.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          slow.pause();
          setTimeout(() => slow.resume(), 1);
        });
        slow.resume();
        await untilClosed(slow);
        expect(bytes).toBeGreaterThan(30_000_000);
      },
    ));
});

describe('one connection', () => {
  it('[H97] pipelined requests are answered in their order, one at a time', () => {
    let underWay = 0;
    let most = 0;
    const counted = defineRoute({
      name: 'things.counted',
      summary: 'Counts',
      method: 'get',
      path: '/v1/agents/{agent_id}',
      accepts: ['api'],
      gives: anything,
      handle: async ({ params }) => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        return { id: params.agent_id };
      },
    });
    return withHttpServer({ ...live, routes: [counted] }, async ({ server }) => {
      const ask = (index: number) =>
        `GET /v1/agents/agent_${index} HTTP/1.1\r\nhost: localhost\r\nx-api-key: alice\r\n${index === 299 ? 'connection: close\r\n' : ''}\r\n`;
      const answers = await exchangeBytes(server.port, Array.from({ length: 300 }, (_, index) => ask(index)).join(''));
      expect(answers.map(({ text }) => text)).toEqual(
        Array.from({ length: 300 }, (_, index) => JSON.stringify({ id: `agent_${index}` })),
      );
      expect(most).toBe(1);
    });
  });

  it('[H97] a client that leaves with requests queued behind a stream leaves no stream open', () =>
    withHttpServer(live, async ({ server, requests }) => {
      const socket = await openRaw(server.port);
      const ask = 'GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: alice\r\n\r\n';
      socket.write(ask.repeat(5));
      await expect.poll(() => server.openStreams).toBe(1);
      socket.destroy();
      await expect.poll(() => server.openStreams).toBe(0);
      expect(requests).toHaveLength(1);
    }));
});

describe('too many connections', () => {
  it('[H91] with 2,000 idle connections new requests are answered, and the stream of a key stays open', () =>
    withHttpServer({ ...live, connectionsMax: 32 }, async ({ server, send }) => {
      const reader = await openRaw(server.port);
      let isCut = false;
      reader.on('close', () => (isCut = true));
      reader.write('GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: alice\r\n\r\n');
      await expect.poll(() => server.openStreams).toBe(1);
      const idle: Socket[] = [];
      for (let count = 0; count < 40; count++) {
        idle.push(...(await Promise.all(Array.from({ length: 50 }, () => openRaw(server.port)))));
        await expect.poll(async () => (await send({ path: '/healthz' }).catch(() => undefined))?.status).toBe(200);
      }
      await expect.poll(() => idle.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(32);
      const headers = { 'x-api-key': 'alice' };
      expect((await send({ method: 'POST', path: '/v1/things', headers, body: {} })).status).toBe(200);
      expect([isCut, server.openStreams]).toEqual([false, 1]);
      for (const socket of [...idle, reader]) socket.destroy();
    }));

  it('[H93] streams of one key leave room for other keys, and streams of all keys for clients without one', () =>
    withHttpServer({ ...live, connectionsMax: 16 }, async ({ server, send }) => {
      const open = async (key: string) => {
        const socket = await openRaw(server.port);
        socket.write(`GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\n\r\n`);
        const [text] = (await once(socket, 'data')) as [Buffer];
        return { socket, status: Number(text.toString().slice(9, 12)) };
      };
      const opened = [];
      for (let count = 0; count < 9; count++) opened.push(await open('alice'));
      for (let count = 0; count < 7; count++) opened.push(await open('bob'));
      expect(opened.map(({ status }) => status)).toEqual([...Array(8).fill(200), 429, ...Array(6).fill(200), 429]);
      expect(server.openStreams).toBe(14);
      await expect.poll(async () => (await send({ path: '/healthz' }).catch(() => undefined))?.status).toBe(200);
      for (const { socket } of opened) socket.destroy();
      await expect.poll(() => server.openStreams).toBe(0);
      expect((await open('alice')).status).toBe(200);
    }));

  it('[H94] a failing accept is reported once in 10 s, closes idle connections, and the server continues', async () => {
    const problems: string[] = [];
    const { server, port } = await serve({
      host: '127.0.0.1',
      port: 0,
      connections: () => toConnectionLimits({ max: 100 }, 1_000),
      timeouts: { headersMs: 5_000, requestMs: 5_000, checkMs: 1_000 },
      clock: systemClock,
      onRequest: (_, outgoing) => outgoing.end('here'),
      onBadRequest: () => undefined,
      onProblem: ({ message }) => problems.push(message),
    });
    const idle = await Promise.all(Array.from({ length: 20 }, () => openRaw(port)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Node emits this when the kernel has no descriptor for the connection.
    const failure = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
    server.emit('error', failure);
    server.emit('error', failure);
    expect(problems).toEqual([expect.stringContaining('cannot be accepted, with 12 open: accept EMFILE')]);
    await expect.poll(() => idle.filter(({ destroyed }) => destroyed).length).toBe(2 * httpLimits.connectionsSlack);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here');
    server.closeAllConnections();
    server.close();
  });
});
