import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as breathe, setTimeout as wait } from 'node:timers/promises';
import { encodeEvent } from '@fleetloom/protocol/sse';
import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { modelLimits } from '../limits.ts';
import type { EngineEvent } from '../engine.ts';
import { ask, asking, failureOf, findDisorder, finishedOf, never, said } from '../suite/send-request.suite.ts';
import type { Schedule } from '../../../base/schedule.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { createGovernor } from './governor.ts';
import { createMessagesEngine } from './messages-engine.ts';
import type { MessagesEngineOptions } from './options.ts';

const KEY = 'sk-ant-test-key';
const started = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } };
const ending = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const request = asking([], { model: { id: 'm', effort: null, speed: 'standard' }, messages: [said('Hi')] });

describe('what is sent', () => {
  it('[N27] a request is one POST through the official SDK, with the key', async () => {
    const { url, seen } = await serve((_, response) => answer(response, [started, ...ending]));
    await ask(create({ baseURL: `${url}/prefix` }), request);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/prefix/v1/messages',
      headers: { authorization: `Bearer ${KEY}`, 'anthropic-version': expect.stringMatching(/^20\d\d-\d\d-\d\d$/) },
      body: { model: 'm', stream: true, messages: [{ role: 'user' }], metadata: { user_id: request.thread.id } },
    });
    expect(seen[0]?.headers['anthropic-beta']).toBeUndefined();
  });

  it('[N27] a token is as good as a key, and fast mode has its header', async () => {
    const { url, seen } = await serve((_, response) => answer(response, [started, ...ending]));
    const engine = create({ baseURL: url, credential: { authToken: 'tok' } });
    await ask(engine, { ...request, model: { id: 'm', effort: null, speed: 'fast' } });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer tok',
      'anthropic-beta': expect.stringMatching(/^fast-mode-/),
    });
  });

  it('[N27] nothing is repeated: the session decides about that', async () => {
    const { url, seen } = await serve((_, response) => void response.writeHead(500).end());
    expect(failureOf(await ask(create({ baseURL: url }), request))).toMatchObject({
      reason: 'request_failed',
      consequence: 'retry',
    });
    expect(seen).toHaveLength(1);
  });

  it('[N27] endpoints that cannot cache are not asked to', async () => {
    const { url, seen } = await serve((_, response) => answer(response, [started, ...ending]));
    await ask(create({ baseURL: url }), request);
    await ask(create({ baseURL: url, caching: false, maxTokens: 77 }), request);
    expect(JSON.stringify(seen[0]?.body)).toContain('cache_control');
    expect(JSON.stringify(seen[1]?.body)).not.toContain('cache_control');
    expect(seen[1]?.body).toMatchObject({ max_tokens: 77 });
  });
});

