import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Clients, openDoorSpeaker } from '../../../../../bench/http-door.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('[W40] a thousand streams of a session on which nothing happens cost the server at most 64 KiB each', async () => {
  const speaker = await openDoorSpeaker();
  const clients = new Clients();
  try {
    // What is made once is there before.
    await clients.subscribe(speaker, 50);
    await clients.leave();
    const before = await liveBytes();
    await clients.subscribe(speaker, 1_000);
    const perStream = ((await liveBytes()) - before) / 1_000;
    expect(perStream).toBeGreaterThan(1_000);
    expect(perStream).toBeLessThanOrEqual(64 * 1024);
    await clients.hear(speaker, 1, 'they are there.');
    await clients.leave();
    // And nothing stays of them.
    expect((await liveBytes()) - before).toBeLessThanOrEqual(4 * 1024 * 1024);
  } finally {
    clients.close();
    await speaker.close();
  }
}, 240_000);

async function liveBytes(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
