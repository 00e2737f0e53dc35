import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { FleetloomError } from '../../../base/errors.ts';
import { baseLimits } from '../../../base/limits.ts';
import { createScriptedHandler, type ScriptedHandlerOptions } from './http/handler.ts';
import { type ScriptedModelServer, type ServeScriptedModelOptions, serveScriptedModel } from './http.ts';
import { limits } from './limits.ts';
import { createScriptedModel, type ScriptedModel } from './model.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe('the bytes', () => {
  it('[K8] a stream is what the real API sends: an event line, a data line, an empty line', async () => {
    const response = await post(await serve(), asking([{ say: 'Hi' }], { stream: true }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('request-id')).toBe('req_01pTeTw8ENGJJMJEJAGzzYbr');
    const lines = (await response.text()).split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'event: message_start',
      'data: {"type":"message_start","message":{"id":"msg_01QD1cuLjH74xgR9RnjoGgee","type":"message","role":"assistant",' +
        '"model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,' +
        '"container":null,"diagnostics":null,"usage":{"input_tokens":11,"cache_creation_input_tokens":0,' +
        '"cache_read_input_tokens":0,"cache_creation":null,"output_tokens":1,"output_tokens_details":null,' +
        '"server_tool_use":null,"service_tier":"standard","inference_geo":null,"speed":null}}}',
    ]);
    expect(lines.slice(2, 14)).toEqual([
      '',
      'event: content_block_start',
      'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}',
      '',
      'event: ping',
      'data: {"type":"ping"}',
      '',
      'event: content_block_delta',
      'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}',
      '',
      'event: content_block_stop',
      'data: {"type":"content_block_stop","index":0}',
    ]);
    expect(lines.slice(14, 18)).toEqual([
      '',
      'event: message_delta',
      'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,' +
        '"container":null},"usage":{"input_tokens":11,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,' +
        '"output_tokens":1,"output_tokens_details":null,"server_tool_use":null}}',
      '',
    ]);
    expect(lines.slice(18)).toEqual(['event: message_stop', 'data: {"type":"message_stop"}', '', '']);
  });

  it('[K15] the same request gives the same bytes, streamed or not, from another server too', async () => {
    const turn = [{ think: 'Hm' }, { say: 'Hello {{agent}} 👩🚀', every_ms: 1 }, { call: 'bash', input: { a: 1 } }];
    for (const stream of [true, false]) {
      const bodies = [];
      for (const server of [await serve(), await serve()]) {
        for (let at = 0; at < 2; at++) {
          const response = await post(server, asking(turn, { stream }), { 'x-fleetloom-agent': 'me' });
          bodies.push(`${response.headers.get('request-id')} ${sha(Buffer.from(await response.arrayBuffer()))}`);
        }
      }
      expect(new Set(bodies).size).toBe(1);
    }
  });

  it('[K16] the streamed events are those of the model in process, and the other answer is their fold', async () => {
    const server = await serve();
    const turn = [{ think: 'Hm' }, { say: 'Hello there' }, { call: 'bash', input: { a: [1, { b: null }] } }];
    const streamed = parseEvents(await (await post(server, asking(turn, { stream: true }))).text());
    const model = createScriptedModel();
    const inProcess = [];
    for await (const event of model.stream(asking(turn))) inProcess.push(event);
    expect(streamed.filter(({ type }) => type !== 'ping')).toEqual(inProcess);
    expect(await (await post(server, asking(turn))).json()).toEqual(await model.create(asking(turn)));
  });

  it('[K18] an error is the API’s envelope, with its id in body and header and the time to wait', async () => {
    const turn = [{ fail: { status: 429, message: 'Slow down', retry_after_s: 0.25, times: 2 } }];
    const server = await serve();
    for (const stream of [true, false]) {
      const response = await post(server, asking(turn, { stream }));
      const id = response.headers.get('request-id');
      expect(response.status).toBe(429);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('retry-after')).toBe('0.25');
      expect(await response.json()).toEqual({
        type: 'error',
        error: { type: 'rate_limit_error', message: 'Slow down' },
        request_id: id,
      });
    }
    expect((await post(server, asking(turn))).status).toBe(200);
  });
});

