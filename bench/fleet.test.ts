import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureBareDelays } from './bare-delays.ts';
import { type BenchDoor, openBareServer, openBenchDoor, toFrames } from './fleet-door.ts';
import { DELTA } from './sessions-fleet.ts';

let door: BenchDoor;
beforeAll(async () => {
  door = await openBenchDoor();
});
afterAll(() => door.close());

describe('what the bench of the fleet door measures', () => {
  it('[X6] a client sees all that every agent says, to the end of the run', async () => {
    const { said, events } = await door.runAndLook(4, { deltas: 300 });
    expect([...said.values()]).toEqual(Array.from({ length: 4 }, () => DELTA.repeat(300)));
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: true });
  });

  it('[X6] every delta has one delay, from the engine to the client', async () => {
    const { delaysMs } = await door.measure(3, { deltas: 40, perSecond: 400 });
    expect(delaysMs).toHaveLength(3 * 40);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
  });

  it('[X6] every piece of the bare speakers has one delay', async () => {
    const delaysMs = await measureBareDelays(3, { deltas: 20, perSecond: 400 });
    expect(delaysMs).toHaveLength(3 * 20);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
  });

  it('[X6] the bare server writes frames of the fleet stream, one for each agent in turn', async () => {
    const frames = await toFrames(door, 3);
    expect(frames).toHaveLength(3);
    for (const frame of frames) expect(frame).toMatch(/^id: \d+\nevent: text\ndata: \{.*\}\n\n$/);
    const bare = await openBareServer(frames);
    await bare.write(1_000);
    await bare.close();
  });

  it('[X6] a cancel is timed from when all speak to the end of every stream', async () => {
    const { tookMs, events } = await door.cancel(4);
    expect(tookMs).toBeGreaterThan(0);
    const ends = events.filter(({ type }) => type === 'stream_end');
    expect(ends).toHaveLength(5);
    expect(events.at(-1)).toMatchObject({ type: 'done', error_code: 'cancelled' });
  });

  it('[X6] streams are open when they are counted', async () => {
    const close = await door.openStreams(5);
    close();
  });
});
