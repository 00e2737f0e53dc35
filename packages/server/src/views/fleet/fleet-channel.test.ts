import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { baseLimits } from '../../base/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import type { FramePayloads, FrameType } from '../../frames/frames.ts';
import { ChangeWaiter } from '../../log/change-waiter.ts';
import { createLog, type SessionLog } from '../../log/log.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { newSession } from '../../store/suite/samples.suite.ts';
import { FleetChannels } from './fleet-channels.ts';
import { encodeToken, type FleetToken, parseToken } from './fleet-token.ts';
import { type KnownSession, KnownSessions } from './known-sessions.ts';
import { LOG_START, afterFrame } from './fleet-cursor.ts';
import { splitEvents } from './split-events.suite.ts';
import { watchEverything } from './watch-everything.ts';
import { watchFleet } from './watch-fleet.ts';

const options = { gate: 'off', includeThinking: false } as const;
const clock = createManualClock(Date.UTC(2026, 0, 1));
let store: Store;
let log: SessionLog;
beforeEach(() => {
  store = createMemoryStore({ clock });
  log = createLog({ store });
});
afterEach(async () => {
  await log.close();
  await store.close();
});

/** Frames of one turn, as sessions write them, as far as the view looks at them. */
function frame<Type extends FrameType>(type: Type, payload: Partial<FramePayloads[Type]>) {
  const turn = type === 'session.created' ? null : { streamId: 0, depth: 0, run: 'req_1' };
  return { threadId: 'sthr_1', turn, time: clock.now(), type, payload };
}

/** A session in the middle of a run that has said so many pieces of text. */
async function open(id: string, texts: readonly string[] = [], workspaceId = 'w1') {
  const run = {
    id: 'req_1',
    started_at: clock.now(),
    ended_at: null,
    state: 'running',
    agent_name: 'lead',
    message: '',
  };
  const first = [
    frame('session.created', { agent: { model: { id: 'scripted/x' } } as never, depth_max: 2, members: [] }),
    frame('run.started', { agent_name: 'lead', message: 'Go' }),
    frame('turn.started', { agent_name: 'lead', model: 'm', task: 'Go', parent_stream_id: null, child_index: null }),
  ];
  const session = newSession(id, { workspaceId, status: 'running', data: { run }, createdAt: clock.now() });
  await log.append({ type: 'create', session, frames: first, changes: [] });
  const lease = await store.leases.acquire({ sessionId: id, owner: 'test', ttlMs: 60_000 });
  const fence = lease.ok ? lease.fence : 0;
  const append = (...frames: ReturnType<typeof frame>[]) =>
    log.append({ type: 'append', sessionId: id, fence, frames, changes: [] });
  const say = (text: string) => append(frame('delta.text', { id: 'sevt_1', text }));
  for (const text of texts) await say(text);
  const end = () =>
    append(
      frame('turn.ended', { ok: true, stop_reason: 'end_turn', error: null }),
      frame('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' }),
    );
  return { say, end };
}

