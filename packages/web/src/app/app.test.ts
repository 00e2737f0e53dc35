import { afterEach, expect, it, vi } from 'vitest';
import { limits } from '../limits.ts';
import { FleetStore } from './fleet-store.ts';
import { parseHash, toHash } from './ui-store.ts';

afterEach(() => vi.unstubAllGlobals());

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
    { view: 'fleet', sessionId: undefined, threadId: undefined, eventId: undefined },
    { view: 'thread', sessionId: 'sesn_1', threadId: 'sthr_2', eventId: 'sevt_3' },
    { view: 'agents', sessionId: 'agent_1', threadId: undefined, eventId: undefined },
  ] as const;
  for (const route of routes) expect(parseHash(toHash(route))).toEqual(route);
  expect(parseHash('#/nonsense').view).toBe('fleet');
});
