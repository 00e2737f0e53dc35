import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createSlots, encodeFleetEvent, type FleetEvent, foldSlots, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { encodeComment } from '@fleetloom/protocol/sse';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bundle } from '../../../test/support/bundle.ts';
import { serve } from '../../../test/support/http-server.ts';
import { isLong, seed, timeout } from '../../../test/support/seed.ts';
import { type ConnectionState, type FleetWatch, watchFleet, type WatchFleetOptions } from './watch-fleet.ts';
import { BackOff } from './watch-fleet-back-off.ts';
import { WatchFleetError } from './watch-fleet-error.ts';
import { limits } from './watch-fleet-limits.ts';
import type { Schedule } from './watch-fleet-schedule.ts';

describe('asking', () => {
  it.each<[Omit<WatchFleetOptions, 'url'>, string]>([
    [{}, '/v1/fleet'],
    [{ session: 'sesn_1' }, '/v1/sessions/sesn_1/fleet'],
    [{ session: 'a/b?c' }, '/v1/sessions/a%2Fb%3Fc/fleet'],
    [{ from: 'live', gate: 'live', include: ['thinking'] }, '/v1/fleet?from=live&gate=live&include=thinking'],
    [{ after: '7.1', from: 'live' }, '/v1/fleet?after=7.1'],
    [{ include: [] }, '/v1/fleet'],
  ])('[F40] %j asks for %s', async (options, address) => {
    const requests: IncomingMessage[] = [];
    const url = await start((request, response) => {
      requests.push(request);
      response.writeHead(204).end();
    });
    expect(await collect(watchFleet({ url, ...options }))).toEqual([]);
    expect(requests.map((request) => request.url)).toEqual([address]);
  });

  it('[F40] the key, own headers and the place go along, and a path in front of /v1 is kept', async () => {
    let headers: IncomingHttpHeaders = {};
    let path = '';
    const url = await start((request, response) => {
      [headers, path] = [request.headers, String(request.url)];
      response.writeHead(204).end();
    });
    await collect(watchFleet({ url: `${url}/team/`, key: 'secret', after: '7', headers: { 'x-team': 'a' } }));
    expect(headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'a', 'last-event-id': '7' });
    expect([headers.accept, path]).toEqual(['text/event-stream', '/team/v1/fleet?after=7']);
  });

  it('[F40] no request is sent before the first event is asked for, and a wrong address or key is reported at once', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const watching = watchFleet({ url: 'http://127.0.0.1:9', fetch });
    expect(await watching.return()).toEqual({ done: true, value: undefined });
    expect(await watching.next()).toEqual({ done: true, value: undefined });
    expect(fetch).not.toHaveBeenCalled();
    expect(() => watchFleet({ url: 'nowhere' })).toThrow(TypeError);
    expect(() => watchFleet({ url: 'http://127.0.0.1:9', key: 'two\nlines' })).toThrow(TypeError);
  });
});

