import { encodeFleetEvent, type FleetEvent } from '@fleetloom/protocol/fleet';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { connectionLimits } from './connection/limits.ts';
import { storeLimits } from './limits.ts';
import { FleetStore } from './fleet-store.ts';
import { parseHash, toHash } from './ui-store.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('[Z25] the logs of many sessions are loaded a few at a time, each once', async () => {
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', (url: URL) => {
    asked.push(/sesn_\d+/.exec(url.pathname)![0]);
    return new Promise((resolve) => {
      ends.push(() => resolve(new Response(': end\n\n', { headers: { 'content-type': 'text/event-stream' } })));
    });
  });
  const store = new FleetStore();
  const ids = Array.from({ length: connectionLimits.logReadsMax + 2 }, (_, index) => `sesn_${index}`);
  for (const id of [...ids, ...ids]) store.load(id);
  await vi.waitFor(() => expect(asked).toHaveLength(connectionLimits.logReadsMax), 20_000);
  ends.shift()!();
  await vi.waitFor(() => expect(asked).toHaveLength(connectionLimits.logReadsMax + 1), 20_000);
  for (let read = 1; read < ids.length; read++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(0), 20_000);
    ends.shift()!();
  }
  await vi.waitFor(
    () => expect([...store.model.sessions.values()].every(({ load }) => load === 'loaded')).toBe(true),
    20_000,
  );
  expect(asked).toEqual(ids);
});

it('[Z40] a route converts to an address and back', () => {
  const routes = [
    { view: 'fleet' },
    { view: 'session', sessionId: 'sesn_1', threadId: 'sthr_2', eventId: 'sevt_3' },
    { view: 'session', sessionId: 'sesn_1', threadId: 'sthr_2', beside: 'sesn_1/sthr_3', isCompared: true },
    { view: 'agents', sessionId: 'agent_1' },
    { view: 'sessions', search: 'q=a+b&status=failed' },
  ] as const;
  for (const route of routes) expect(parseHash(toHash(route))).toMatchObject(route);
});

it('[Z27] the logs of the newest listed sessions are loaded, up to the limit', async () => {
  const asked: string[] = [];
  const data = Array.from({ length: storeLimits.recentSessionsMax + 1 }, (_, index) => ({
    id: `sesn_${index}`,
    created_at: '2026-01-01T00:00:00Z',
    agent: { tools: [], multiagent: null },
  }));
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', async (url: URL | string) => {
    if (String(url).startsWith('v1/sessions?')) return Response.json({ data });
    asked.push(/sesn_\d+/.exec(String(url))![0]);
    return new Response(': end\n\n', { headers: { 'content-type': 'text/event-stream' } });
  });
  const store = new FleetStore();
  await store.refreshSessions();
  const known = [...store.model.sessions.values()];
  await vi.waitFor(
    () => expect(known.filter(({ load }) => load === 'loaded')).toHaveLength(storeLimits.recentSessionsMax),
    20_000,
  );
  expect(asked).toEqual(data.slice(0, storeLimits.recentSessionsMax).map(({ id }) => id));
});

it('[Z27] the store emits at most every `storeLimits.rowsMs`, and once per second without events', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  const store = new FleetStore();
  store.start();
  let emitted = 0;
  store.changed.subscribe(() => (emitted += 1));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(emitted).toBe(1);
  emitted = 0;
  const events = sampleLog();
  for (let time = 0; time < 1_000; time += 5) {
    store.take({ type: 'events', events: [events[time % events.length]!] });
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(emitted).toBe(1_000 / storeLimits.rowsMs);
  vi.clearAllTimers();
});

/** A server with these logs. */
function serveLogs(logs: Readonly<Record<string, readonly FleetEvent[]>>): void {
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', async (url: URL) => {
    const log = logs[/sesn_\d+/.exec(url.pathname)![0]] ?? [];
    const body = `${log.map(encodeFleetEvent).join('')}: end\n\n`;
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
}

async function loadAll(store: FleetStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) store.load(id);
  await vi.waitFor(() => expect(ids.every((id) => store.model.sessions.get(id)?.load === 'loaded')).toBe(true), 20_000);
}

it('[Z307] a replay shows the sessions of that time as they were, without those that started later or ended before', async () => {
  const logs = {
    sesn_1: sampleLog({ sessionId: 'sesn_1', startedAt: 1_000_000, children: 5 }),
    sesn_2: sampleLog({ sessionId: 'sesn_2', startedAt: 1_001_000, seed: 2 }),
    sesn_3: sampleLog({ sessionId: 'sesn_3', startedAt: 1_004_000, seed: 3 }),
    sesn_4: sampleLog({ sessionId: 'sesn_4', startedAt: 100_000, seed: 4 }),
  };
  serveLogs(logs);
  const store = new FleetStore();
  await loadAll(store, Object.keys(logs));
  const end = logs.sesn_1.at(-1)!.ts!;
  expect(end).toBeGreaterThan(1_004_000);
  await store.replay.open(store.model.sessions.get('sesn_1')!.model, end);
  const ids = () => store.shown().map(({ session }) => session.id);
  await vi.waitFor(() => expect(ids()).toEqual(['sesn_3', 'sesn_2', 'sesn_1']), 20_000);
  store.replay.seek(1_003_000);
  expect(ids()).toEqual(['sesn_2', 'sesn_1']);
  const seen = store.shown().find(({ session }) => session.id === 'sesn_2')!;
  const then = new SessionModel('sesn_2');
  for (const event of logs.sesn_2) if (event.ts! <= 1_003_000) then.fold(event);
  expect(seen.slots).toEqual(then.slots);
  store.replay.toLive();
  expect(ids()).toEqual(['sesn_3', 'sesn_2', 'sesn_1', 'sesn_4']);
});

