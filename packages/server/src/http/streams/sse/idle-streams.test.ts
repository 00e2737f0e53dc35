import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Clients, openStreamServer } from '../../../../../../bench/http-servers.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('[W40] a thousand idle streams of a session cost the server at most 64 KiB each', async () => {
  const source = await openStreamServer();
  const clients = new Clients();
  try {
    // Allocates everything that is created once.
    await clients.subscribe(source, 50);
    await clients.leave();
    const before = await liveBytes();
    await clients.subscribe(source, 1_000);
    const perStream = ((await liveBytes()) - before) / 1_000;
    expect(perStream).toBeGreaterThan(1_000);
    expect(perStream).toBeLessThanOrEqual(64 * 1024);
    await clients.receive(source, 1, 'they are there.');
    await clients.leave();
    // Nothing remains after they are closed.
    expect((await liveBytes()) - before).toBeLessThanOrEqual(4 * 1024 * 1024);
  } finally {
    clients.close();
    await source.close();
  }
}, 240_000);

async function liveBytes(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
