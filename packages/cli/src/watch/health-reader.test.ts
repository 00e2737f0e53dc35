import type { SessionHealth, ThreadHealth } from '@fleetloom/protocol/fleet';
import { ServerClock } from '@fleetloom/client';
import { expect, it } from 'vitest';
import { FakeIo, settle } from '../../test-support/fake-io.ts';
import { FleetEvents } from '../../test-support/fleet-events.ts';
import { draw, modelOf } from '../../test-support/watch-models.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { limits } from '../limits.ts';
import { HealthReader } from './health-reader.ts';

const at = (ms: number) => new Date(ms).toISOString();

/** A thread whose model has said nothing for 95 s. */
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

it('[Y105] a stalled thread says for how long and what the server knows of it, in a window of any width', () => {
  const { events, lastAt, health } = silent();
  const model = modelOf(events);
  const row = (given: SessionHealth | undefined, columns = 140) => {
    model.health = given;
    return draw(model, events.nowMs, columns)[2];
  };
  const program = { doing: 'program', pid: 4711, is_alive: true, last_byte_at: at(lastAt), tool: null };
  const request = { doing: 'request', connection: 'open', last_byte_at: at(lastAt) };
  expect(row(health(program))).toMatch(/^›… {2}perf +stalled +no event 95s \(pid alive\) +95s /);
  // Where the word has no column of its own.
  expect(row(health(program), 80)).toMatch(/^›… {2}perf +stalled 95s \(pid alive\) +95s /);
  const told: [object | undefined, string, Partial<SessionHealth>?][] = [
    [{ ...program, is_alive: false }, 'pid dead'],
    [{ ...program, last_byte_at: at(lastAt + 92_000) }, 'pid alive, last byte 3s'],
    [{ ...program, pid: null, is_alive: false }, 'program not started'],
    [request, 'connection open'],
    [{ ...request, connection: 'sent', last_byte_at: null }, 'not answered'],
    [{ ...request, connection: null, last_byte_at: null }, 'request 95s'],
    [{ doing: 'tool', tool: 'bash' }, 'runs bash 95s'],
    [{ doing: 'elsewhere', tool: 'Bash' }, 'Bash runs or waits for permission'],
    [{ doing: 'elsewhere', tool: null }, 'runs in its terminal'],
    [{ doing: 'wait', waits_for: 'retry' }, 'waits for its next try'],
    [undefined, 'nothing under way'],
    [undefined, 'nobody works on it', { owner: null }],
    [undefined, 'node_2 does not answer', { is_known: false, owner: { node_id: 'node_2' } }],
  ];
  for (const [thread, words, more] of told) expect(row(health(thread, more))).toContain(`no event 95s (${words})`);
  expect(row(undefined)).toContain('no event for 1m 35s, the model has not begun');
});

it('[Y106] the server is asked only while a stalled thread is in the list, at most every 5 s, and what it said is not kept', async () => {
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
  expect(await look(limits.stalledMs - 1)).toBe(0);
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
  // Nobody is stalled any more.
  events.text(0, 'on it goes');
  io.timers.nowMs = events.nowMs;
  model.take(events.list.at(-1)!);
  expect(await look(limits.healthMsMin)).toBe(3);
  expect(model.health).toBeUndefined();
});