describe('what comes back', () => {
  const texts = ['Grüße ', '👩‍🚀', '日本'];
  const block = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
  ];
  const whole = encode([started, { type: 'ping' }, ...block, ...ending]);

  it('[N28] an answer may be cut into chunks anywhere, also inside a character', async () => {
    const { url } = await serve(async (_, response) => {
      begin(response);
      for (const byte of Buffer.from(whole)) {
        response.write(Buffer.of(byte));
        await breathe();
      }
      response.end();
    });
    const events = await ask(create({ baseURL: url }), request);
    expect(findDisorder(events)).toBeUndefined();
    expect(finishedOf(events).content).toEqual([{ type: 'text', text: texts.join('') }]);
  });

  it('[N28] an answer that ends before message_stop is a lost connection, wherever it ends and however politely', async () => {
    const bytes = Buffer.from(whole);
    const end = Buffer.from(encode([started, { type: 'ping' }, ...block, ...ending.slice(0, 1)])).length;
    const { url } = await serve((message, response) => {
      begin(response);
      const [cut, manner] = (message.url ?? '').slice(1).split('/')[0]?.split('-') ?? [];
      response.write(bytes.subarray(0, Number(cut)), () => (manner === 'end' ? response.end() : response.destroy()));
    });
    for (let cut = 1; cut <= end; cut += 37) {
      for (const manner of ['end', 'destroy']) {
        const events = await ask(create({ baseURL: `${url}/${cut}-${manner}` }), request);
        expect(failureOf(events)).toMatchObject({ reason: 'connection_lost', consequence: 'retry' });
        expect(findDisorder(events)).toBeUndefined();
      }
    }
  });

  it('[N28] events after message_stop are not read', async () => {
    const { url } = await serve((_, response) => {
      begin(response);
      response.write(`${whole}${encode([{ type: 'error', error: { type: 'api_error', message: 'late' } }])}`);
    });
    const events = await ask(create({ baseURL: url }), request);
    expect(finishedOf(events).content).toHaveLength(1);
  });

  it.each([
    ['overloaded_error', 'overloaded', 'retry'],
    ['rate_limit_error', 'rate_limited', 'retry'],
    ['api_error', 'request_failed', 'retry'],
    ['invalid_request_error', 'request_failed', 'turn'],
  ])('[N29] an error in the middle of an answer is classified: %s', async (type, reason, consequence) => {
    const error = { type: 'error', error: { type, message: 'Oh no' } };
    const { url } = await serve((_, response) => answer(response, [started, ...block, error, ...ending]));
    const events = await ask(create({ baseURL: url }), request);
    expect(failureOf(events)).toMatchObject({ reason, consequence, message: 'Oh no' });
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 3 } });
  });

  it.each([
    ['event: error\ndata: nonsense\n\n', 'is not valid JSON'],
    ['event: error\ndata: {}\n\n', 'broke off'],
    ['event: message_start\ndata: {"type":\n\n', 'is not valid JSON'],
    ['event: message_start\ndata: [1]\n\n', 'is not a JSON object'],
    ['data: {"type":"error","error":{"message":"unnamed"}}\n\n', 'unnamed'],
  ])('[N29] an event that cannot be read is a failure: %j', async (bytes, words) => {
    const { url } = await serve((_, response) => void begin(response).end(`${bytes}${whole}`));
    const failure = failureOf(await ask(create({ baseURL: url }), request));
    expect(failure).toMatchObject({ reason: 'request_failed', consequence: 'retry' });
    expect(failure.message).toContain(words);
  });

  it('[N29] an event has a limited number of bytes', async () => {
    const exact = (bytes: number) =>
      `data: {"type":"x","y":"${'z'.repeat(bytes - 'data: {"type":"x","y":""}'.length)}"}\n\n`;
    const { engineEventBytesMax: max } = modelLimits;
    const { url } = await serve((message, response) => {
      begin(response).end(`${exact(max + (message.url?.startsWith('/over') ? 1 : 0))}${whole}`);
    });
    expect(finishedOf(await ask(create({ baseURL: url }), request)).content).toHaveLength(1);
    const failure = failureOf(await ask(create({ baseURL: `${url}/over` }), request));
    expect(failure).toMatchObject({ reason: 'request_failed', consequence: 'retry' });
    expect(failure.message).toContain(String(max));
  });

  it('[N29] an HTML page instead of a response is reported with its type and what to check', async () => {
    const { url } = await serve(
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    );
    const failure = failureOf(await ask(create({ baseURL: url }), request));
    expect(failure).toMatchObject({ reason: 'request_failed', consequence: 'turn' });
    expect(failure.message).toContain('text/html');
    expect(failure.message).toContain('base URL');
  });
});