describe('what readers share', () => {
  it('[V78] a channel keeps the newest events up to its limit; a reader that is further behind gets none of them', async () => {
    const piece = 'x'.repeat(10_000);
    const count = Math.ceil(viewLimits.fleetChannelBytesMax / piece.length) + 5;
    const session = await open('sesn_1');
    const channels = new FleetChannels({ store, log });
    const channel = channels.enter('sesn_1', options);
    const waiter = new ChangeWaiter(new AbortController().signal);
    while (!channel.isReady) await waiter.changed(channel.wakeUps);
    for (let at = 0; at < count; at++) await session.say(piece);
    const last = afterFrame(3 + count);
    while (channel.select(afterFrame(3 + count - 1))?.length !== 1) await waiter.changed(channel.wakeUps);
    expect(channel.select(last)).toEqual([]);
    expect(channel.select(LOG_START)).toBeUndefined();
    expect(channels.bytes).toBeLessThanOrEqual(viewLimits.fleetChannelBytesMax);
    // When it is full, a quarter goes at once.
    expect(channels.bytes).toBeGreaterThan(viewLimits.fleetChannelBytesMax * 0.75 - 2 * piece.length);
    // Batches are bounded too.
    const batch = Array.from({ length: count }, (_, seq) => channel.select(afterFrame(seq))).find(
      (some) => some !== undefined,
    )!;
    const bytes = batch.reduce((sum, event) => sum + event.bytes.length, 0);
    expect(bytes).toBeGreaterThanOrEqual(viewLimits.fleetBatchBytesMax);
    expect(bytes).toBeLessThan(viewLimits.fleetBatchBytesMax + piece.length + 1_000);
    channels.leave('sesn_1', options, channel);
    expect([channels.size, channels.bytes]).toEqual([0, 0]);
  });

  it('[V79] all channels together are bounded, and dropped events are read from the log', async () => {
    const channels = new FleetChannels({ store, log, bytesMax: 30_000 });
    const piece = 'y'.repeat(9_000);
    const leaving = new AbortController();
    const sessions = await Promise.all(['sesn_1', 'sesn_2', 'sesn_3', 'sesn_4', 'sesn_5'].map((id) => open(id)));
    const texts = sessions.map(async (_, index) => {
      const request = { channels, sessionId: `sesn_${index + 1}`, options, after: LOG_START, signal: leaving.signal };
      const types: string[] = [];
      for await (const events of watchFleet(request)) {
        for (const { bytes } of events)
          types.push(...splitEvents(bytes).map(({ text }) => /^event: (.*)$/m.exec(text)![1]!));
        expect(channels.bytes).toBeLessThanOrEqual(30_000);
        if (types.includes('done')) return types;
      }
      return types;
    });
    for (let round = 0; round < 4; round++) for (const session of sessions) await session.say(piece);
    for (const session of sessions) await session.end();
    const story = ['request_received', 'stream_start', 'text', 'text', 'text', 'text', 'stream_end', 'done'];
    for (const types of await Promise.all(texts)) expect(types).toEqual(story);
    expect([channels.size, channels.bytes]).toEqual([0, 0]);
  });

  it('[V80] readers with the same options share one fold; with others they have their own', async () => {
    await open('sesn_1', ['a']);
    const channels = new FleetChannels({ store, log });
    const all = [options, { ...options }, { ...options, includeThinking: true }, { ...options, gate: 'live' as const }];
    const entered = all.map((each) => channels.enter('sesn_1', each));
    expect(entered[1]).toBe(entered[0]);
    expect([new Set(entered).size, channels.size]).toEqual([3, 3]);
    all.forEach((each, index) => channels.leave('sesn_1', each, entered[index]!));
    expect(channels.size).toBe(0);
  });
});