describe('going on', () => {
  it('[F41] cut at any byte, every event comes exactly once and in order', { timeout: 120_000 }, async () => {
    const log = toLog(isLong ? 16 : 4);
    const bytes = Buffer.from(log.map(encodeFleetEvent).join(''));
    const asked = new Set<string | undefined>();
    let part: Buffer | undefined;
    const url = await start((request, response) => {
      const after = afterOf(request);
      if (part === undefined) {
        asked.add(after);
        return sendAll(stream(response), log, after);
      }
      // The callback comes when the bytes are on their way: only what follows them is lost.
      stream(response).write(part.length === 0 ? ':\n' : part, () => response.destroy());
      part = undefined;
    });
    for (let cut = 0; cut < bytes.length; cut++) {
      part = bytes.subarray(0, cut);
      const watching = watchFleet({ url, ...quick(), follow: false });
      expect(await collect(watching)).toEqual(log);
      expect([part, watching.cursor, watching.repeats]).toEqual([undefined, `${log.length}`, 0]);
    }
    expect(asked).toEqual(new Set([undefined, ...log.slice(0, -1).map(({ cursor }) => cursor)]));
  });

  it('[F41] where nothing had come through it begins where it was to begin', async () => {
    const asked: string[] = [];
    const url = await start((request, response) => {
      asked.push(String(request.url));
      if (asked.length === 1) stream(response).write(': hi\n\n', () => response.destroy());
      else if (asked.length === 2) stream(response).end('id: 9\n\n');
      else response.writeHead(204).end();
    });
    expect(await collect(watchFleet({ url, ...quick(), from: 'live' }))).toEqual([]);
    // An id without an event moves the place too: the server has nothing for us up to there.
    expect(asked).toEqual(['/v1/fleet?from=live', '/v1/fleet?from=live', '/v1/fleet?after=9']);
  });

  it('[F42] events that come again after a break are left out and counted', async () => {
    const log = toLog(6);
    const asked: (string | undefined)[] = [];
    const url = await start((request, response) => {
      asked.push(afterOf(request));
      // A server that is careless about the place: it begins two events too early each time.
      const from = Math.max(0, Number(asked.at(-1) ?? 0) - 2);
      const part = log.slice(from, from + 3);
      if (from + 3 >= log.length) part.push(over('7'));
      stream(response).end(part.map(encodeFleetEvent).join(''));
    });
    const watching = watchFleet({ url, ...quick() });
    expect(await collect(watching)).toEqual([...log, over('7')]);
    expect(watching.repeats).toBe(6);
    expect(asked).toEqual([undefined, '3', '4', '5']);
  });

  it('[F42] a repeat at the end of a connection does not move the place back', async () => {
    const log = toLog(3);
    const asked: (string | undefined)[] = [];
    const url = await start((request, response) => {
      asked.push(afterOf(request));
      if (asked.length > 1) response.writeHead(204).end();
      else stream(response).end([...log, ...log.slice(0, 1)].map(encodeFleetEvent).join(''));
    });
    expect(await collect(watchFleet({ url, ...quick() }))).toEqual(log);
    expect(asked).toEqual([undefined, '3']);
  });

  it('[F42] unknown events pass, and an event over the limit is reported as a gap', async () => {
    const novelty = parseFleetEvent({ event: 'novelty', id: '2', data: '{"a":1}' });
    const large = { ...toLog(3)[2], cursor: '3', delta: 'x'.repeat(2000) } as FleetEvent;
    const url = await start((_request, response) => {
      stream(response).end([...toLog(1), novelty, large, over('4')].map(encodeFleetEvent).join(''));
    });
    const events = await collect(watchFleet({ url, eventBytesMax: 1000 }));
    expect(events).toMatchObject([
      { cursor: '1' },
      { type: 'unknown', name: 'novelty', value: { a: 1 } },
      { type: 'gap', cursor: '', after: '2', reason: expect.stringContaining('limit of 1000') },
      { type: 'over' },
    ]);
  });

  it('[F43] readers that come at any time and are cut at any time fold to the same', { timeout }, async () => {
    const runs = isLong ? 5_000 : 40;
    const log = toLog(60);
    const expected = log.reduce(foldSlots, createSlots());
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(900), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(9), { minLength: 60, maxLength: 60 }),
        async (cuts, pace) => {
          // Closed each time: there are thousands of them in a long run.
          const server = await serve(growing(log, cuts, pace));
          let slots = createSlots();
          for await (const event of watchFleet({ url: server.origin, ...quick() })) {
            slots = foldSlots(slots, event);
            if (event.cursor === '60') break;
          }
          await server.close();
          expect(slots).toEqual(expected);
        },
      ),
      { seed, numRuns: runs },
    );
  });
});

