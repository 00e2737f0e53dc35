import { watchFleet } from '@fleetloom/client';
import { createSlots, type FleetEvent, foldSlots } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ofType, parallel } from '../../packages/server/src/http/routes/fleet.suite.ts';
import { type FleetProcesses, openFleetProcesses } from '../../packages/server/src/http/routes/fleet-process.suite.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';

let processes: FleetProcesses;
beforeAll(async () => {
  processes = await openFleetProcesses();
});
afterAll(() => processes.close());

/** Short reconnect delays, so that the test does not wait longer than the restart takes. */
const eager = { random: () => 0.2 };

it('[V102] a watcher resumes on its own when the server is killed and restarted, and receives each event once', {
  timeout: Math.max(timeout, 120_000),
}, async () => {
  const random = randomText();
  const directory = processes.directory('restart');
  let server = await processes.start(directory);
  const { port } = server;
  const url = `http://127.0.0.1:${port}`;
  await server.agent('talker', { turns: [[{ say: 'word '.repeat(40), chunks: 40, every_ms: 10 }]] });
  const block = parallel(['talker', 'a'], ['talker', 'b'], ['talker', 'c']);
  await server.agent('index', { turns: [[{ say: `Plan.\n${block}` }], [{ say: 'Done.' }]] });

  const everything: FleetEvent[] = [];
  const all = watchFleet({ url, from: 'live', ...eager });
  const watchingAll = (async () => {
    for await (const event of all) everything.push(event);
  })();

  for (let round = 0; round < (isLong ? 30 : 2); round++) {
    const first = await server.orchestrate({ agent: 'index', message: 'Go' });
    const { session_id: session } = await first.untilType('request_received');
    const seen: FleetEvent[] = [];
    const watching = (async () => {
      for await (const event of watchFleet({ url, session, ...eager })) {
        seen.push(event);
        if (event.type === 'done') return;
      }
    })();
    const moment = 2 + random.below(60);
    while (seen.length < moment) await new Promise((resolve) => setTimeout(resolve, 2));
    await server.kill();
    server = await processes.start(directory, port);
    await watching;
    const replay = await server.watch(`/v1/sessions/${session}/fleet`, { query: { follow: 'false' } });
    const whole = JSON.stringify(await replay.all());
    expect(JSON.stringify(seen)).toBe(whole);
    expect(seen.at(-1)).toMatchObject({ type: 'done', ok: true });
    const ofSession = () => everything.filter(({ session_id: id }) => id === session);
    while (ofType(ofSession(), 'done').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(JSON.stringify(ofSession())).toBe(whole);
    expect(seen.reduce(foldSlots, createSlots()).gapCount).toBe(0);
  }
  await all.return();
  await watchingAll;
  await server.kill();
});
