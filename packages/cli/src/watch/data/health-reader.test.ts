import { fleetLimits, type SessionHealth, type ThreadHealth } from '@fleetloom/protocol/fleet';
import { ServerClock } from '@fleetloom/client';
import { expect, it } from 'vitest';
import { FakeIo, settle } from '../../../test-support/fake-io.ts';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { draw, modelOf } from '../../../test-support/watch-models.ts';
import type { ServerApi } from '../../connection/server-api.ts';
import { limits } from '../../base/limits.ts';
import { HealthReader } from './health-reader.ts';

const at = (ms: number) => new Date(ms).toISOString();

/** A thread whose model has been silent for 95 s. */
function silent() {
  const events = new FleetEvents().start().open(0, 'perf', null, 'P');
  const lastAt = events.nowMs;
  events.later(95_000);
  const health = (thread: object | undefined, more: Partial<SessionHealth> = {}): SessionHealth => ({
    type: 'session_health',
    session_id: 'sesn_0123456789abcdef',
    is_known: true,
    owner: { node_id: null },
    // Each of them is one of the kinds; the test names only what differs.
    threads: thread === undefined ? [] : [{ id: 'P', since: at(lastAt), ...thread } as ThreadHealth],
    ...more,
  });
  return { events, lastAt, health };
}

it('[Y105] the row of a stalled thread shows for how long and the state the server reports, at any width', () => {
  const { events, lastAt, health } = silent();
  const model = modelOf(events);
  const row = (given: SessionHealth | undefined, columns = 140) => {
    model.health = given;
    return draw(model, events.nowMs, columns)[2];
  };
  const program = { doing: 'program', pid: 4711, is_alive: true, last_byte_at: at(lastAt), tool: null };
  const request = { doing: 'request', connection: 'open', last_byte_at: at(lastAt) };
  expect(row(health(program))).toMatch(
    /^›… {2}perf +stalled +pid 4711 alive, last byte 1 min 35 s ago · no event for 1 .* 1m /,
  );
  // Where the word has no column of its own.
  expect(row(health(program), 80)).toMatch(/^›… {2}perf +stalled pid 4711 alive, .* 1m /);
  const cases: [object | undefined, string, Partial<SessionHealth>?][] = [
    [{ ...program, is_alive: false }, 'pid 4711 dead, last byte 1 min 35 s ago'],
    [{ ...program, last_byte_at: at(lastAt + 92_000) }, 'pid 4711 alive, last byte 3 s ago'],
    [{ ...program, pid: null, is_alive: false }, 'program not started yet'],
    [request, 'connection open, last byte 1 min 35 s ago'],
    [{ ...request, connection: 'sent', last_byte_at: null }, 'no response, sent 1 min 35 s ago'],
    [{ ...request, connection: null, last_byte_at: null }, 'model request running for 1 min 35 s'],
    [{ doing: 'tool', tool: 'bash' }, 'runs bash for 1 min 35 s'],
    [{ doing: 'elsewhere', tool: 'Bash' }, 'Bash is running or waits for permission in its terminal'],
    [{ doing: 'elsewhere', tool: null }, 'runs in its terminal'],
    [{ doing: 'wait', waits_for: 'retry' }, 'waits for its next try'],
    [undefined, 'no work in progress'],
    [undefined, 'no node runs the session', { owner: null }],
    [undefined, 'node_2 does not respond', { is_known: false, owner: { node_id: 'node_2' } }],
  ];
  for (const [thread, words, more] of cases) expect(row(health(thread, more))).toContain(` ${words} · `);
  expect(row(undefined)).toContain('no event for 1 min 35 s · the model has not responded');
});

it('[Y106] health is requested only while a stalled thread is in the list, at most every 5 s, and is not kept afterwards', async () => {
  const { events, health } = silent();
  const model = modelOf(events);
  const io = new FakeIo();
  io.timers.nowMs = events.nowMs - 95_000;
  const asked: string[] = [];
  const answer = health({ doing: 'program', pid: 1, is_alive: true, last_byte_at: null, tool: null });
  const get = async (path: string) => (asked.push(path), answer);
  // Nothing else of it is used.
  const api = { clock: new ServerClock(), get } as unknown as ServerApi;
  let changes = 0;
  const reader = new HealthReader(io, api, model, () => (changes += 1));
  const look = async (ms: number) => {
    await io.timers.advance(ms);
    reader.look();
    await settle();
    return asked.length;
  };
  expect(await look(fleetLimits.stalledMs - 1)).toBe(0);
  expect(await look(1)).toBe(1);
  expect([asked[0], changes, model.health]).toEqual(['/v1/sessions/sesn_0123456789abcdef/health', 1, answer]);
  expect(limits.healthMsMin).toBe(5_000);
  expect(await look(limits.healthMsMin - 1)).toBe(1);
  expect(await look(1)).toBe(2);
  for (const change of [{ page: 'help' }, { page: 'threads', link: 'waiting' }] as const) {
    Object.assign(model, change);
    expect(await look(limits.healthMsMin)).toBe(2);
    expect(model.health).toBeUndefined();
  }
  model.link = 'live';
  expect(await look(limits.healthMsMin)).toBe(3);
  // No thread is stalled any more.
  events.text(0, 'on it goes');
  io.timers.nowMs = events.nowMs;
  model.take(events.list.at(-1)!);
  expect(await look(limits.healthMsMin)).toBe(3);
  expect(model.health).toBeUndefined();
});