describe('connections', () => {
  it('[N30] an endpoint that is not there is a lost connection that names it, without its password', async () => {
    const { url, close } = await serve(() => undefined);
    await close();
    const failure = failureOf(await ask(create({ baseURL: url }), request));
    expect(failure).toMatchObject({ reason: 'connection_lost', consequence: 'retry' });
    expect(failure.message).toContain(url);
    expect(failure.message).toContain('ECONNREFUSED');
    const secret = failureOf(await ask(create({ baseURL: url.replace('//', '//user:password@') }), request));
    expect(secret.message).not.toContain('password');
  });

  it('[N26] a key that is not a valid header value does not appear in the failure', async () => {
    const { url } = await serve(() => undefined);
    const failure = failureOf(await ask(create({ baseURL: url, credential: { apiKey: 'se\ncret-é' } }), request));
    expect(failure.message).not.toContain('cret-');
  });

  it('[N30] an endpoint that does not begin to answer is given up', async () => {
    const { schedule, advance, waiting } = createManualSchedule(createManualClock());
    const { url, isGone, isAsked } = await serve(() => undefined);
    const asked = ask(create({ baseURL: url, schedule, firstByteMs: 60_000 }), request);
    await isAsked();
    advance(59_999);
    expect(waiting()).toBe(1);
    advance(1);
    expect(failureOf(await asked)).toMatchObject({ reason: 'connection_lost', consequence: 'retry' });
    await isGone();
    expect(waiting()).toBe(0);
  });

  it('[N30] an answer that falls silent is given up, and signs of life count', async () => {
    const { schedule, advance } = createManualSchedule(createManualClock());
    const open: ServerResponse[] = [];
    const { url, isGone, isAsked } = await serve((_, response) => void open.push(begin(response)));
    /** One for the beginning of the answer, then one for every read. */
    const waits: number[] = [];
    const counting: Schedule = (run, delayMs) => {
      waits.push(delayMs);
      return schedule(run, delayMs);
    };
    const asked = ask(create({ baseURL: url, schedule: counting, silenceMs: 1_000 }), request);
    await isAsked();
    open[0]?.flushHeaders();
    while (waits.length < 2) await breathe();
    for (const event of [started, { type: 'ping' }, { type: 'ping' }, { type: 'ping' }]) {
      const { length } = waits;
      open[0]?.write(encode([event]));
      while (waits.length === length) await breathe();
      advance(999);
    }
    advance(1);
    const failure = failureOf(await asked);
    expect(failure).toMatchObject({ reason: 'connection_lost', consequence: 'retry' });
    expect(failure.message).toContain('1000 ms');
    await isGone();
  });

  it('[N30] the default timeouts come from the limits', async () => {
    const delays: number[] = [];
    const { url } = await serve((_, response) => answer(response, [started, ...ending]));
    const schedule = (_: () => void, delayMs: number) => {
      delays.push(delayMs);
      return () => undefined;
    };
    await ask(create({ baseURL: url, schedule }), request);
    expect(delays[0]).toBe(modelLimits.engineFirstByteMs);
    expect(new Set(delays.slice(1))).toEqual(new Set([modelLimits.engineSilenceMs]));
  });

  it('[N31] interrupting closes the connection', async () => {
    const { url, isGone, isAsked } = await serve((_, response) => void begin(response).write(encode([started])));
    const controller = new AbortController();
    const asked = ask(create({ baseURL: url }), request, controller.signal);
    await isAsked();
    controller.abort();
    expect(failureOf(await asked).reason).toBe('interrupted');
    await isGone();
  });

  it('[N31] a consumer that stops reading closes the connection', async () => {
    const { url, isGone } = await serve((_, response) => {
      begin(response).write(
        encode([started, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }]),
      );
    });
    for await (const event of create({ baseURL: url }).request(request, never)) if (event.type === 'delta') break;
    await isGone();
  });

  it('[N31] closing the engine closes its connections', async () => {
    const { url, isGone, isAsked } = await serve((_, response) => void begin(response).write(encode([started])));
    const engine = create({ baseURL: url });
    const asked = ask(engine, request);
    await isAsked();
    await engine.close();
    expect(failureOf(await asked).reason).toBe('interrupted');
    await isGone();
  });

  it('[N31] a fetch that ignores its signal does not block the interrupt', async () => {
    const deaf = async () => new Promise<Response>(() => undefined);
    const controller = new AbortController();
    const asked = ask(create({ baseURL: 'http://example.invalid', fetch: deaf }), request, controller.signal);
    await breathe();
    controller.abort();
    expect(failureOf(await asked).reason).toBe('interrupted');
  });

  it('[N32] a stopped reader causes back-pressure on the endpoint', async () => {
    const piece = encode([
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(10_000) } },
    ]);
    let written = 0;
    const { url } = await serve(async (_, response) => {
      begin(response);
      response.write(
        encode([started, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }]),
      );
      while (written < 700 * piece.length && !response.destroyed) {
        written += piece.length;
        if (!response.write(piece)) await once(response, 'drain');
      }
      response.end(encode([{ type: 'content_block_stop', index: 0 }, ...ending]));
    });
    const events = create({ baseURL: url }).request(request, never)[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    let before = -1;
    while (before < written) {
      before = written;
      await wait(150);
    }
    // Sockets and streams hold some megabytes; the rest stays where it is.
    expect(written).toBeLessThan(6_000_000);
    let chars = 10_000;
    let last: EngineEvent | undefined;
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      last = next.value;
      if (next.value.type === 'delta') chars += next.value.text.length;
    }
    expect(last?.type).toBe('finished');
    expect(chars).toBe(700 * 10_000);
  });
});