describe('where a reader of all sessions is', () => {
  const known = (over: Partial<KnownSession> = {}): KnownSession => {
    const cursor = { seq: 7, index: 2 };
    const times = { runStartedAt: 5_000, lastAt: 9_000 };
    return { cursor, seq: 6, ...times, isOpen: true, isPending: false, isWatched: true, ...over };
  };

  it('[V81] a cursor names a limited number of sessions; those that do not fit are sent again from the beginning of their run', () => {
    const sessions = new KnownSessions();
    const now = 1_000_000;
    sessions.add('sesn_0', known({ runStartedAt: 4_321 }));
    for (let at = 1; at <= viewLimits.fleetTokenSessionsMax; at++) sessions.add(`sesn_${at}`, known());
    const token = sessions.toToken(now);
    expect(token.cursors.size).toBe(viewLimits.fleetTokenSessionsMax);
    expect(token.cursors.has('sesn_0')).toBe(false);
    expect(token.since).toBe(4_321);
    sessions.delete('sesn_1');
    expect(sessions.toToken(now).since).toBe(now - viewLimits.fleetMarginMs);
    expect(parseToken(encodeToken(token))).toEqual(token);
    const text = encodeToken({
      since: now,
      cursors: new Map([
        ['sesn_1', afterFrame(9)],
        ['sesn_2', { seq: 1, index: 0 }],
      ]),
    });
    expect(parseToken(text)?.cursors.get('sesn_1')).toEqual(afterFrame(9));
    // A request has to have room for it in its line and in its headers.
    expect(encodeToken(token).length * 2).toBeLessThan(baseLimits.headerBytesMax);
  });

  it('[V82] sessions that rest are named as long as clocks may differ, and not longer', () => {
    const sessions = new KnownSessions();
    sessions.add('sesn_1', known({ isOpen: false, isWatched: false, lastAt: 100_000 }));
    expect(sessions.toToken(100_000 + viewLimits.fleetMarginMs).cursors.size).toBe(1);
    expect(sessions.toToken(100_001 + viewLimits.fleetMarginMs).cursors.size).toBe(0);
  });

  it('[V83] beyond 2,000 remembered sessions, the idle session that received an event longest ago is forgotten, 30 s after that event at the earliest', () => {
    const sessions = new KnownSessions();
    const now = 9_000 + viewLimits.fleetMarginMs;
    sessions.add('sesn_open', known());
    sessions.add('sesn_late', known({ isOpen: false, isWatched: false, isPending: true }));
    for (let at = 1; at < viewLimits.fleetKnownSessionsMax - 1; at++) {
      sessions.add(`sesn_${at}`, known({ isOpen: false, isWatched: false, lastAt: 9_000 + at }));
    }
    expect(sessions.forgetOldest(now + 1_000_000)).toBe(Number.NEGATIVE_INFINITY);
    sessions.add('sesn_more', known());
    // Open sessions, sessions with pending events and recent sessions are kept.
    for (let look = 0; look < viewLimits.fleetKnownSessionsMax; look++) sessions.forgetOldest(now + 1);
    expect(sessions.size).toBe(viewLimits.fleetKnownSessionsMax + 1);
    for (let look = 0; look < viewLimits.fleetKnownSessionsMax; look++) sessions.forgetOldest(now + 2);
    expect(sessions.size).toBe(viewLimits.fleetKnownSessionsMax);
    expect(sessions.get('sesn_1')).toBeUndefined();
    const others = ['sesn_open', 'sesn_late', 'sesn_more', 'sesn_2'].map((id) => sessions.get(id));
    expect(others.every((one) => one !== undefined)).toBe(true);
  });
});

