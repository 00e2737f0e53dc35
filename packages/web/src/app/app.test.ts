import { sampleLog } from '../model/sample-log.suite.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { limits } from '../limits.ts';
import { FleetStore } from './fleet-store.ts';
import { parseHash, toHash } from './ui-store.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('[Z25] of many sessions only some logs are read at a time, each once', async () => {
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
  const ids = Array.from({ length: limits.logReadsMax + 2 }, (_, index) => `sesn_${index}`);
  for (const id of [...ids, ...ids]) store.load(id);
  await vi.waitFor(() => expect(asked).toHaveLength(limits.logReadsMax));
  ends.shift()!();
  await vi.waitFor(() => expect(asked).toHaveLength(limits.logReadsMax + 1));
  for (let read = 1; read < ids.length; read++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(0));
    ends.shift()!();
  }
  await vi.waitFor(() => expect([...store.model.sessions.values()].every(({ load }) => load === 'loaded')).toBe(true));
  expect(asked).toEqual(ids);
});

it('[Z40] where one is stands in the address, and the address leads there again', () => {
  const routes = [
    { view: 'fleet' },
    { view: 'thread', sessionId: 'sesn_1', threadId: 'sthr_2', eventId: 'sevt_3' },
    { view: 'thread', sessionId: 'sesn_1', threadId: 'sthr_2', beside: 'sesn_1/sthr_3', isCompared: true },
    { view: 'agents', sessionId: 'agent_1' },
  ] as const;
  for (const route of routes) expect(parseHash(toHash(route))).toMatchObject(route);
  expect(parseHash('#/nonsense').view).toBe('fleet');
});

it('[Z27] of the sessions that a server lists the newest few are read without being asked for', async () => {
  const asked: string[] = [];
  const data = Array.from({ length: limits.recentSessionsMax + 1 }, (_, index) => ({
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
  await vi.waitFor(() => expect(known.filter(({ load }) => load === 'loaded')).toHaveLength(limits.recentSessionsMax));
  expect(asked).toEqual(data.slice(0, limits.recentSessionsMax).map(({ id }) => id));
});

it('[Z27] whatever happens, who draws is told at most so often; and once a second when nothing does', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  const store = new FleetStore();
  store.start();
  let told = 0;
  store.changed.subscribe(() => (told += 1));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toBe(1);
  told = 0;
  const events = sampleLog();
  for (let time = 0; time < 1_000; time += 5) {
    store.take({ type: 'events', events: [events[time % events.length]!] });
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(told).toBe(1_000 / limits.rowsMs);
  vi.clearAllTimers();
});