describe('waiting', () => {
  it('[F44] waits grow from try to try up to a limit, with random jitter, and start again after an event', async () => {
    const chances = [1, 0.5, 1, 1];
    const log = toLog(2);
    let connections = 0;
    const url = await start((request, response) => {
      connections++;
      if (connections === 4) stream(response).end(encodeFleetEvent(log[0] as FleetEvent));
      else if (connections === 6) response.writeHead(204).end();
      else if (connections % 2 === 0) response.writeHead(503).end();
      else request.socket.destroy();
    });
    const { waits, ...options } = quick();
    await collect(watchFleet({ url, ...options, random: () => chances.shift() ?? 0 }));
    expect(waits).toEqual([500, 500, 2000, 500, 0]);
  });

  it('[F44] the longest wait is the limit, however often it failed', () => {
    const backOff = new BackOff(() => 1);
    const waits = Array.from({ length: 2000 }, () => backOff.next(0));
    expect(waits.slice(0, 8)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(waits.at(-1)).toBe(limits.backOffMsMax);
    backOff.reset();
    expect(backOff.next(0)).toBe(limits.backOffMsMin);
  });

  it.each([
    [limits.hintMsMax, limits.hintMsMax],
    [limits.hintMsMax + 1, limits.hintMsMax],
  ])('[F44] a server that asks for %i ms gets %i', (hint, wait) => {
    expect(new BackOff(() => 0).next(hint)).toBe(wait);
  });

  it('[F44] the delay that the server requests is the minimum, as retry or as Retry-After', async () => {
    let connections = 0;
    const url = await start((request, response) => {
      connections++;
      if (connections === 1) response.writeHead(429, { 'retry-after': '7' }).end();
      else if (connections === 2) request.socket.destroy();
      else if (connections === 3) response.writeHead(503, { 'retry-after': 'soon' }).end();
      else if (connections === 4) stream(response).end('retry: 1234\n\n: hi\n\n: ho\n\n');
      else if (connections === 5) response.writeHead(500).end();
      else response.writeHead(204).end();
    });
    const { waits, ...options } = quick();
    await collect(watchFleet({ url, ...options, random: () => 1 }));
    expect(waits).toEqual([7000 + 500, 1000, 2000, 1234 + 500, 1234 + 1000]);
  });

  it('[F44] a server that only greets and hangs up is asked more and more rarely', async () => {
    let connections = 0;
    const url = await start((_request, response) => {
      if (++connections > 3) response.writeHead(204).end();
      else stream(response).end(encodeComment('hi'));
    });
    const { waits, ...options } = quick();
    await collect(watchFleet({ url, ...options, random: () => 1 }));
    expect(waits).toEqual([500, 1000, 2000]);
  });

  it('[F45] a connection without any sign of life for 35 s is made again, and one with heartbeats is not', async () => {
    const timers = new ManualTimers();
    let connections = 0;
    const url = await start((_request, response) => {
      connections++;
      if (connections === 1) stream(response).write(': hi\n\n');
      else stream(response).end(encodeFleetEvent(over('1')));
    });
    const states: ConnectionState[] = [];
    const onConnection = (state: ConnectionState) => states.push(state);
    const events = collect(watchFleet({ url, schedule: timers.schedule, random: () => 0, onConnection }));
    await eventually(() => expect(states.map(({ type }) => type)).toEqual(['connecting', 'open']));
    // The heartbeat has set the clock back: only the newest timer is there.
    await eventually(() => expect(timers.waits).toEqual([limits.silenceMsMax]));
    timers.fire();
    await eventually(() => expect(timers.waits).toEqual([0]));
    timers.fire();
    expect(await events).toEqual([over('1')]);
    expect(states).toMatchObject([
      { type: 'connecting', attempt: 0 },
      { type: 'open' },
      { type: 'waiting', attempt: 1, waitMs: 0, error: { message: expect.stringContaining('35 s') } },
      { type: 'connecting', attempt: 1 },
      { type: 'open' },
    ]);
  });

  it('[F45] a server that takes the connection and never answers is given up after the same time', async () => {
    const timers = new ManualTimers();
    let connections = 0;
    const url = await start((_request, response) => {
      if (++connections > 1) response.writeHead(204).end();
    });
    const events = collect(watchFleet({ url, schedule: timers.schedule, random: () => 0 }));
    await eventually(() => expect([connections, timers.waits]).toEqual([1, [limits.silenceMsMax]]));
    timers.fire();
    await eventually(() => expect(timers.waits).toEqual([0]));
    timers.fire();
    expect(await events).toEqual([]);
    expect(timers.waits).toEqual([]);
  });
});

describe('failing', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'not_found'],
    [400, 'refused'],
    [422, 'refused'],
  ])('[F46] %i is reported as %s and not retried', async (status, code) => {
    let connections = 0;
    const url = await start((_request, response) => {
      connections++;
      response.writeHead(status).end('because');
    });
    const error = await collect(watchFleet({ url, ...quick() })).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WatchFleetError);
    expect(error).toMatchObject({ name: 'WatchFleetError', code, status, cause: { status } });
    expect(String(error)).toMatch(/because: .+/);
    expect(connections).toBe(1);
  });

  it('[F46] a response that is not an event stream is reported as such', async () => {
    const url = await start((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    );
    await expect(collect(watchFleet({ url, ...quick() }))).rejects.toMatchObject({ code: 'not_a_stream', status: 200 });
  });

  it.each([408, 425, 429, 500, 502, 503, 529])('[F46] %i is tried again', async (status) => {
    let connections = 0;
    const url = await start((_request, response) => {
      response.writeHead(++connections === 1 ? status : 204).end();
    });
    expect(await collect(watchFleet({ url, ...quick() }))).toEqual([]);
    expect(connections).toBe(2);
  });

  it('[F46] after an event was seen, a refusal ends it anyway', async () => {
    let connections = 0;
    const url = await start((_request, response) => {
      if (++connections === 1) sendAll(stream(response), toLog(2), undefined);
      else response.writeHead(404).end();
    });
    const events: FleetEvent[] = [];
    await expect(collect(watchFleet({ url, ...quick() }), events)).rejects.toMatchObject({ code: 'not_found' });
    expect(events).toEqual(toLog(2));
  });

  it.each([0, 1, 3])('[F46] with %i retries that many are made, and then it is given up', async (retriesMax) => {
    let connections = 0;
    const url = await start((request) => {
      connections++;
      request.socket.destroy();
    });
    const failed = collect(watchFleet({ url, ...quick(), retriesMax }));
    await expect(failed).rejects.toMatchObject({ code: 'gave_up', status: null, cause: expect.any(Error) });
    expect(connections).toBe(retriesMax + 1);
  });
});

