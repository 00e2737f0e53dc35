import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { type FleetloomServer, limits, startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from './harness/expect.ts';
import { makeDirectory } from './conformance.suite.ts';
import { makeKey } from '../../test-support/make-key.ts';

let directory: string;
let server: FleetloomServer;
let key: string;
/** A key of another workspace. */
let strangerKey: string;
const logged: unknown[] = [];

beforeAll(async () => {
  directory = await makeDirectory();
  server = await startServer({
    dataDirectory: directory,
    log: { onRequest: (entry) => logged.push(entry), onError: (error) => logged.push(error) },
  });
  key = server.firstKey!;
  strangerKey = await makeKey(join(directory, 'keys'), 'wrkspc_other');
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** Everything that a program can ask about a session, with ids that exist. */
const paths = ({
  agent,
  environment,
  session,
  thread,
}: Record<'agent' | 'environment' | 'session' | 'thread', string>) =>
  [
    ['GET', `/v1/agents/${agent}`],
    ['GET', `/v1/agents/${agent}/versions`],
    ['POST', `/v1/agents/${agent}`],
    ['POST', `/v1/agents/${agent}/archive`],
    ['GET', `/v1/environments/${environment}`],
    ['POST', `/v1/environments/${environment}`],
    ['POST', `/v1/environments/${environment}/archive`],
    ['DELETE', `/v1/environments/${environment}`],
    ['GET', `/v1/sessions/${session}`],
    ['POST', `/v1/sessions/${session}`],
    ['POST', `/v1/sessions/${session}/archive`],
    ['DELETE', `/v1/sessions/${session}`],
    ['GET', `/v1/sessions/${session}/events`],
    ['POST', `/v1/sessions/${session}/events`, { events: [{ type: 'user.interrupt' }] }],
    ['GET', `/v1/sessions/${session}/events/stream`],
    ['GET', `/v1/sessions/${session}/threads`],
    ['GET', `/v1/sessions/${session}/threads/${thread}`],
    ['POST', `/v1/sessions/${session}/threads/${thread}/archive`],
    ['GET', `/v1/sessions/${session}/threads/${thread}/events`],
    ['GET', `/v1/sessions/${session}/threads/${thread}/stream`],
    ['GET', `/v1/sessions/${session}/fleet`],
  ] as const;

async function makeEverything() {
  const client = new Anthropic({ baseURL: server.url, apiKey: key, authToken: null });
  const { id: agent } = await client.beta.agents.create({ name: 'x', model: 'scripted/echo' });
  const { id: environment } = await client.beta.environments.create({ name: 'x' });
  const { id: session } = await client.beta.sessions.create({ agent, environment_id: environment });
  const [thread] = (await client.beta.sessions.threads.list(session)).data;
  return { client, ids: { agent, environment, session, thread: thread!.id } };
}

describe('who may ask', () => {
  it('[Q24] without a key, and with a wrong one, every path is 401', async () => {
    const { ids } = await makeEverything();
    for (const [method, path, body = {}] of paths(ids)) {
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': 'wrong' }]) {
        const answer = await ask({ method, path, headers, body });
        expect(`${path} ${answer.status} ${answer.type}`).toBe(`${path} 401 authentication_error`);
      }
    }
  });

  it('[Q25] for a key of another workspace nothing exists, and nothing of it changes', async () => {
    const { client, ids } = await makeEverything();
    for (const [method, path, body = {}] of paths(ids)) {
      const answer = await ask({ method, path, headers: { authorization: `Bearer ${strangerKey}` }, body });
      expect(`${path} ${answer.status} ${answer.type}`).toBe(`${path} 404 not_found_error`);
    }
    const stranger = new Anthropic({ baseURL: server.url, apiKey: strangerKey, authToken: null });
    expect((await stranger.beta.sessions.list()).data).toEqual([]);
    expect((await stranger.beta.agents.list()).data).toEqual([]);
    const mixed = stranger.beta.sessions.create({ agent: ids.agent, environment_id: ids.environment });
    expect((await refusalOf(mixed))?.status).toBe(404);
    expect((await client.beta.sessions.retrieve(ids.session)).status).toBe('idle');
    expect((await client.beta.agents.retrieve(ids.agent)).archived_at).toBeNull();
  });

  it('[Q26] a request by a name that is not ours, or of a page from elsewhere, is 403', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const path = '/v1/agents';
    for (const more of [
      { host: 'evil.example.com' },
      { host: `evil.example.com:${server.port}` },
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      expect(await ask({ path, headers: { ...headers, ...more } })).toMatchObject({
        status: 403,
        type: 'permission_error',
      });
    }
    expect((await ask({ path, headers: { ...headers, origin: `http://127.0.0.1:${server.port}` } })).status).toBe(200);
    expect((await ask({ path: `/v1/agents?key=${key}` })).status).toBe(401);
  });
});

describe('what may be sent', () => {
  it('[Q27] a body that is too large is 413, with and without a content-length', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const announced = await askRaw(
      `POST /v1/agents HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-length: ${limits.bodyBytesMax + 1}\r\n\r\n`,
    );
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    const body = Buffer.alloc(limits.bodyBytesMax + 1, 0x20);
    const chunked = await ask({
      method: 'POST',
      path: '/v1/agents',
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      body,
    });
    expect(chunked).toMatchObject({ status: 413, type: 'request_too_large' });
  });

  it('[Q27] a body that is not JSON, not an object, or a request that is not HTTP is 400', async () => {
    const { ids } = await makeEverything();
    const headers = { authorization: `Bearer ${key}` };
    for (const path of [
      '/v1/agents',
      '/v1/sessions',
      `/v1/sessions/${ids.session}/events`,
      `/v1/sessions/${ids.session}`,
    ]) {
      for (const body of [
        '{"events": [',
        '[]',
        '"x"',
        'null',
        '{"events":"x","\\ud800":1}',
        Buffer.from([0xff, 0xfe, 0x7b]),
      ]) {
        const answer = await ask({ method: 'POST', path, headers, body });
        expect(answer).toMatchObject({ status: 400, type: 'invalid_request_error' });
      }
    }
    expect(await askRaw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('[Q27] deep and wide JSON is refused, and the server still answers', async () => {
    const { ids } = await makeEverything();
    const headers = { authorization: `Bearer ${key}` };
    const path = `/v1/sessions/${ids.session}/events`;
    const deep = `{"events":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect((await ask({ method: 'POST', path, headers, body: deep })).status).toBe(400);
    const wide = JSON.stringify({ events: Array.from({ length: 100_000 }, () => ({ type: 'user.shout' })) });
    expect((await ask({ method: 'POST', path, headers, body: wide })).status).toBe(400);
    expect((await ask({ path: '/healthz' })).status).toBe(200);
  });

  it('[Q28] no API key is logged', async () => {
    expect(logged.length).toBeGreaterThan(50);
    const text = JSON.stringify(logged);
    for (const secret of [key, strangerKey]) expect(text).not.toContain(secret);
  });
});

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string | Buffer;
}

/** Sends exactly these bytes as a request. */
function ask({
  method = 'GET',
  path,
  headers = {},
  body,
}: Asked): Promise<{ status: number; type: string | undefined }> {
  const bytes =
    body === undefined || method !== 'POST'
      ? undefined
      : typeof body === 'string' || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { host: '127.0.0.1', port: server.port, method, path, agent: false, headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          const isJson = response.headers['content-type'] === 'application/json';
          const { error } = isJson ? (JSON.parse(text) as { error?: { type: string } }) : {};
          resolve({ status: response.statusCode!, type: error?.type });
        });
      },
    );
    // The server may hang up on a body that it does not want while it is still being written.
    sent.on('error', (error) => reject(error));
    sent.end(bytes);
  });
}

/** Bytes as they are; what comes back until the server hangs up or says enough. */
function askRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      resolve(String(chunk));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.write(text);
  });
}