describe('all sessions', () => {
  type Bounds = { watchedMax?: number; token?: FleetToken | null; channels?: FleetChannels; isLive?: boolean };
  async function watch(bounds: Bounds, isFollowed = true) {
    const leaving = new AbortController();
    let text = '';
    const send = (bytes: Uint8Array) => {
      text += Buffer.from(bytes).toString();
      return true;
    };
    const { schedule, advance } = createManualSchedule(clock);
    const request = {
      channels: new FleetChannels({ store, log }),
      workspaceId: 'w1',
      options,
      token: null,
      isLive: false,
      isFollowed,
      clock,
      schedule,
      sink: { signal: leaving.signal, send, room: async () => {} },
      onError: (error: unknown) => {
        throw error;
      },
      ...bounds,
    };
    const over = watchEverything(request);
    const until = async (wanted: string, times = 1) => {
      while (text.split(wanted).length <= times) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    return { over, until, advance, read: () => text, leave: () => leaving.abort() };
  }

  it('[V84] a stream of all sessions follows a bounded number at the same time: a session without new events makes room for one that has some', async () => {
    const sessions = await Promise.all(['sesn_1', 'sesn_2', 'sesn_3', 'sesn_4', 'sesn_5'].map((id) => open(id)));
    const channels = new FleetChannels({ store, log });
    const reader = await watch({ watchedMax: 2, channels });
    await reader.until('event: stream_start', 5);
    expect(channels.size).toBeLessThanOrEqual(2);
    for (const [index, session] of sessions.entries()) await session.say(`from ${index + 1}`);
    await reader.until('event: text', 5);
    for (const session of sessions) await session.end();
    await reader.until('event: done', 5);
    const received = [...reader.read().matchAll(/event: (\w+)\ndata: .*?"session_id":"(\w+)"/g)];
    for (const id of ['sesn_1', 'sesn_2', 'sesn_3', 'sesn_4', 'sesn_5']) {
      const types = received.filter(([, , of]) => of === id).map(([, type]) => type);
      expect(types).toEqual(['request_received', 'stream_start', 'text', 'stream_end', 'done']);
    }
    expect(channels.size).toBe(0);
    reader.leave();
    await reader.over;
  });

  async function endOf(sessionId: string) {
    const held = await store.leases.acquire({ sessionId, owner: 'test', ttlMs: 60_000 });
    const fence = held.ok ? held.fence : 1;
    const run = {
      id: 'req_1',
      started_at: clock.now(),
      ended_at: clock.now(),
      state: 'completed',
      agent_name: '',
      message: '',
    };
    const frames = [frame('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' })];
    const update = {
      type: 'update_session' as const,
      updatedAt: clock.now(),
      patch: { status: 'idle' as const, data: { run } },
    };
    return () => log.append({ type: 'append', sessionId, fence, frames, changes: [update] });
  }

  /** One more run, from its beginning to its end. */
  async function runAgain(sessionId: string, isArchived: boolean) {
    const held = await store.leases.acquire({ sessionId, owner: 'test', ttlMs: 60_000 });
    const fence = held.ok ? held.fence : 1;
    const [started_at, ended_at] = [clock.now(), clock.now()];
    const run = { id: 'req_2', started_at, ended_at, state: 'completed', agent_name: '', message: '' };
    const frames = [
      frame('run.started', { input_ids: [], agent_name: 'a', message: 'again' }),
      frame('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' }),
    ];
    const patch = { status: 'idle' as const, data: { run }, ...(isArchived ? { archivedAt: clock.now() } : {}) };
    const update = { type: 'update_session' as const, updatedAt: clock.now(), patch };
    await log.append({ type: 'append', sessionId, fence, frames, changes: [update] });
  }

  it('[V77] sessions of other workspaces are not delivered, neither existing nor new ones', async () => {
    const before = await open('sesn_1', ['a'], 'w2');
    const reader = await watch({});
    await open('sesn_2');
    await reader.until('event: stream_start');
    const later = await open('sesn_3', ['b'], 'w2');
    await before.say('c');
    await later.say('d');
    await open('sesn_4');
    await reader.until('event: stream_start', 2);
    expect(new Set(reader.read().match(/sesn_\d/g))).toEqual(new Set(['sesn_2', 'sesn_4']));
    reader.leave();
    await reader.over;
  });

  it('[V94] the reader receives its cursor after a time limit or a number of bytes', async () => {
    const session = await open('sesn_1');
    const reader = await watch({});
    await reader.until('event: stream_start');
    const count = () => reader.read().split('\nid: all~').length;
    const before = count();
    reader.advance(viewLimits.fleetCheckpointMs - 1);
    expect(count()).toBe(before);
    reader.advance(1);
    expect(count()).toBe(before + 1);
    await session.say('x'.repeat(viewLimits.fleetCheckpointBytes - 1_000));
    await reader.until('event: text');
    expect(count()).toBe(before + 1);
    await session.say('y'.repeat(1_000));
    await reader.until('event: text', 2);
    expect(count()).toBe(before + 2);
    // It covers the events that were sent, and no others.
    const [, cursor] = /id: all~\w+~1\.(\d+\.\d*)\n\n$/.exec(reader.read())!;
    expect(cursor).toBe('5.0');
    reader.leave();
    await reader.over;
  });

  it('[V103] a run of which no signal came is found by looking, also if it has ended and its session is old', async () => {
    await open('sesn_1');
    await (await endOf('sesn_1'))();
    clock.advance(10 * viewLimits.fleetMarginMs);
    for (let at = 2; at <= storeLimits.recordPageItemsMax + 2; at++) {
      await open(`sesn_${at}`);
      await (await endOf(`sesn_${at}`))();
    }
    clock.advance(10 * viewLimits.fleetMarginMs);
    const quiet: Store = { ...store, subscribe: () => () => {} };
    const reader = await watch({ channels: new FleetChannels({ store: quiet, log }) });
    await reader.until('id: all~');
    await runAgain('sesn_1', false);
    expect(reader.read()).not.toContain('event:');
    // Another look may be under way; then the session is found at the next one.
    while (!reader.read().includes('event: done')) {
      reader.advance(viewLimits.fleetLookMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(
      [...reader.read().matchAll(/event: (\w+)\ndata: .*?"session_id":"(\w+)"/g)].map(([, type, id]) => [type, id]),
    ).toEqual([
      ['request_received', 'sesn_1'],
      ['done', 'sesn_1'],
    ]);
    reader.leave();
    await reader.over;
  });

  /** An error outside of turns, as sessions write it. */
  async function fail(sessionId: string, message: string) {
    const held = await store.leases.acquire({ sessionId, owner: 'test', ttlMs: 60_000 });
    const error = { type: 'unknown_error' as const, message };
    const frames = [{ ...frame('session.error', { error, retry: 'exhausted', retry_at: null }), turn: null }];
    const update = { type: 'update_session' as const, updatedAt: clock.now(), patch: {} };
    await log.append({ type: 'append', sessionId, fence: held.ok ? held.fence : 1, frames, changes: [update] });
  }

  /** Sessions whose only run ended long ago, and whose first error is old, too. */
  async function openOld(...sessionIds: readonly string[]) {
    for (const id of sessionIds) {
      await open(id);
      await (await endOf(id))();
      await fail(id, 'an old error');
    }
    clock.advance(10 * viewLimits.fleetMarginMs);
  }

  const faultsIn = (text: string) => [...text.matchAll(/"message":"([^"]*)","code"/g)].map(([, message]) => message);

  it('[V165] a reader receives an error of a session whose runs are old', async () => {
    await openOld('sesn_1');
    const reader = await watch({});
    await reader.until('id: all~');
    await fail('sesn_1', 'first');
    await reader.until('event: session_error');
    await fail('sesn_1', 'second');
    await reader.until('event: session_error', 2);
    expect(faultsIn(reader.read())).toEqual(['first', 'second']);
    reader.leave();
    await reader.over;
  });

  it('[V165] an error of which no signal came is found by looking, once, also if a run has begun since', async () => {
    await openOld('sesn_1', 'sesn_2');
    const quiet: Store = { ...store, subscribe: () => () => {} };
    const reader = await watch({ channels: new FleetChannels({ store: quiet, log }) });
    await reader.until('id: all~');
    const look = async () => {
      reader.advance(viewLimits.fleetLookMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    for (const message of ['first', 'second']) {
      await fail('sesn_1', message);
      while (!reader.read().includes(`"${message}"`)) await look();
      await look();
    }
    await fail('sesn_2', 'third');
    await runAgain('sesn_2', false);
    while (!reader.read().includes('event: done')) await look();
    expect(faultsIn(reader.read())).toEqual(['first', 'second', 'third']);
    reader.leave();
    await reader.over;
  });

  it('[V165] a reader that was away receives the errors of sessions that had no run in the meantime', async () => {
    await openOld('sesn_1', 'sesn_2', 'sesn_3');
    const token: FleetToken = { since: clock.now(), cursors: new Map() };
    clock.advance(1);
    for (const id of ['sesn_1', 'sesn_3']) await fail(id, id);
    const reader = await watch({ token }, false);
    await reader.over;
    expect(new Set(faultsIn(reader.read()))).toEqual(new Set(['sesn_1', 'sesn_3']));
    expect(faultsIn(reader.read())).toHaveLength(2);
    // A reader of the present alone receives none of them.
    const live = await watch({ isLive: true }, false);
    await live.over;
    expect(live.read()).not.toContain('event:');
  });

  it('[V165] a reader that was away receives an error once that was followed by a run in the meantime, before that run', async () => {
    await openOld('sesn_1', 'sesn_2', 'sesn_3');
    const token: FleetToken = { since: clock.now(), cursors: new Map() };
    clock.advance(1);
    await fail('sesn_1', 'first');
    await fail('sesn_1', 'second');
    await runAgain('sesn_1', false);
    await fail('sesn_1', 'third');
    await runAgain('sesn_1', false);
    await fail('sesn_2', 'fourth');
    await runAgain('sesn_2', true);
    await runAgain('sesn_3', false);
    const reader = await watch({ token }, false);
    await reader.over;
    const eventsOf = (id: string) =>
      [...reader.read().matchAll(/event: (session_error|request_received|done)\ndata: (.*)/g)]
        .filter(([, , data]) => data!.includes(`"session_id":"${id}"`))
        .map(([, type, data]) => faultsIn(data!)[0] ?? type);
    expect(eventsOf('sesn_1')).toEqual([
      'first',
      'second',
      'request_received',
      'done',
      'third',
      'request_received',
      'done',
    ]);
    expect(eventsOf('sesn_2')).toEqual(['fourth', 'request_received', 'done']);
    expect(eventsOf('sesn_3')).toEqual(['request_received', 'done']);
    // A reader of the present alone receives none of them.
    const live = await watch({ isLive: true }, false);
    await live.over;
    expect(live.read()).not.toContain('event:');
  });

  it('[V85] every open run is found, newest first, however many sessions there are and however old the run is', async () => {
    await open('sesn_0');
    clock.advance(10 * viewLimits.fleetMarginMs);
    for (let at = 1; at <= 4; at++) {
      clock.advance(1);
      await open(`sesn_${at}`);
    }
    const reader = await watch({}, false);
    await reader.over;
    const received = [...reader.read().matchAll(/event: request_received\ndata: .*?"session_id":"(\w+)"/g)].map(
      ([, id]) => id,
    );
    expect(received).toEqual(['sesn_4', 'sesn_3', 'sesn_2', 'sesn_1', 'sesn_0']);
  });

  it('[V100] a reader that was away receives a session that ran and ended in the meantime, however old it is, also if it is archived', async () => {
    await open('sesn_1');
    await (await endOf('sesn_1'))();
    await open('sesn_2');
    await (await endOf('sesn_2'))();
    clock.advance(10 * viewLimits.fleetMarginMs);
    for (let at = 3; at <= 6; at++) {
      clock.advance(1);
      await open(`sesn_${at}`);
      await (await endOf(`sesn_${at}`))();
    }
    clock.advance(10 * viewLimits.fleetMarginMs);
    // The reader is behind all of that. Then the two oldest run again, and one of them is archived.
    const token: FleetToken = { since: clock.now(), cursors: new Map() };
    clock.advance(1);
    for (const id of ['sesn_1', 'sesn_2']) await runAgain(id, id === 'sesn_2');
    const reader = await watch({ token }, false);
    await reader.over;
    const received = [...reader.read().matchAll(/event: (\w+)\ndata: .*?"session_id":"(\w+)"/g)];
    expect(received.map(([, type, id]) => `${type} ${id}`).sort()).toEqual([
      'done sesn_1',
      'done sesn_2',
      'request_received sesn_1',
      'request_received sesn_2',
    ]);
  });
});