describe('ending', () => {
  it('[F47] it is over when the server states it', async () => {
    let connections = 0;
    const url = await start((_request, response) => {
      connections++;
      stream(response).write([...toLog(2), over('3')].map(encodeFleetEvent).join(''));
    });
    expect(await collect(watchFleet({ url }))).toEqual([...toLog(2), over('3')]);
    expect(connections).toBe(1);
  });

  it('[F47] with follow: false it is over at the present, but not where an event was cut off', async () => {
    const asked: string[] = [];
    const url = await start((request, response) => {
      asked.push(String(request.url));
      if (asked.length === 1) stream(response).end(`${encodeFleetEvent(toLog(1)[0] as FleetEvent)}data: ha`);
      else sendAll(stream(response), toLog(2), afterOf(request));
    });
    expect(await collect(watchFleet({ url, ...quick(), follow: false }))).toEqual(toLog(2));
    expect(asked).toEqual(['/v1/fleet?follow=false', '/v1/fleet?follow=false&after=1']);
  });

  it('[F47] a signal ends it without an error: before, while it waits for an event, and while it waits to connect', async () => {
    const onClose = vi.fn();
    const url = await start((_request, response) => {
      response.on('close', onClose);
      stream(response).write(toLog(1).map(encodeFleetEvent).join(''));
    });
    expect(await collect(watchFleet({ url, signal: AbortSignal.abort() }))).toEqual([]);

    const controller = new AbortController();
    const watching = watchFleet({ url, signal: controller.signal });
    await watching.next();
    const rest = watching.next();
    controller.abort();
    expect(await rest).toEqual({ done: true, value: undefined });
    await eventually(() => expect(onClose).toHaveBeenCalled());

    const waiting = new AbortController();
    const onConnection = ({ type }: ConnectionState) => {
      if (type === 'waiting') setImmediate(() => waiting.abort());
    };
    const dead = await start((request) => request.socket.destroy());
    const never: Schedule = () => () => undefined;
    const options = { url: dead, signal: waiting.signal, schedule: never, onConnection };
    expect(await collect(watchFleet(options))).toEqual([]);
  });

  it('[F47] leaving the loop closes the connection, and return() does so at once, also while it waits', async () => {
    const onClose = vi.fn();
    const url = await start((_request, response) => {
      response.on('close', onClose);
      stream(response).write(toLog(2).map(encodeFleetEvent).join(''));
    });
    for await (const event of watchFleet({ url })) {
      expect(event.cursor).toBe('1');
      break;
    }
    await eventually(() => expect(onClose).toHaveBeenCalledTimes(1));

    const watching = watchFleet({ url });
    await watching.next();
    await watching.next();
    const rest = watching.next();
    expect(await watching.return()).toEqual({ done: true, value: undefined });
    expect(await rest).toEqual({ done: true, value: undefined });
    await eventually(() => expect(onClose).toHaveBeenCalledTimes(2));
  });

  it('[F47] a signal that outlives many watches keeps none of them', async () => {
    const url = await start((_request, response) => response.writeHead(204).end());
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    for (let count = 0; count < 3; count++) await collect(watchFleet({ url, signal }));
    expect(add.mock.calls.length).toBe(3);
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
  });

  it('[F47] an error in onConnection is the caller\u2019s, not a reason to connect again', async () => {
    const url = await start((_request, response) => sendAll(stream(response), toLog(1), undefined));
    const onConnection = ({ type }: ConnectionState) => {
      if (type === 'open') throw new RangeError('mine');
    };
    await expect(collect(watchFleet({ url, onConnection }))).rejects.toThrow(new RangeError('mine'));
  });
});

