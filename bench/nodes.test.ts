import { expect, it } from 'vitest';
import { startServers } from './nodes-servers.ts';
import { createSession, openIdle, talk, WORD } from './nodes-talk.ts';

it('[P95] what the bench of nodes counts is all that was said, and streams that are told nothing stay open', async () => {
  const servers = await startServers(1);
  const { urls } = servers;
  try {
    const [sessions, chunks] = [4, 30];
    const { events, characters, ms, delaysMs } = await talk(urls, { sessions, chunks, everyMs: 10 });
    expect(characters).toBe(sessions * chunks * WORD.length);
    // Pieces that come close together are one event, so there are fewer, and each has its delay.
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
