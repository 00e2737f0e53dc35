import { connect } from 'node:net';
import { Readable } from 'node:stream';
import Anthropic, { ConflictError, NotFoundError, RateLimitError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FleetloomError } from '../../base/errors.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { storeError } from '../../store/store-errors.ts';
import { ContentAnswer } from '../response/answer.ts';
import { createHttpServer } from './http-server.ts';
import { knownSecrets, sendTo, withHttpServer } from './http-server.suite.ts';
import { requestError } from '../../base/request-error.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { json } from '../schemas/common.ts';

const anything = z.looseObject({});

function failing(name: string, error: () => unknown): AnyRoute {
  return defineRoute({
    name: `things.${name}`,
    summary: 'Fails',
    method: 'get',
    path: `/v1/${name}`,
    accepts: ['api'],
    gives: anything,
    handle: async () => {
      throw error();
    },
  });
}

const echo = defineRoute({
  name: 'things.create',
  summary: 'Returns its input',
  method: 'post',
  path: '/v1/things',
  accepts: ['api'],
  query: z.strictObject({
    'created_at[gte]': z.string().optional(),
    tags: z.array(z.string()).optional(),
    limit: z.int().min(1).max(5).optional(),
    deep: z.boolean().optional(),
  }),
  body: z.strictObject({
    name: z.string().optional(),
    tools: z.array(z.strictObject({ name: z.string() })).optional(),
  }),
  gives: anything,
  handle: async ({ body, query }) => ({ type: 'thing', body, query }),
});

const archive = defineRoute({
  name: 'things.archive',
  summary: 'Takes no body',
  method: 'post',
  path: '/v1/agents/{agent_id}/archive',
  accepts: ['api'],
  gives: anything,
  handle: async ({ params }) => ({ id: params.agent_id }),
});

describe('answers', () => {
  it('[H1] every answer has a request id, and an error repeats it in its body', () =>
    withHttpServer({ routes: [echo, failing('broken', () => new Error('disk'))] }, async ({ send }) => {
      const made = await send({ method: 'POST', path: '/v1/things', body: {} });
      expect(made.headers['request-id']).toMatch(/^req_01/);
      for (const path of ['/nowhere', '/v1/broken', '/healthz', '/openapi.json']) {
        const { headers, json } = await send({ path });
        expect(headers['request-id']).toMatch(/^req_01/);
        if (json.type === 'error') expect(json.request_id).toBe(headers['request-id']);
      }
      const foreign = await send({ path: '/v1/broken', headers: { host: 'evil.example' } });
      expect(foreign.json.request_id).toBe(foreign.headers['request-id']);
    }));

  it('[H2] answers are JSON, and success is a 200', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const { status, headers, json } = await send({ method: 'POST', path: '/v1/things', body: { name: 'a' } });
      expect([status, headers['content-type']]).toEqual([200, 'application/json']);
      expect(json).toEqual({ type: 'thing', body: { name: 'a' }, query: {} });
    }));

  it('[H3] an unknown path and a wrong method are a 404 in the envelope, as the official client expects it', () =>
    withHttpServer({ routes: [echo, archive] }, async ({ server, send }) => {
      for (const [method, path] of [
        ['GET', '/_stainless_unknown_path'],
        ['PUT', '/v1/things'],
        ['GET', '/v1/things'],
        ['OPTIONS', '/v1/things'],
        ['GET', '/v1/%zz'],
        ['POST', '/v1/things/'],
      ] as const) {
        const { status, json } = await send({ method, path });
        expect([status, json?.error.type, path]).toEqual([404, 'not_found_error', path]);
      }
      const client = new Anthropic({ baseURL: server.url, apiKey: 'any' });
      const error = await client.get('/_stainless_unknown_path').catch((each: unknown) => each);
      expect(error).toBeInstanceOf(NotFoundError);
      expect(error).toMatchObject({ type: 'not_found_error', requestID: expect.stringMatching(/^req_01/) });
    }));

  it('[H104] a model request is a 404 whose message names where it belongs', () =>
    withHttpServer({}, async ({ send }) => {
      for (const path of [
        '/v1/messages',
        '/v1/messages?beta=true',
        '/v1/messages/count_tokens',
        '/v1/messages/batches',
        '/v1/responses',
        '/v1/responses/resp_1',
      ]) {
        const { status, json } = await send({ method: 'POST', path, body: {} });
        expect([status, json.error.type, json.error.details.error_code]).toEqual([
          404,
          'not_found_error',
          'unknown_path',
        ]);
        expect(json.error.message).toContain('POST /v1/sessions or POST /v1/orchestrate');
      }
      expect((await send({ path: '/v1/messagesx' })).json.error.message).toContain('/openapi.json lists them');
    }));

  it('[H4] the query `beta` and the headers `anthropic-version` and `anthropic-beta` have no effect', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const post = { method: 'POST', body: {} };
      const plain = (await send({ ...post, path: '/v1/things' })).json;
      expect((await send({ ...post, path: '/v1/things?beta=true' })).json).toEqual(plain);
      for (const headers of [
        { 'anthropic-version': '2023-06-01' },
        { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'message-batches-2024-09-24,managed-agents-2026-04-01' },
        { 'anthropic-workspace-id': 'wrkspc_other' },
      ]) {
        expect((await send({ ...post, path: '/v1/things', headers })).json).toEqual(plain);
      }
    }));

  it('[H5] an id in a path that is of another kind or too long does not exist', () =>
    withHttpServer({ routes: [archive] }, async ({ send }) => {
      const at = async (id: string) => (await send({ method: 'POST', path: `/v1/agents/${id}/archive` })).status;
      const longest = `agent_${'x'.repeat(httpLimits.pathIdCharsMax - 6)}`;
      expect(await at('agent_1')).toBe(200);
      expect(await at(longest)).toBe(200);
      expect(await at(`${longest}x`)).toBe(404);
      expect(await at('env_1')).toBe(404);
      expect(await at('agent')).toBe(404);
    }));
});