describe('a slow consumer', () => {
  it('[F48] is waited for: the server can send only what fits between them, and nothing is lost', async () => {
    const total = 4_000;
    let sent = 0;
    const url = await start((request, response) => {
      const out = stream(response);
      const send = () => {
        while (sent < total) {
          sent++;
          if (!out.write(encodeFleetEvent(toEvent(sent, 'x'.repeat(10_000))))) return void out.once('drain', send);
        }
        out.end(encodeFleetEvent(over(`${total + 1}`)));
      };
      request.socket.setNoDelay(true);
      send();
    });
    const watching = watchFleet({ url });
    await watching.next();
    const stopped = await settled(() => sent);
    // 40 MB were to be sent; sockets on both sides hold a few.
    expect(stopped).toBeLessThan(total / 2);
    const rest = await collect(watching);
    expect(rest).toHaveLength(total);
    expect(rest.every((event, index) => event.cursor === `${index + 2}`)).toBe(true);
  });
});

describe('a browser', () => {
  it('[F49] gets nothing of Node and no other package with it', async () => {
    const { code, bareImports } = await bundle('packages/client/src/watch-fleet.ts');
    expect(bareImports.every((name) => name.startsWith('@fleetloom/protocol/'))).toBe(true);
    expect(code).not.toMatch(/\bimport\b|\brequire\(|\bnode:|\bBuffer\b/);
  });
});

// --- support ---

/** As soon as it holds. Machines that do many things at once take their time. */
async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 20_000, interval: 5 });
}

async function start(listener: RequestListener): Promise<string> {
  const server = await serve(listener);
  onTestFinished(server.close);
  return server.origin;
}

function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function afterOf(request: IncomingMessage): string | undefined {
  const header = request.headers['last-event-id']?.toString();
  const query = new URL(String(request.url), 'http://here').searchParams.get('after') ?? undefined;
  expect(header).toBe(query);
  return header;
}

function sendAll(response: ServerResponse, log: readonly FleetEvent[], after: string | undefined): void {
  response.end(
    log
      .slice(Number(after ?? 0))
      .map(encodeFleetEvent)
      .join(''),
  );
}

function toEvent(number: number, delta = `“${number}” `): FleetEvent {
  const place = { stream_id: 0, depth: 0, agent: 'a', thread_id: 't', seq: number, ts: number };
  return parseFleetEvent({ event: 'text', id: `${number}`, data: JSON.stringify({ ...place, delta }) });
}

function toLog(length: number): FleetEvent[] {
  return Array.from({ length }, (_, index) => toEvent(index + 1));
}

function over(cursor: string): FleetEvent {
  return parseFleetEvent({ event: 'over', id: cursor, data: '{"reason":"deleted"}' });
}

async function collect(watching: FleetWatch, events: FleetEvent[] = []): Promise<FleetEvent[]> {
  for await (const event of watching) events.push(event);
  return events;
}

/** Waits take no time and are noted; silence never ends. */
function quick(): { schedule: Schedule; waits: number[] } {
  const waits: number[] = [];
  const schedule: Schedule = (callback, ms) => {
    if (ms === limits.silenceMsMax) return () => undefined;
    waits.push(ms);
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  };
  return { schedule, waits };
}

/** Timers that the test fires. */
class ManualTimers {
  #timers: { callback: () => void; ms: number }[] = [];

  get waits(): number[] {
    return this.#timers.map(({ ms }) => ms);
  }

  readonly schedule: Schedule = (callback, ms) => {
    const timer = { callback, ms };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  };

  fire(): void {
    for (const { callback } of this.#timers.splice(0)) callback();
  }
}

/** A log that grows while it is read. Each connection is cut after so many bytes, as long as there are cuts left. */
function growing(log: readonly FleetEvent[], cuts: readonly number[], pace: readonly number[]): RequestListener {
  const left = [...cuts];
  let [written, ticks] = [0, 0];
  return (request, response) => {
    const out = stream(response);
    let at = Number(afterOf(request) ?? 0);
    let budget = left.shift() ?? Number.POSITIVE_INFINITY;
    const tick = () => {
      if (out.destroyed) return;
      written = Math.min(log.length, written + (pace[ticks++ % pace.length] ?? 1) + (ticks % 60 === 0 ? 1 : 0));
      const bytes = Buffer.from(log.slice(at, Math.max(at, written)).map(encodeFleetEvent).join(''));
      at = Math.max(at, written);
      const part = bytes.subarray(0, budget);
      budget -= part.length;
      out.write(part.length === 0 ? ':\n' : part, () => {
        if (part.length < bytes.length || budget <= 0) out.destroy();
        else setImmediate(tick);
      });
    };
    tick();
  };
}

/** The number once it has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  for (let [before, same] = [-1, 0]; ; ) {
    const now = read();
    same = now === before ? same + 1 : 0;
    if (same === 20) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
