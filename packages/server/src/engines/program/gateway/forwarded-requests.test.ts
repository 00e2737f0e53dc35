import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { programLimits } from '../limits.ts';
import { ask, KEY, openWay, readAll, type Way } from './gateway.suite.ts';

/** A gateway in front of an endpoint that records every request that reaches it. */
async function openRecorded(): Promise<Way & { readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const way = await openWay((request, response) => {
    request.resume().on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers });
      response.end('{}');
    });
    request.on('error', () => undefined);
  });
  return { ...way, seen };
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

describe('what the gateway forwards with the credential of the operator', () => {
  it.each([
    '/v1/messages',
    '/v1/messages?beta=true',
    '/v1/messages/count_tokens',
    '/v1/messages/count_tokens?beta=true',
  ])('[J190] POST %s reaches the endpoint', async (path) => {
    const { session, seen } = await openRecorded();
    expect((await ask(session, { path })).statusCode).toBe(200);
    expect(seen).toMatchObject([{ method: 'POST', url: path, headers: { 'x-api-key': KEY } }]);
  });

  it('[J190] any other path is refused with 404 and never reaches the endpoint', async () => {
    const { session, seen } = await openRecorded();
    for (const path of [
      '',
      '/',
      '/v1',
      '/v1/',
      '/v1/models',
      '/v1/files',
      '/v1/messages/',
      '/v1/messages/batches',
      '/v1/messages/../files',
      '/v1/messages/count_tokens/../../files',
      '/v1/./messages',
      '/v1//messages',
      '//v1/messages',
      '/v1%2Fmessages',
      '/v1/messages%2F..%2Ffiles',
      '/v1/%6Dessages',
      '/V1/messages',
      '/v1\\messages',
      '/v1/messages;x=1',
      '/v1/messages?beta=false',
      '/v1/messages?beta=true&x=1',
      '/v1/messages?',
      '/v1/messages?beta=true?beta=true',
      '/v1/organizations/api_keys',
      '/api/oauth/claude_cli/create_api_key',
    ]) {
      const answer = await ask(session, { path });
      expect([path, answer.statusCode]).toEqual([path, 404]);
      expect(JSON.parse((await readAll(answer)).toString())).toMatchObject({ error: { type: 'not_found_error' } });
    }
    expect(seen).toEqual([]);
  });

  it('[J190] any other method is refused with 405 and the method that is allowed', async () => {
    const { session, seen } = await openRecorded();
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await ask(session, { method, path: '/v1/messages' });
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'POST']);
      await readAll(answer);
    }
    expect(seen).toEqual([]);
  });

  it('[J190] a request line with a whole URL is refused, whatever host it names', async () => {
    const { session, seen } = await openRecorded();
    const { pathname, host } = new URL(session.baseURL);
    for (const target of [
      `http://${host}${pathname}/v1/messages`,
      `http://169.254.169.254${pathname}/v1/messages`,
      'http://169.254.169.254/latest/meta-data',
      '*',
    ]) {
      const method = target === '*' ? 'OPTIONS' : 'POST';
      const head = await sendRaw(session.baseURL, `${method} ${target} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n`);
      expect([target, head]).toEqual([target, 'HTTP/1.1 404 Not Found']);
    }
    expect(seen).toEqual([]);
  });

  it('[J191] headers about the connection, the way, another method and credentials stay behind', async () => {
    const { session, seen } = await openRecorded();
    const dropped = {
      'x-http-method-override': 'DELETE',
      'x-http-method': 'DELETE',
      'x-method-override': 'DELETE',
      'x-original-url': '/v1/files',
      'x-rewrite-url': '/v1/files',
      'x-forwarded-host': 'elsewhere',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      cookie: 'a=b',
      'proxy-authorization': 'Basic eA==',
      'x-api-key': 'mine',
      authorization: 'Bearer mine',
      upgrade: 'h2c',
      'x-hop': 'hop',
      connection: 'x-hop',
    };
    await readAll(await ask(session, { headers: { ...dropped, 'anthropic-version': '2023-06-01', 'x-app': 'cli' } }));
    const { headers } = seen[0]!;
    expect(headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'x-app': 'cli', 'x-api-key': KEY });
    const left = Object.keys(dropped).filter((name) => name !== 'x-api-key' && name !== 'connection');
    expect(Object.keys(headers).filter((name) => left.includes(name))).toEqual([]);
  });

  it('[J191] cookies of the endpoint do not reach the program', async () => {
    const { session } = await openWay((request, response) => {
      request.resume().on('end', () => response.setHeader('set-cookie', 'session=x').end('{}'));
    });
    const answer = await ask(session);
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined]);
  });

  it('[J192] a request body has a limit of bytes, announced or not', async () => {
    const { session, seen } = await openRecorded();
    const full = Buffer.alloc(programLimits.gatewayRequestBytesMax, 32);
    expect((await ask(session, { body: full })).statusCode).toBe(200);
    const over = Buffer.alloc(programLimits.gatewayRequestBytesMax + 1, 32);
    const answer = await ask(session, { body: over });
    expect(answer.statusCode).toBe(413);
    expect((await readAll(answer)).toString()).toContain(String(programLimits.gatewayRequestBytesMax));
    const chunked = await ask(session, { body: over, headers: { 'transfer-encoding': 'chunked' } });
    expect(chunked.statusCode).toBe(413);
    expect(seen).toHaveLength(1);
  }, 60_000);
});

/** The status line that a request as it stands gets. */
async function sendRaw(baseURL: string, head: string): Promise<string> {
  const { hostname, port } = new URL(baseURL);
  const socket = connect(Number(port), hostname);
  socket.write(`${head}\r\n`);
  const [piece] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return piece.toString().split('\r\n')[0]!;
}

it('[EG65] a response whose reason has control characters is a 502 for the program', async () => {
  const { session } = await openWay(
    (_, { socket }) => void socket?.end('HTTP/1.1 200 a\u0001b\r\nContent-Length: 1\r\n\r\nx'),
  );
  const answer = await ask(session);
  expect([answer.statusCode, answer.statusMessage]).toEqual([502, 'Bad Gateway']);
});