describe('errors', () => {
  const cases: [name: string, error: () => unknown, status: number, type: string][] = [
    [
      'caller',
      () => new FleetloomError({ code: 'x', kind: 'caller', problem: 'p', advice: 'a' }),
      400,
      'invalid_request_error',
    ],
    ['not-found', () => storeError('not_found', 'agent_1 does not exist'), 404, 'not_found_error'],
    ['conflict', () => storeError('version_conflict', 'it is at 2'), 409, 'conflict_error'],
    ['archived', () => storeError('archived', 'agent_1 is archived'), 400, 'invalid_request_error'],
    ['inputs', () => storeError('too_many_inputs', '1000 wait'), 429, 'rate_limit_error'],
    ['full', () => storeError('log_full', 'the log is full'), 529, 'overloaded_error'],
    ['store', () => storeError('store_failed', '/secret/path is full'), 500, 'api_error'],
    ['terminal', () => storeError('log_broken', '/secret/path is broken'), 500, 'api_error'],
    ['unknown', () => new TypeError('/secret/path'), 500, 'api_error'],
    ['thrown', () => 'a /secret/path that is not an error', 500, 'api_error'],
  ];

  it('[H6] an error has the status and type of its code, or else of its kind', () =>
    withHttpServer({ routes: cases.map(([name, error]) => failing(name, error)) }, async ({ send }) => {
      for (const [name, , status, type] of cases) {
        const { status: got, json } = await send({ path: `/v1/${name}` });
        expect([name, got, json.type, json.error.type]).toEqual([name, status, 'error', type]);
      }
    }));

  it('[H6] the error of an invalid request states what to do, and has a code for programs', () =>
    withHttpServer(
      { routes: [failing('x', () => requestError('unknown_id', 'env_1 does not exist'))] },
      async ({ send }) => {
        expect((await send({ path: '/v1/x' })).json.error).toEqual({
          type: 'not_found_error',
          message: 'env_1 does not exist: check the id, and that it was not deleted',
          details: { error_code: 'unknown_id' },
        });
      },
    ));

  it('[H7] an internal error shows the caller only the request id, and the log has the reason', () =>
    withHttpServer({ routes: cases.map(([name, error]) => failing(name, error)) }, async ({ send, errors }) => {
      for (const name of ['store', 'terminal', 'unknown', 'thrown']) {
        const { text, json } = await send({ path: `/v1/${name}` });
        expect(text).not.toContain('secret');
        expect(json.error.message).toContain(json.request_id);
      }
      expect(errors.map(String).filter((each) => each.includes('/secret/path'))).toHaveLength(4);
      await send({ path: '/v1/caller' });
      expect(errors).toHaveLength(4);
    }));

  it('[H8] a 409 is not retried by the official client', () =>
    withHttpServer(
      { routes: [failing('conflict', () => storeError('version_conflict', 'it is at 2'))] },
      async (live) => {
        const client = new Anthropic({ baseURL: live.server.url, apiKey: 'any' });
        const error = await client.get('/v1/conflict').catch((each: unknown) => each);
        expect(error).toBeInstanceOf(ConflictError);
        expect(live.requests).toHaveLength(1);
        expect((await live.send({ path: '/v1/conflict' })).headers['x-should-retry']).toBe('false');
      },
    ));

  it('[H9] a 429 has the number of seconds to wait', () =>
    withHttpServer({ rateLimit: { perSecond: 0.5, burst: 2 }, routes: [echo] }, async ({ server, send, advance }) => {
      const post = () => send({ method: 'POST', path: '/v1/things', body: {} });
      expect([(await post()).status, (await post()).status]).toEqual([200, 200]);
      const refused = await post();
      expect([refused.status, refused.json.error.type]).toEqual([429, 'rate_limit_error']);
      expect(refused.headers['retry-after']).toBe('2');
      const client = new Anthropic({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
      await expect(client.post('/v1/things', { body: {} })).rejects.toBeInstanceOf(RateLimitError);
      advance(1_999);
      expect((await post()).status).toBe(429);
      advance(1);
      expect((await post()).status).toBe(200);
    }));
});

describe('bodies', () => {
  it('[H10] a body that is not JSON or not UTF-8 is a 400', () =>
    withHttpServer({ routes: [echo] }, async ({ send, errors }) => {
      for (const body of ['{', '{"name":}', 'name=a', '\u0000', new Uint8Array([0x7b, 0xff, 0x7d])]) {
        const { status, json } = await send({ method: 'POST', path: '/v1/things', body });
        expect([status, json.error.details.error_code]).toEqual([400, 'invalid_json']);
      }
      for (const body of ['null', '[]', '"text"', '1']) {
        expect((await send({ method: 'POST', path: '/v1/things', body })).status).toBe(400);
      }
      expect(errors).toEqual([]);
    }));

  it('[H11] an empty body without a type is an empty object, and the type of a body does not matter', () =>
    withHttpServer({ routes: [archive, echo] }, async ({ send }) => {
      const path = '/v1/agents/agent_1/archive';
      for (const headers of [{}, { 'content-length': '0' }, { 'content-type': 'application/json' }]) {
        expect((await send({ method: 'POST', path, headers })).json).toEqual({ id: 'agent_1' });
      }
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect((await send({ method: 'POST', path: '/v1/things', headers, body: '{"name":"a"}' })).status).toBe(200);
      expect((await send({ method: 'POST', path, body: { name: 'a' } })).status).toBe(400);
    }));

  it('[H12] a body at the limit is read, one byte more is a 413, announced or not', () =>
    withHttpServer({ routes: [echo], bodyBytesMax: 1_000 }, async ({ send }) => {
      const bodyOf = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;
      const chunked = { 'transfer-encoding': 'chunked' };
      for (const headers of [{}, chunked]) {
        expect((await send({ method: 'POST', path: '/v1/things', headers, body: bodyOf(1_000) })).status).toBe(200);
        const { status, json } = await send({ method: 'POST', path: '/v1/things', headers, body: bodyOf(1_001) });
        expect([status, json.error.type]).toEqual([413, 'request_too_large']);
      }
    }));

  it('[H12] 32 MiB are allowed, and a larger content-length is refused without reading the body', () =>
    withHttpServer({ routes: [echo] }, async ({ server }) => {
      const head = `POST /v1/things HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${baseLimits.bodyBytesMax + 1}\r\n\r\n`;
      expect(await talk(server.port, `${head}{"name"`)).toMatch(/^HTTP\/1.1 413 /);
      expect(baseLimits.bodyBytesMax).toBe(32 * 1024 * 1024);
    }));

  it('[H13] a compressed body is a 415', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const headers = { 'content-encoding': 'gzip' };
      expect((await send({ method: 'POST', path: '/v1/things', headers, body: 'x' })).status).toBe(415);
    }));

  it('[H14] a request that does not arrive in time is a 408, headers that are too large a 431, and noise a 400', () =>
    withHttpServer(
      { routes: [echo], timeouts: { headersMs: 50, requestMs: 100, checkMs: 20 } },
      async ({ server, requests, errors }) => {
        const slow = await talk(
          server.port,
          'POST /v1/things HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{',
        );
        expect(slow).toMatch(/^HTTP\/1.1 408 /);
        expect(slow).toContain('"error_code":"request_timeout"');
        const id = /request-id: (\S+)/.exec(slow)?.[1];
        await until(() => requests.length === 1);
        expect(requests).toMatchObject([{ requestId: id, status: 408, errorCode: 'request_timeout' }]);
        expect(await talk(server.port, 'POST /v1/th')).toMatch(/^HTTP\/1.1 408 /);
        const large = `GET / HTTP/1.1\r\nhost: localhost\r\nx-large: ${'x'.repeat(baseLimits.headerBytesMax)}\r\n\r\n`;
        expect(await talk(server.port, large)).toMatch(/^HTTP\/1.1 431 /);
        const small = `GET / HTTP/1.1\r\nhost: localhost\r\nx-large: ${'x'.repeat(baseLimits.headerBytesMax - 100)}\r\n`;
        expect(await talk(server.port, `${small}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /);
        for (const strange of ['OPTIONS * HTTP/1.1\r\nhost: localhost', 'GET / HTTP/1.1\r\nhost: localhost:99999']) {
          const answer = await talk(server.port, `${strange}\r\nconnection: close\r\n\r\n`);
          expect(answer).toMatch(/^HTTP\/1.1 400 [^]*"error_code":"invalid_request"/);
        }
        const noise = await talk(server.port, 'HELLO\r\n\r\n');
        expect(noise).toMatch(/^HTTP\/1.1 400 /);
        expect(noise).toMatch(/request-id: req_01/);
        expect(errors).toEqual([]);
      },
    ));

  it('[H14] a client that disconnects in the middle of its body does not affect other clients', () =>
    withHttpServer({ routes: [echo] }, async ({ server, send, requests, errors }) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.write('POST /v1/things HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{');
      await until(() => socket.bytesWritten > 0);
      await send({ path: '/healthz' });
      socket.destroy();
      await until(() => requests.some(({ errorCode }) => errorCode === 'client_gone'));
      expect(requests.at(-1)).toMatchObject({ status: 499, isComplete: false });
      expect((await send({ method: 'POST', path: '/v1/things', body: {} })).status).toBe(200);
      expect(errors).toEqual([]);
    }));
});

describe('checks', () => {
  it('[H15] a wrong or unknown field is named after the operation', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const messageOf = async (body: object) =>
        (await send({ method: 'POST', path: '/v1/things', body })).json.error.message;
      expect(await messageOf({ colour: 'red' })).toBe('things.create: colour: is not known here: leave it out');
      expect(await messageOf({ tools: [{ name: 1 }] })).toBe(
        'things.create: tools.0.name: is not a string: send a string',
      );
      expect(await messageOf({ tools: [{}] })).toBe('things.create: tools.0.name: is missing: add it: a string');
      expect(await messageOf({ tools: {} })).toBe('things.create: tools: is not an array: send an array');
    }));

  it('[H16] lists in a query come in brackets or repeated, encoded or not', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const queryOf = async (query: string) => {
        const { status, json } = await send({ method: 'POST', path: `/v1/things?${query}`, body: {} });
        return status === 200 ? json.query : json.error.message;
      };
      for (const query of ['tags[]=a&tags[]=b', 'tags%5B%5D=a&tags%5B%5D=b', 'tags=a&tags=b', 'tags[]=a&tags=b']) {
        expect(await queryOf(query)).toEqual({ tags: ['a', 'b'] });
      }
      expect(await queryOf('tags=a')).toEqual({ tags: ['a'] });
      expect(await queryOf('created_at%5Bgte%5D=x')).toEqual({ 'created_at[gte]': 'x' });
      expect(await queryOf('created_at[gte]=x')).toEqual({ 'created_at[gte]': 'x' });
      expect(await queryOf('limit=5&deep=true')).toEqual({ limit: 5, deep: true });
    }));

  it('[H81] a name like an inherited property of objects is an unknown parameter, field or id like any other', () =>
    withHttpServer({ routes: [echo, archive] }, async ({ send, errors }) => {
      for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
        for (const query of [name, `${name}[]`, `${name}[x]`, encodeURIComponent(name)]) {
          const { status, json } = await send({ method: 'POST', path: `/v1/things?${query}=1`, body: {} });
          expect([query, status, json.error.type]).toEqual([query, 400, 'invalid_request_error']);
          expect(json.error.message).toContain('is not known here');
        }
        for (const body of [`{"${name}":1}`, `{"tools":[{"name":"a","${name}":{}}]}`]) {
          const { status, json } = await send({ method: 'POST', path: '/v1/things', body });
          expect([body, status, json.error?.type]).toEqual([body, 400, 'invalid_request_error']);
        }
        expect((await send({ method: 'POST', path: `/v1/agents/${name}/archive` })).status).toBe(404);
        expect((await send({ path: '/healthz', headers: { [name]: '1' } })).status).toBe(200);
      }
      expect(({} as Record<string, unknown>)['name']).toBeUndefined();
      expect(errors).toEqual([]);
    }));

  it('[H82] a body of 600 levels or 50,000 values is read, and one more is a 400 before it is parsed', () =>
    withHttpServer({ routes: [{ ...echo, body: z.strictObject({ any: json }) }] }, async ({ send, errors }) => {
      const statusOf = async (body: string) => (await send({ method: 'POST', path: '/v1/things', body })).status;
      const nested = (levels: number) => `{"any":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
      const objects = (levels: number) => `{"any":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels - 1)}}`;
      const wide = (values: number) => `{"any":[${'1,'.repeat(values - 3)}1]}`;
      const { bodyDepthMax: depth, bodyValuesMax: values } = baseLimits;
      expect([depth, values]).toEqual([600, 50_000]);
      for (const make of [nested, objects]) {
        expect(await statusOf(make(depth))).toBe(200);
        expect(await statusOf(make(depth + 1))).toBe(400);
      }
      expect(await statusOf(wide(values))).toBe(200);
      expect(await statusOf(wide(values + 1))).toBe(400);
      expect(await statusOf(nested(5_000_000))).toBe(400);
      expect(await statusOf('['.repeat(30_000_000))).toBe(400);
      expect(errors).toEqual([]);
    }));

  it('[H16] a parameter that is wrong, unknown, given twice or too often is a 400 that names it', () =>
    withHttpServer({ routes: [echo] }, async ({ send }) => {
      const messageOf = async (query: string) =>
        (await send({ method: 'POST', path: `/v1/things?${query}`, body: {} })).json.error?.message;
      expect(await messageOf('limit=6')).toContain('things.create: limit: ');
      expect(await messageOf('limit=many')).toContain('limit: is not a number');
      expect(await messageOf('limit=1.5')).toContain('limit: is not a whole number');
      expect(await messageOf('deep=1')).toContain('deep: is not a boolean');
      expect(await messageOf('limt=1')).toContain('limt: is not known here');
      expect(await messageOf('limit=1&limit=2')).toContain('limit: is given 2 times');
      const many = (count: number) => Array.from({ length: count }, () => 'tags[]=a').join('&');
      expect(await messageOf(many(httpLimits.queryValuesMax))).toBeUndefined();
      expect(await messageOf(many(httpLimits.queryValuesMax + 1))).toContain('tags: has more than 100 values');
    }));
});

describe('a handler', () => {
  it('[H69] is notified when its client disconnects, and can refuse targets that a credential does not include', async () => {
    let asked = false;
    let isGone = false;
    const session = {
      kind: 'session',
      id: 't',
      workspaceId: 'w',
      environmentId: 'env_1',
      sessionId: 'sesn_1',
    } as const;
    const waiting = defineRoute({
      name: 'things.wait',
      summary: 'Waits',
      method: 'get',
      path: '/v1/wait',
      accepts: ['session'],
      gives: anything,
      handle: async ({ signal }) => {
        asked = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isGone = true;
        return {};
      },
    });
    const reaching = defineRoute({
      ...waiting,
      name: 'things.reach',
      path: '/v1/reach/{session_id}',
      handle: async ({ checkReach, params }) => {
        checkReach({ sessionId: params.session_id, environmentId: 'env_2' });
        return {};
      },
    });
    const access = knownSecrets({ t: session });
    await withHttpServer({ routes: [waiting, reaching], access }, async ({ server, send, errors }) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.write('GET /v1/wait HTTP/1.1\r\nhost: localhost\r\nx-api-key: t\r\n\r\n');
      await until(() => asked);
      expect(isGone).toBe(false);
      socket.destroy();
      await until(() => isGone);
      const { status } = await send({ path: '/v1/reach/sesn_1', headers: { 'x-api-key': 't' } });
      expect(status).toBe(404);
      expect(errors).toEqual([]);
    });
  });
});

describe('bodies that are not JSON', () => {
  const upload = defineRoute({
    name: 'files.upload',
    summary: 'Takes bytes',
    method: 'post',
    path: '/v1/files',
    accepts: ['api'],
    readsBody: true,
    gives: anything,
    handle: async ({ incoming }) => {
      let bytes = 0;
      for await (const chunk of incoming) bytes += (chunk as Buffer).length;
      return { bytes };
    },
  });
  const download = (content: () => Readable): AnyRoute =>
    defineRoute({
      name: 'files.download',
      summary: 'Gives bytes',
      method: 'get',
      path: '/v1/files/content',
      accepts: ['api'],
      gives: 'content',
      handle: async () => new ContentAnswer({ 'content-type': 'application/octet-stream' }, content()),
    });
  const nothing: AnyRoute = { ...echo, name: 'work.poll', method: 'get', path: '/v1/poll', handle: async () => null };

  it('[H68] a route can read its body as a stream, and answer with content or with an empty body', () =>
    withHttpServer({ routes: [upload, download(() => Readable.from(['one ', 'two'])), nothing] }, async ({ send }) => {
      const body = new Uint8Array(100_000);
      expect((await send({ method: 'POST', path: '/v1/files', body })).json).toEqual({ bytes: 100_000 });
      const { status, headers, text } = await send({ path: '/v1/files/content' });
      expect([status, headers['content-type'], text]).toEqual([200, 'application/octet-stream', 'one two']);
      expect(headers['request-id']).toMatch(/^req_01/);
      expect(await send({ path: '/v1/poll' })).toMatchObject({ status: 200, text: 'null' });
    }));

  it('[H68] content that fails cuts the answer off, and a client that disconnects does not affect other clients', () =>
    withHttpServer({ routes: [download(brokenContent)] }, async ({ send, errors }) => {
      await expect(send({ path: '/v1/files/content' })).rejects.toThrow('aborted');
      expect(errors.map(String)).toEqual(['Error: disk']);
    }).then(() =>
      withHttpServer({ routes: [download(() => Readable.from(endless()))] }, async ({ server, requests, errors }) => {
        const socket = connect(server.port, '127.0.0.1');
        socket.write('GET /v1/files/content HTTP/1.1\r\nhost: localhost\r\n\r\n');
        socket.once('data', () => socket.destroy());
        await until(() => requests.length === 1);
        expect(requests).toMatchObject([{ status: 200, isComplete: false }]);
        expect(errors).toEqual([]);
      }),
    ));
});

describe('the server', () => {
  it('[H17] keeps connections alive for the next request, up to a limit', () =>
    withHttpServer({ connectionsMax: 2 }, async ({ server, send }) => {
      const ask = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n';
      const kept = connect(server.port, '127.0.0.1');
      let text = '';
      kept.on('data', (chunk: Buffer) => (text += chunk.toString()));
      kept.write(ask);
      await until(() => text.endsWith('{"status":"ok"}'));
      expect(text.toLowerCase()).toContain(`keep-alive: timeout=${baseLimits.keepAliveTimeoutMs / 1_000}\r\n`);
      expect((await send({ path: '/healthz' })).status).toBe(200);
      const second = connect(server.port, '127.0.0.1');
      await until(() => second.readyState === 'open');
      second.write(ask);
      await new Promise((resolve) => second.once('data', resolve));
      await expect(send({ path: '/healthz' })).rejects.toThrow(/ECONNRESET|socket hang up/);
      kept.write(ask);
      await until(() => text.match(/"ok"/g)?.length === 2);
      kept.destroy();
      second.destroy();
    }));

  it('[H17] listens on loopback by default, and without keys only there', async () => {
    await withHttpServer({}, async ({ server }) => {
      expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    });
    await withHttpServer({ host: '::1' }, async ({ server }) => {
      expect(server.url).toBe(`http://[::1]:${server.port}`);
    });
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
      await expect(withHttpServer({ host }, async () => {})).rejects.toMatchObject({ code: 'key_required' });
    }
    const access = knownSecrets({});
    await withHttpServer({ host: '0.0.0.0', access }, async ({ send }) => {
      expect((await send({ path: '/healthz' })).status).toBe(200);
    });
  });

  it('[H18] a port in use, and an address of another machine, are errors that state what to do', () =>
    withHttpServer({}, async ({ server, store }) => {
      const again = { routes: [], access: knownSecrets({}), keys: store.keys };
      await expect(createHttpServer({ ...again, port: server.port })).rejects.toMatchObject({
        code: 'port_taken',
        message: expect.stringContaining('choose another port; 0 takes any free one'),
      });
      await expect(createHttpServer({ ...again, host: '192.0.2.1' })).rejects.toMatchObject({ code: 'cannot_listen' });
    }));

  it('[H19] reports whether it is alive and ready, without a key', async () => {
    let isReady = false;
    await withHttpServer({ access: knownSecrets({}), isReady: () => isReady }, async ({ send }) => {
      expect((await send({ path: '/healthz' })).json).toEqual({ status: 'ok' });
      const waiting = await send({ path: '/readyz' });
      expect([waiting.status, waiting.json]).toEqual([503, { status: 'not_ready' }]);
      isReady = true;
      expect((await send({ path: '/readyz' })).status).toBe(200);
    });
  });

  it('[H20] the request log has the outcome of each request, and no secret', () =>
    withHttpServer(
      { routes: [echo, failing('broken', () => new Error('x'))], access: knownSecrets({ 'sk-secret': alice }) },
      async ({ send, requests, clock }) => {
        const headers = { authorization: 'Bearer sk-secret', 'idempotency-key': 'k-secret' };
        await send({ method: 'POST', path: '/v1/things?tags=q-secret', headers, body: { name: 'b-secret' } });
        await send({ path: '/v1/broken', headers });
        await send({ path: '/v1/broken?key=q-secret', headers: { 'x-api-key': 'w-secret' } });
        await send({ path: '/nowhere' });
        await until(() => requests.length === 4);
        expect(requests).toEqual([
          entry({ route: 'things.create', method: 'POST', path: '/v1/things', requestId: requests[0]!.requestId }),
          entry({ route: 'things.broken', path: '/v1/broken', status: 500, errorCode: 'unexpected' }),
          entry({ route: 'things.broken', path: '/v1/broken', status: 401, errorCode: 'wrong_key', ...anonymous }),
          entry({ route: undefined, path: '/nowhere', status: 404, errorCode: 'unknown_path', ...anonymous }),
        ]);
        expect(JSON.stringify(requests)).not.toContain('secret');
        expect(clock.steady()).toBe(0);
      },
    ));

  it('[H21] closing lets a request finish, refuses new ones and waits no longer than its grace period', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const slow = defineRoute({
      name: 'things.slow',
      summary: 'Responds slowly',
      method: 'get',
      path: '/v1/slow',
      accepts: ['api'],
      gives: anything,
      handle: async () => {
        await finished;
        return { type: 'late' };
      },
    });
    await withHttpServer({ routes: [slow] }, async ({ server, send }) => {
      const answer = send({ path: '/v1/slow', headers: { connection: 'keep-alive' } });
      const late = connect(server.port, '127.0.0.1');
      let lateText = '';
      late.on('data', (chunk: Buffer) => (lateText += chunk.toString()));
      late.write('GET /readyz HTTP/1.1\r\n');
      await until(async () => (await send({ path: '/healthz' })).status === 200);
      const closed = server.close();
      late.write('host: localhost\r\n\r\n');
      await until(() => lateText.endsWith('}'));
      expect(lateText).toMatch(/^HTTP\/1.1 503 [^]*connection: close\r\n[^]*not_ready/i);
      await expect(sendTo(server, { path: '/healthz' })).rejects.toThrow('ECONNREFUSED');
      finish();
      const { status, headers } = await answer;
      expect([status, headers.connection]).toEqual([200, 'close']);
      await closed;
      expect(server.close()).toBe(server.close());
    });
    const never = { ...slow, handle: () => new Promise<never>(() => {}) };
    await withHttpServer({ routes: [never] }, async ({ server, send, advance }) => {
      const answer = send({ path: '/v1/slow' }).catch((error: unknown) => error);
      await until(async () => (await send({ path: '/healthz' })).status === 200);
      let isClosed = false;
      const closed = server.close().then(() => (isClosed = true));
      advance(httpLimits.shutdownGraceMs - 1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(isClosed).toBe(false);
      advance(1);
      await closed;
      expect(await answer).toMatchObject({ code: 'ECONNRESET' });
    });
  });

  it('[P90] after its stop was announced it is not ready, serves requests without keeping connections, until it is closed', () =>
    withHttpServer({ routes: [echo] }, async ({ server, send }) => {
      server.announceStop();
      const ready = await send({ path: '/readyz' });
      expect([ready.status, ready.json]).toEqual([503, { status: 'not_ready', reason: 'stopping' }]);
      const served = await send({
        method: 'POST',
        path: '/v1/things',
        headers: { connection: 'keep-alive' },
        body: { name: 'a' },
      });
      expect([served.status, served.headers.connection]).toEqual([200, 'close']);
      await server.close();
      await expect(sendTo(server, { path: '/healthz' })).rejects.toThrow('ECONNREFUSED');
    }));

  it('[H22] the OpenAPI document is generated from the schemas that check the requests', () =>
    withHttpServer({ routes: [echo, archive] }, async ({ send }) => {
      const { json } = await send({ path: '/openapi.json' });
      expect(json.openapi).toBe('3.1.0');
      expect(Object.keys(json.paths)).toEqual(['/v1/things', '/v1/agents/{agent_id}/archive']);
      const { post } = json.paths['/v1/things'];
      expect(post.operationId).toBe('things.create');
      expect(post.parameters.map(({ name }: { name: string }) => name)).toEqual([
        'created_at[gte]',
        'tags',
        'limit',
        'deep',
      ]);
      expect(post.requestBody.content['application/json'].schema).toMatchObject({ additionalProperties: false });
      expect(json.paths['/v1/agents/{agent_id}/archive'].post.parameters[0]).toMatchObject({ in: 'path' });
      expect(json.components.schemas.Error.required).toEqual(['type', 'error', 'request_id']);
      expect(json.components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
    }));
});

const alice = { kind: 'api', id: 'key_alice', workspaceId: 'wrkspc_a' } as const;
const anonymous = { workspaceId: undefined, credentialId: undefined };

function entry(over: object) {
  return {
    requestId: expect.stringMatching(/^req_01/),
    method: 'GET',
    status: 200,
    durationMs: 0,
    isStream: false,
    isComplete: true,
    workspaceId: 'wrkspc_a',
    credentialId: 'key_alice',
    errorCode: undefined,
    ...over,
  };
}

function brokenContent(): Readable {
  return Readable.from(
    (function* () {
      yield 'one';
      throw new Error('disk');
    })(),
  );
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}

/** Sends bytes, and returns everything received until the server closes or one answer is complete. */
function talk(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('}}') || text.endsWith('"}')) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}
