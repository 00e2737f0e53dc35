import { fleetLimits } from '@fleetloom/protocol/fleet';
import { afterEach, expect, it, vi } from 'vitest';
import { FleetStore } from '../fleet-store.ts';
import { toRowCells } from '../../ui/row-cells.ts';
import { sampleLog } from '../../model/sample-log.suite.ts';
import { clock } from './clock.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  // The clock is shared by all tests: reset it.
  clock.sawAnswer(new Date().toUTCString(), Date.now(), Date.now());
});

const HOUR = 3_600_000;

it('[Z300] ages, stalls and the lag are computed with the clock of the server, where it differs from the browser', async () => {
  for (const aheadMs of [HOUR, -HOUR]) {
    const there = () => Date.now() + aheadMs;
    vi.stubGlobal('location', new URL('http://here/'));
    vi.stubGlobal('fetch', async (url: URL | string) => {
      const headers = { date: new Date(there()).toUTCString() };
      if (String(url).startsWith('v1/sessions?')) return Response.json({ data: [] }, { headers });
      return new Response(': end\n\n', { headers: { ...headers, 'content-type': 'text/event-stream' } });
    });
    const store = new FleetStore();
    await store.refreshSessions();
    expect(Math.abs(store.now() - there())).toBeLessThan(1_000);

    // The last event is a moment old: by the browser's clock the run would be stalled, or in the future.
    const log = sampleLog({ isOpen: true });
    const shift = there() - log.at(-1)!.ts!;
    store.take({ type: 'events', events: log.map((event) => ({ ...event, ts: event.ts! + shift })) });
    await vi.waitFor(() => expect(store.model.sessions.get('sesn_1')?.load).toBe('loaded'), 20_000);
    store.notify();
    const states = store.rows().map(({ state }) => state);
    expect(states.length).toBeGreaterThan(1);
    expect(states).not.toContain('stalled');
    expect(store.lagMs).toBeLessThan(2_000);
    const last = store.rows().toSorted((left, right) => right.slot.lastAt! - left.slot.lastAt!)[0]!;
    expect(toRowCells(last, store.now(), true).age).toMatch(/^[012]s$/);
    expect(fleetLimits.stalledMs).toBeLessThan(HOUR);
  }
});
