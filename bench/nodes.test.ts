import { expect, it } from 'vitest';
import { startServers } from './nodes-servers.ts';
import { createSession, openIdle, runLoad, WORD } from './nodes-load.ts';

it('[P95] the bench of nodes counts all text, and idle streams stay open', async () => {
  const servers = await startServers(1);
  const { urls } = servers;
  try {
    const [sessions, chunks] = [4, 30];
    const { events, characters, ms, delaysMs } = await runLoad(urls, { sessions, chunks, everyMs: 10 });
    expect(characters).toBe(sessions * chunks * WORD.length);
    // Deltas close together become one event, so there are fewer, and each has its delay.
    expect(events).toBeGreaterThan(sessions);
    expect(events).toBeLessThanOrEqual(sessions * chunks);
    expect(delaysMs).toHaveLength(events);
    expect(ms).toBeGreaterThan((chunks - 1) * 10);
    const session = await createSession(urls[0]!, { chunks: 1, everyMs: 0 });
    const leave = await openIdle(urls[0]!, session, 3);
    const metrics = await (await fetch(`${urls[0]}/metrics`)).text();
    expect(metrics).toMatch(/^fleetloom_open_streams 3$/m);
    leave();
    const { bytes, cpuMs } = await servers.look();
    expect(bytes).toBeGreaterThan(10_000_000);
    expect(cpuMs).toBeGreaterThan(0);
  } finally {
    await servers.close();
  }
});
