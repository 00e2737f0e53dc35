import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { measureBareDelays } from './bare-delays.ts';
import { openIdleFleet } from './fleet-idle.ts';
import { type BenchServer, openBareServer, openBenchServer, toFrames } from './fleet-server.ts';
import { DELTA } from './sessions-fleet.ts';

let server: BenchServer;
beforeAll(async () => {
  server = await openBenchServer();
});
afterAll(() => server.close());

describe('what the bench of the fleet routes measures', () => {
  it('[X6] a client receives all text of every agent, to the end of the run', async () => {
    const { said, events } = await server.runAndLook(4, { deltas: 300 });
    expect([...said.values()]).toEqual(Array.from({ length: 4 }, () => DELTA.repeat(300)));
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: true });
  });

  it('[X6] every delta has one delay, from the engine to the client', async () => {
    const { delaysMs } = await server.measure(3, { deltas: 40, perSecond: 400 });
    expect(delaysMs).toHaveLength(3 * 40);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
  });

  it('[X6] every delta of the bare floor has one delay', async () => {
    const delaysMs = await measureBareDelays(3, { deltas: 20, perSecond: 400 });
    expect(delaysMs).toHaveLength(3 * 20);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
  });

  it('[X6] the bare server writes frames of the fleet stream, one for each agent in turn', async () => {
    const frames = await toFrames(server, 3);
    expect(frames).toHaveLength(3);
    for (const frame of frames) expect(frame).toMatch(/^id: \d+\nevent: text\ndata: \{.*\}\n\n$/);
    const bare = await openBareServer(frames);
    await bare.write(1_000);
    await bare.close();
  });

  it('[X6] a cancel is measured from when all agents write to the end of every stream', async () => {
    const { tookMs, events } = await server.cancel(4);
    expect(tookMs).toBeGreaterThan(0);
    const ends = events.filter(({ type }) => type === 'stream_end');
    expect(ends).toHaveLength(5);
    expect(events.at(-1)).toMatchObject({ type: 'done', error_code: 'cancelled' });
  });

  it('[X6] an agent of the bench stops when it is cancelled', async () => {
    const before = timers();
    await server.cancel(16);
    // Agents that went on would keep the process of the bench alive for minutes.
    await vi.waitFor(() => expect(timers()).toBeLessThan(before + 8));
  });

  it('[X6] streams are open when they are counted', async () => {
    const close = await server.openStreams(5);
    close();
  });

  it('[U410] the idle readers are connected to a server that has all sessions', async () => {
    const fleet = await openIdleFleet(300);
    await fleet.addReaders(3);
    const [list, metrics] = await Promise.all(
      ['/v1/fleet/sessions', '/metrics'].map((path) => fetch(`http://127.0.0.1:${fleet.port}${path}`)),
    );
    // A tenth of them is archived.
    expect(await list!.json()).toMatchObject({ total: 270 });
    expect(await metrics!.text()).toMatch(/^fleetloom_streams\{route="fleet"\} 3$/m);
    expect(await fleet.measure(0.05)).toBeGreaterThan(0);
    await fleet.close();
  });
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}
