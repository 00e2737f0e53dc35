import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchFleet, DELTA, openBenchFleet } from './sessions-fleet.ts';
import { openSessionsServer } from './sessions-server.ts';

let fleet: BenchFleet;
beforeAll(async () => {
  fleet = await openBenchFleet();
});
afterAll(() => fleet.close());

describe('what the bench of sessions measures', () => {
  it('[X3] a reader receives all text of every agent', async () => {
    const { said } = await fleet.run(4, { deltas: 300 });
    expect([...said.values()]).toEqual(Array.from({ length: 4 }, () => DELTA.repeat(300)));
  });

  it('[X3] every delta has one delay, measured from the engine to the reader', async () => {
    const { delaysMs } = await fleet.run(3, { deltas: 40, perSecond: 400 });
    expect(delaysMs).toHaveLength(3 * 40);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
  });

  it('[X3] the pace is kept: the duration follows from the number of deltas', async () => {
    const before = performance.now();
    await fleet.run(1, { deltas: 41, perSecond: 200 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(199);
  });

  it('[X3] agents are opened after the answer that delegates to them', async () => {
    const { openingMs, said } = await fleet.run(16, { deltas: 1 });
    expect(said.size).toBe(16);
    expect(openingMs).toBeGreaterThan(0);
  });

  it('[U409] every session that is created over HTTP has run to its end when the round ends', async () => {
    const server = await openSessionsServer();
    for (const total of [20, 40]) {
      await server.createAndRun(20);
      const response = await fetch(`http://127.0.0.1:${server.port}/v1/fleet/sessions`);
      expect(await response.json()).toMatchObject({ total, facets: { states: { done: total, running: 0 } } });
    }
    await server.close();
  });
});