describe('the governor', () => {
  it('[N33] requests wait for their turn, and the turn is given back before the answer is read to its end', async () => {
    const governor = createGovernor({ concurrencyMax: 1 });
    const { url, seen } = await serve((_, response) => answer(response, [started, ...ending]));
    const engine = create({ baseURL: url, governor });
    const first = engine.request(request, never)[Symbol.asyncIterator]();
    expect((await first.next()).value).toMatchObject({ type: 'finished' });
    // The reader has stopped, and the next request is served.
    await ask(engine, request);
    expect(seen).toHaveLength(2);
    expect(governor.counters()).toMatchObject({ active: 0, granted: 2 });
  });

  it.each([429, 529])('[N33] the governor is notified of errors of the endpoint: %i', async (status) => {
    const governor = createGovernor({ concurrencyMax: 8 });
    const { url } = await serve((_, response) => void response.writeHead(status, { 'retry-after': '60' }).end('{}'));
    const failure = failureOf(await ask(create({ baseURL: url, governor }), request));
    expect(failure.retryAfterMs).toBe(60_000);
    expect(governor.counters()).toMatchObject({ active: 0, limit: 4, pushedBack: 1 });
    expect(governor.counters().pausedMs).toBeGreaterThan(50_000);
  });

  it('[N33] the outcome of each request is reported to the governor', async () => {
    const governor = createGovernor({ concurrencyMax: 2 });
    (await governor.acquire('a', never))?.release({ type: 'pushed_back', retryAfterMs: null });
    expect(governor.counters().limit).toBe(1);
    const { url } = await serve((_, response) => answer(response, [started, ...ending]));
    await ask(create({ baseURL: url, governor }), request);
    expect(governor.counters().limit).toBe(2);
  });

  it('[V96] a request that has to wait is reported with the reason, and one that leaves the queue keeps no permit', async () => {
    const governor = createGovernor({ concurrencyMax: 1 });
    const { url } = await serve((_, response) => answer(response, [started, ...ending]));
    const engine = create({ baseURL: url, governor });
    const held = await governor.acquire('other', never);
    const events = engine.request(request, never)[Symbol.asyncIterator]();
    const leaver = engine.request(request, never)[Symbol.asyncIterator]();
    const queued = { type: 'queued', reason: 'concurrency', waitMs: null };
    expect((await events.next()).value).toEqual({ ...queued, ahead: 0 });
    expect((await leaver.next()).value).toEqual({ ...queued, ahead: 1 });
    // Granted and left in the same moment: the permit must be released.
    held?.release({ type: 'other' });
    await leaver.return?.();
    expect((await events.next()).value).toEqual({ type: 'admitted' });
    expect((await events.next()).value).toMatchObject({ type: 'finished' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(governor.counters()).toMatchObject({ active: 0, waiting: 0 });
    (await governor.acquire('other', never))?.release({ type: 'pushed_back', retryAfterMs: 40 });
    const paused = await ask(engine, request);
    expect(paused.slice(0, 2)).toMatchObject([{ type: 'queued', reason: 'paused' }, { type: 'admitted' }]);
    const [first] = paused;
    expect(first?.type === 'queued' ? first.waitMs : null).toBeLessThanOrEqual(40);
    expect(paused.at(-1)).toMatchObject({ type: 'finished' });
  });

  it('[V96] one that is granted and left before it is read gives its turn back', async () => {
    const governor = createGovernor({ concurrencyMax: 1 });
    const { url } = await serve((_, response) => answer(response, [started, ...ending]));
    const held = await governor.acquire('other', never);
    const leaver = create({ baseURL: url, governor }).request(request, never)[Symbol.asyncIterator]();
    expect((await leaver.next()).value).toMatchObject({ type: 'queued' });
    held?.release({ type: 'other' });
    await leaver.return?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(governor.counters()).toMatchObject({ active: 0, waiting: 0 });
  });

  it('[N33] an interrupt ends the wait for a turn', async () => {
    const governor = createGovernor({ concurrencyMax: 1 });
    await governor.acquire('other', never);
    const controller = new AbortController();
    const asked = ask(create({ baseURL: 'http://127.0.0.1:9', governor }), request, controller.signal);
    await breathe();
    expect(governor.counters().waiting).toBe(1);
    controller.abort();
    expect(failureOf(await asked).reason).toBe('interrupted');
    expect(governor.counters()).toMatchObject({ active: 1, waiting: 0 });
  });

  it('[N33] where the queue is full, the next request is rejected with a time to retry', async () => {
    const governor = createGovernor({ concurrencyMax: 1, queueMax: 0 });
    const { url } = await serve((_, response) => answer(response, [started, ...ending]));
    expect(failureOf(await ask(create({ baseURL: url, governor }), request))).toMatchObject({
      reason: 'overloaded',
      consequence: 'retry',
    });
  });

  it('[N33] every ending gives the turn back', async () => {
    const governor = createGovernor({ concurrencyMax: 1 });
    const { url } = await serve((message, response) => {
      if (message.url?.startsWith('/cut')) return void begin(response).destroy();
      if (message.url?.startsWith('/bad')) return void response.writeHead(400).end();
      begin(response).write(
        encode([started, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }]),
      );
    });
    await ask(create({ baseURL: `${url}/cut`, governor }), request);
    await ask(create({ baseURL: `${url}/bad`, governor }), request);
    for await (const event of create({ baseURL: url, governor }).request(request, never))
      if (event.type === 'delta') break;
    while (governor.counters().active > 0) await breathe();
    expect(governor.counters()).toMatchObject({ waiting: 0, granted: 3, limit: 1 });
  });
});

// --- a server whose every byte a test decides ---

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map(async (close) => close()));
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let gone: () => void = () => undefined;
  const someoneGone = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    response.on('close', gone);
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method, url, headers } = message;
      seen.push({ method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      void handle(message, response);
    });
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  closers.push(close);
  // A server that listens on a port has an address with it.
  const { port } = server.address() as AddressInfo;
  const isAsked = async () => {
    while (seen.length === 0) await breathe();
  };
  return { url: `http://127.0.0.1:${port}`, seen, close, isAsked, isGone: async () => someoneGone };
}

function create(options: Partial<MessagesEngineOptions>) {
  const engine = createMessagesEngine({ credential: { apiKey: KEY }, ...options });
  closers.push(async () => engine.close());
  return engine;
}

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function answer(response: ServerResponse, events: readonly WireEvent[]): void {
  begin(response).end(encode(events));
}

function encode(events: readonly WireEvent[]): string {
  return events.map((event) => encodeEvent({ event: event.type, data: JSON.stringify(event) })).join('');
}