describe('the routes', () => {
  it('[K19] keys and versions are neither needed nor looked at', async () => {
    const server = await serve();
    const headers = { 'x-api-key': 'any', authorization: 'Bearer any', 'anthropic-version': '1900-01-01' };
    expect((await post(server, asking([]), headers)).status).toBe(200);
    expect((await post(server, asking([]))).status).toBe(200);
    expect((await post(server, asking([]), {}, '/v1/messages?beta=true')).status).toBe(200);
  });

  it('[K19] the root answers that the server is running', async () => {
    const { url } = await serve();
    expect(await (await fetch(url)).json()).toEqual({ type: 'scripted_model' });
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('[K19] unknown paths, wrong methods and bodies that are not JSON are answered in the error envelope', async () => {
    const { url } = await serve();
    const problems: [path: string, init: RequestInit, status: number, type: string, message: string][] = [
      ['/v1/complete', { method: 'POST' }, 404, 'not_found_error', 'Not found: POST /v1/complete'],
      ['/v1/%zz', {}, 404, 'not_found_error', 'Not found: GET /v1/%zz'],
      ['/v1/messages', {}, 405, 'invalid_request_error', 'Method not allowed: GET; allowed: POST'],
      [
        '/v1/models',
        { method: 'DELETE' },
        405,
        'invalid_request_error',
        'Method not allowed: DELETE; allowed: GET, HEAD',
      ],
      [
        '/v1/messages',
        { method: 'POST', body: '{' },
        400,
        'invalid_request_error',
        'The request body is not valid JSON',
      ],
      ['/v1/messages', { method: 'POST' }, 400, 'invalid_request_error', 'The request body is not valid JSON'],
      [
        '/v1/messages',
        { method: 'POST', body: new Uint8Array([0x22, 0xff, 0x22]) },
        400,
        'invalid_request_error',
        'The request body is not valid JSON',
      ],
      [
        '/v1/messages',
        { method: 'POST', body: '3' },
        400,
        'invalid_request_error',
        'body: must be an object, got a number',
      ],
      [
        '/v1/messages',
        { method: 'POST', body: '{}' },
        400,
        'invalid_request_error',
        'messages: is missing, and must be a list',
      ],
      [
        '/v1/messages/count_tokens',
        { method: 'POST', body: '{}' },
        400,
        'invalid_request_error',
        'messages: is missing, and must be a list',
      ],
    ];
    for (const [path, init, status, type, message] of problems) {
      const response = await fetch(`${url}${path}`, init);
      const request_id = response.headers.get('request-id');
      expect([response.status, await response.json()]).toEqual([
        status,
        { type: 'error', error: { type, message }, request_id },
      ]);
    }
  });

  it('[K19] models are listed page by page, and found by their id with and without its slash escaped', async () => {
    const { url } = await serve();
    const list = async (query: string) => {
      const page: unknown = await (await fetch(`${url}/v1/models${query}`)).json();
      return page;
    };
    const all = ['echo', 'flaky', 'research', 'slow', 'tools', 'worker'].map((name) => `scripted/${name}`);
    const ids = (from: number, to: number) => all.slice(from, to).map((id) => expect.objectContaining({ id }));
    expect(await list('')).toEqual({ data: ids(0, 6), has_more: false, first_id: all[0], last_id: all[5] });
    expect(await list('?limit=2')).toEqual({ data: ids(0, 2), has_more: true, first_id: all[0], last_id: all[1] });
    expect(await list('?limit=4&after_id=scripted/flaky')).toMatchObject({ data: ids(2, 6), has_more: false });
    expect(await list('?limit=2&before_id=scripted/slow')).toMatchObject({ data: ids(1, 3), has_more: true });
    expect(await list('?after_id=scripted/worker')).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
    for (const path of ['scripted%2Fecho', 'scripted/echo']) {
      expect(await list(`/${path}`)).toMatchObject({ id: 'scripted/echo', display_name: 'Scripted: echo' });
    }
    expect((await fetch(`${url}/v1/models/claude-x`)).status).toBe(404);
  });

  it('[K22] a page has its length', async () => {
    const { url } = await serve();
    const status = async (limit: number | string) => (await fetch(`${url}/v1/models?limit=${limit}`)).status;
    expect([await status(1), await status(limits.modelsPageMax)]).toEqual([200, 200]);
    expect([await status(0), await status(limits.modelsPageMax + 1), await status('x')]).toEqual([400, 400, 400]);
    const names = Array.from({ length: limits.modelsPageDefault + 1 }, (_, at) => `s${at}`);
    const many = await serve({}, { ...createScriptedModel(), listScripts: async () => names });
    const page: unknown = await (await fetch(`${many.url}/v1/models`)).json();
    expect(page).toMatchObject({ has_more: true, last_id: `scripted/s${limits.modelsPageDefault - 1}` });
  });

  it('[K19] as part of another server the model answers below its path, and nowhere else', async () => {
    const handler = createScriptedHandler({ model: createScriptedModel(), basePath: '/scripted' });
    const server = createServer(handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    const paths = ['/scripted', '/scripted/', '/scripted/v1/models', '/v1/models', '/scriptedv1/models', '/'];
    expect(await Promise.all(paths.map(status))).toEqual([200, 200, 200, 404, 404, 404]);
    server.close();
    server.closeAllConnections();
  });
});

describe('bodies that are too big', () => {
  it('[K22] a body of the allowed size is read, and one byte more is 413, announced or not', async () => {
    const server = await serve({ bodyBytesMax: 1_000 });
    const body = JSON.stringify(asking([]));
    const padded = (bytes: number) => body.padEnd(bytes, ' ');
    const send = async (text: string, isAnnounced: boolean) => {
      const body = isAnnounced ? text : new Blob([text]).stream();
      // The types of the browser do not know yet that a streamed body has to say so.
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
      const response = await fetch(`${server.url}/v1/messages`, init);
      const { error } = (await response.json()) as { error?: { type: string } };
      return [response.status, error?.type];
    };
    for (const isAnnounced of [true, false]) {
      expect(await send(padded(1_000), isAnnounced)).toEqual([200, undefined]);
      expect(await send(padded(1_001), isAnnounced)).toEqual([413, 'request_too_large']);
      expect(await send(padded(3_000_000), isAnnounced)).toEqual([413, 'request_too_large']);
    }
    expect(baseLimits.bodyBytesMax).toBe(32 * 1024 * 1024);
  });

  it('[H82] a body of brackets is refused before it is parsed, and one at the limits is read', async () => {
    const { url } = await serve();
    const post = async (body: string) => (await fetch(`${url}/v1/messages`, { method: 'POST', body })).json();
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const problem = 'The request body is nested too deep or has too many values';
    expect(await post(nested(baseLimits.bodyDepthMax))).not.toMatchObject({ error: { message: problem } });
    expect(await post(nested(baseLimits.bodyDepthMax + 1))).toMatchObject({ error: { message: problem } });
    expect(await post('['.repeat(30_000_000))).toMatchObject({ error: { message: problem } });
    const wide = (values: number) => `[${'1,'.repeat(values - 3)}1]`;
    expect(await post(wide(baseLimits.bodyValuesMax))).not.toMatchObject({ error: { message: problem } });
    expect(await post(wide(baseLimits.bodyValuesMax + 2))).toMatchObject({ error: { message: problem } });
  });

  it('[K40] a request has as many values as on all other routes, and 16,000 messages fit', async () => {
    const { url } = await serve();
    const post = async (count: number) => {
      const messages = Array.from({ length: count }, (_, at) => ({
        role: at % 2 ? 'assistant' : 'user',
        content: 'x',
      }));
      const body = JSON.stringify({ model: 'scripted/echo', max_tokens: 1, messages });
      return (await fetch(`${url}/v1/messages`, { method: 'POST', body })).status;
    };
    expect(baseLimits.bodyValuesMax).toBe(baseLimits.bodyValuesMax);
    expect([await post(16_001), await post(17_001)]).toEqual([200, 400]);
  });

  it('[K41] a request whose client has gone is not planned to its end, and no error is reported', async () => {
    const errors: Error[] = [];
    const client = new AbortController();
    const model = createScriptedModel();
    let planned: Promise<unknown> = Promise.resolve();
    const plan: ScriptedModel['plan'] = (params, options) => {
      // Begins only now, so that the client is gone before it ends.
      planned = once(options!.signal!, 'abort').then(() => model.plan(params, options));
      client.abort();
      return planned as ReturnType<ScriptedModel['plan']>;
    };
    const handler = createScriptedHandler({ model: { ...model, plan }, onError: (error) => errors.push(error) });
    const server = createServer(handler).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const body = JSON.stringify(asking([{ say: 'a' }]));
    const asked = fetch(`http://127.0.0.1:${port}/v1/messages`, { method: 'POST', body, signal: client.signal });
    await expect(asked).rejects.toThrow('aborted');
    await expect(planned).rejects.toThrow('aborted');
    expect(errors).toEqual([]);
    server.close();
  });

  it('[K22] a client that never stops sending is disconnected', async () => {
    const server = await serve({ bodyBytesMax: 100, lingerMs: 50 });
    const request = httpRequest(`${server.url}/v1/messages`, { method: 'POST' });
    const sending = setInterval(() => request.write('x'.repeat(1_000)), 5);
    const ended = new Promise((resolve) => request.on('close', resolve).on('error', resolve));
    const [response] = await once(request, 'response');
    expect(response).toMatchObject({ statusCode: 413 });
    response.resume();
    await ended;
    clearInterval(sending);
  });
});

describe('clients that go, and clients that do not read', () => {
  it('[K11] a cut drops the connection after the text before it, without the end of the message', async () => {
    const server = await serve();
    const raw = await rawPost(server, asking([{ say: 'a b c' }, { cut: true }], { stream: true }));
    const text = await raw.all;
    expect(text).toContain('event: content_block_stop');
    expect(text).not.toContain('message_stop');
    // The chunk that would end the body never comes.
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    expect(await (await rawPost(server, asking([{ say: 'a' }, { cut: true }]))).all).toBe('');
  });

  it('[K20] a client that goes away stops its player', async () => {
    const watched = watch();
    const server = await serve({}, watched.model);
    const raw = await rawPost(server, asking([{ say: 'a' }, { sleep_ms: 60_000 }], { stream: true }));
    await raw.until('content_block_stop');
    raw.socket.destroy();
    await watched.ended;
    const waiting = await rawPost(server, asking([{ sleep_ms: 60_000 }]));
    await wait(20);
    waiting.socket.destroy();
    await watched.ended;
  });

  it('[K20] a client that does not read makes the player wait, not the memory grow', async () => {
    const watched = watch();
    const server = await serve({}, watched.model);
    const turn = Array.from({ length: 90 }, () => ({ say: 'x '.repeat(1_000) }));
    const raw = await rawPost(server, asking(turn, { stream: true }));
    await raw.until('message_start');
    raw.socket.pause();
    await watched.standstill();
    const played = watched.played();
    expect(played).toBeLessThan(90_000);
    raw.socket.resume();
    expect(await raw.all).toContain('message_stop');
    expect(watched.played()).toBeGreaterThan(90_000);
  });

  it('[K20] closing ends at once, with answers under way, and a second time too', async () => {
    const server = await serve();
    const raw = await rawPost(server, asking([{ say: 'a' }, { sleep_ms: 60_000 }], { stream: true }));
    await raw.until('content_block_stop');
    const startedAt = performance.now();
    await Promise.all([server.close(), server.close()]);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await raw.all).not.toContain('message_stop');
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
  });

  it('[K20] a port in use and a missing directory are reported before the server listens', async () => {
    const { port } = await serve();
    await expect(serveScriptedModel({ port })).rejects.toThrow(FleetloomError);
    await expect(serveScriptedModel({ port })).rejects.toThrow('choose another port');
    await expect(serveScriptedModel({ scriptsDirectory: '/nowhere/at/all' })).rejects.toThrow('name a directory');
  });

  it('[K18] a mistake of ours is a 500 in the envelope, or a broken stream, never a good answer', async () => {
    const broken: ScriptedModel = {
      ...createScriptedModel(),
      play: async function* (plan) {
        const [first] = plan.items;
        if (first?.type === 'event' && plan.items.length > 6) yield [first.event];
        await wait(20);
        throw new Error('out of paper');
      },
    };
    const errors: string[] = [];
    const server = await serve({ onError: ({ message }) => errors.push(message) }, broken);
    const response = await post(server, asking([], { stream: true }));
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { error: { type: 'api_error', message: 'out of paper' } },
    ]);
    const cut = await post(server, asking([{ say: 'a b c' }], { stream: true }));
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow('terminated');
    expect(errors).toEqual(['out of paper', 'out of paper']);
  });
});