it('[Z307] a replay loads at most `storeLimits.replaySessionsMax` other sessions', async () => {
  const ids = Array.from({ length: storeLimits.replaySessionsMax + 3 }, (_, index) => `sesn_${index}`);
  const startedAt = (index: number) => 1_000_000 + index;
  const logs = Object.fromEntries(
    ids.map((id, index) => [id, sampleLog({ sessionId: id, startedAt: startedAt(index), children: 1 })]),
  );
  serveLogs(logs);
  const store = new FleetStore();
  await loadAll(store, ids);
  const main = store.model.sessions.get(ids.at(-1)!)!.model;
  await store.replay.open(main, main.slots.lastAt!);
  await vi.waitFor(() => expect(store.shown()).toHaveLength(storeLimits.replaySessionsMax + 1), 20_000);
  expect(store.sessionsBetween(0, Infinity)).toHaveLength(storeLimits.replaySessionsMax + 1);
});

it('[Z306] items that are pending now are known during a replay too', async () => {
  const log = sampleLog({ isOpen: true });
  serveLogs({ sesn_1: log });
  const store = new FleetStore();
  await loadAll(store, ['sesn_1']);
  expect(store.pendingItems()).toHaveLength(1);
  await store.replay.open(store.model.sessions.get('sesn_1')!.model, log[1]!.ts!);
  store.replay.seek(log[1]!.ts!);
  expect(store.inbox()).toEqual([]);
  expect(store.pendingItems().map(({ tool }) => tool)).toEqual(['bash']);
});

it('[Z341] a refresh during a load of the session list starts one more load, shared by all callers', async () => {
  const ends: ((ids: readonly string[]) => void)[] = [];
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', (url: URL | string) => {
    if (!String(url).startsWith('v1/sessions?')) return Promise.resolve(new Response(': end\n\n'));
    return new Promise((resolve) => {
      ends.push((ids) => resolve(Response.json({ data: ids.map(toRecord) })));
    });
  });
  const store = new FleetStore();
  const first = store.refreshSessions();
  const later = [store.refreshSessions(), store.refreshSessions()];
  expect(ends).toHaveLength(1);
  ends[0]!(['sesn_1']);
  await first;
  await vi.waitFor(() => expect(ends).toHaveLength(2), 20_000);
  ends[1]!(['sesn_1', 'sesn_2']);
  await Promise.all(later);
  expect([...store.model.sessions.keys()]).toEqual(['sesn_1', 'sesn_2']);
  expect(ends).toHaveLength(2);

  function toRecord(id: string) {
    return { id, created_at: '2026-01-01T00:00:00Z', agent: { tools: [], multiagent: null } };
  }
});

it('[Z342] of two replays opened one after the other the last one is shown, whichever loads first', async () => {
  const { store, sessions, answer } = serveSlowly();
  const opened = [store.replay.open(sessions[0]!, 1_000_500), store.replay.open(sessions[1]!, 1_000_500)];
  expect(store.replay.isReading).toBe(true);
  answer('sesn_1');
  await vi.waitFor(() => expect(store.replay.session?.id).toBe('sesn_1'), 20_000);
  answer('sesn_0');
  await Promise.all(opened);
  expect(store.replay.session?.id).toBe('sesn_1');
  expect(store.replay.isReading).toBe(false);
});

it('[Z342] "back to live" while a replay is loading stays live', async () => {
  const { store, sessions, answer } = serveSlowly();
  const opening = store.replay.open(sessions[0]!, 1_000_500);
  store.replay.toLive();
  expect(store.replay.isReading).toBe(false);
  answer('sesn_0');
  await opening;
  expect([store.replay.isOn, store.replay.session]).toEqual([false, undefined]);
});

/** A server whose logs arrive when the test releases them, even after the reader has left. */
function serveSlowly() {
  const waiting = new Map<string, () => void>();
  const answered = new Set<string>();
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', (url: URL) => {
    const id = /sesn_\d+/.exec(url.pathname)![0];
    const body = `${sampleLog({ sessionId: id, startedAt: 1_000_000 }).map(encodeFleetEvent).join('')}: end\n\n`;
    const response = () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    if (answered.has(id)) return Promise.resolve(response());
    return new Promise((resolve) => waiting.set(id, () => resolve(response())));
  });
  const store = new FleetStore();
  const sessions = ['sesn_0', 'sesn_1'].map((id) => new SessionModel(id));
  const answer = (id: string) => {
    answered.add(id);
    waiting.get(id)?.();
  };
  return { store, sessions, answer };
}