async function serve(options: ServeScriptedModelOptions = {}, model?: ScriptedModel): Promise<ScriptedModelServer> {
  const server = model === undefined ? await serveScriptedModel(options) : await serveThis({ ...options, model });
  open.push(server);
  return server;
}

/** A server of a model that a test has changed. */
async function serveThis(options: ScriptedHandlerOptions): Promise<ScriptedModelServer> {
  const server = createServer(createScriptedHandler(options)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { host: '127.0.0.1', port, url: `http://127.0.0.1:${port}`, close };
}

function asking(turn: object[], params: object = {}) {
  const content = `<script>${JSON.stringify({ turns: [turn] })}</script>`;
  return { model: 'claude-sonnet-5', max_tokens: 100, messages: [{ role: 'user', content }], ...params };
}

async function post({ url }: ScriptedModelServer, body: object, headers: object = {}, path = '/v1/messages') {
  return await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), headers: { ...headers } });
}

/** A request on a bare socket: what the client reads, and when, is up to the test. */
async function rawPost({ port }: ScriptedModelServer, params: object) {
  const socket: Socket = connect(port, '127.0.0.1');
  const body = JSON.stringify(params);
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`,
  );
  socket.write(body);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => resolve()));
  const until = async (part: string) => {
    while (!text.includes(part)) await once(socket, 'data');
  };
  return { socket, until, all: closed.then(() => text) };
}

/** The model with a look at how far its players are. */
function watch() {
  const model = createScriptedModel();
  let played = 0;
  let end: () => void = () => {};
  const watched = {
    ended: new Promise<void>((resolve) => (end = resolve)),
    played: () => played,
    /** Waits until nothing moves any more. */
    standstill: async () => {
      for (let before = -1; before !== played; ) {
        before = played;
        await wait(100);
      }
    },
    model: {
      ...model,
      play: async function* (plan, options) {
        try {
          for await (const due of model.play(plan, options)) {
            played += due.length;
            yield due;
          }
        } finally {
          end();
          watched.ended = new Promise<void>((resolve) => (end = resolve));
        }
      },
    } satisfies ScriptedModel,
  };
  return watched;
}

function parseEvents(text: string): { type: string }[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line): { type: string } => JSON.parse(line.slice('data: '.length)));
}

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
