import { createServer, type Server, type Socket, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { watchFleet } from '@fleetloom/client';
import {
  createFleet,
  createSlots,
  type Fleet,
  type FleetEvent,
  findSession,
  foldFleet,
  foldSlots,
} from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FleetServer,
  ofType,
  openFleetServer,
  parallel,
} from '../../packages/server/src/http/routes/fleet.suite.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';

let fleet: FleetServer;
let cutter: Cutter;
beforeAll(async () => {
  fleet = await openFleetServer();
  cutter = await openCutter(fleet.server.port);
  await fleet.agent('talker', { turns: [[{ say: 'word '.repeat(30), chunks: 30, every_ms: 5 }]] });
  const block = parallel(['talker', 'a'], ['talker', 'b'], ['talker', 'c']);
  await fleet.agent('index', { turns: [[{ say: `Plan.\n${block}` }], [{ say: 'Done.' }]] });
});
afterAll(async () => {
  cutter.close();
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

/** A proxy that closes every connection after some bytes. */
interface Cutter {
  readonly url: string;
  readonly cuts: number;
  close(): void;
}

async function openCutter(port: number): Promise<Cutter> {
  const random = randomText();
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => [client, upstream].forEach((each) => each.destroy()));
    }
    let left = 1_000 + random.below(30_000);
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk.subarray(0, Math.max(0, left)));
      left -= chunk.length;
      if (left > 0) return;
      cuts++;
      client.destroySoon();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reconnects at once. */
const eager = { random: () => 0, schedule: (run: () => void, ms: number) => later(run, Math.min(ms, 5_000)) };

function later(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

async function replay(sessionId: string): Promise<FleetEvent[]> {
  return (await fleet.watch(`/v1/sessions/${sessionId}/fleet`, { query: { follow: 'false' } })).all();
}

describe('the client and the server', () => {
  it('[V90] a session is watched to its end through connections that break anywhere, each event once', {
    timeout,
  }, async () => {
    for (let round = 0; round < (isLong ? 100 : 3); round++) {
      const reader = await fleet.orchestrate({ agent: 'index', message: 'Go' });
      const { session_id: session } = await reader.untilType('request_received');
      const events: FleetEvent[] = [];
      for await (const event of watchFleet({ url: cutter.url, session, ...eager })) {
        events.push(event);
        if (event.type === 'done') break;
      }
      expect(JSON.stringify(events)).toBe(JSON.stringify(await replay(session)));
    }
    expect(cutter.cuts).toBeGreaterThan(0);
  });

  it('[V92] all sessions are watched on one stream through connections that break anywhere', {
    timeout: Math.max(timeout, 120_000),
  }, async () => {
    for (let round = 0; round < (isLong ? 50 : 2); round++) {
      let state: Fleet = createFleet();
      const own = new Map<string, FleetEvent[]>();
      const watch = watchFleet({ url: cutter.url, from: 'live', ...eager });
      const reading = (async () => {
        for await (const event of watch) {
          state = foldFleet(state, event);
          own.set(event.session_id!, [...(own.get(event.session_id!) ?? []), event]);
        }
      })();
      // The watcher must be connected before the first event.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const ids = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const events = await (await fleet.orchestrate({ agent: 'index', message: 'Go' })).all();
          return ofType(events, 'done')[0]!.session_id;
        }),
      );
      const isOver = () => ids.every((id) => findSession(state, id)?.runs.at(-1)?.state === 'ok');
      while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 10));
      await watch.return();
      await reading;
      for (const id of ids) {
        const whole = await replay(id);
        expect(JSON.stringify(own.get(id))).toBe(JSON.stringify(whole));
        expect(JSON.stringify(findSession(state, id))).toBe(JSON.stringify(whole.reduce(foldSlots, createSlots())));
      }
    }
  });

  it('[V93] the end of one session is not the end of the stream of all', {
    timeout: Math.max(timeout, 120_000),
  }, async () => {
    const watch = watchFleet({ url: fleet.server.url, from: 'live' });
    const seen: FleetEvent[] = [];
    const reading = (async () => {
      for await (const event of watch) {
        seen.push(event);
        if (ofType(seen, 'done').length === 2) return;
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const run = async () =>
      ofType(await (await fleet.orchestrate({ agent: 'talker', message: 'Go' })).all(), 'done')[0]!;
    const { session_id: id } = await run();
    while (ofType(seen, 'done').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await fleet.call('DELETE', `/v1/sessions/${id}`);
    while (ofType(seen, 'over').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ofType(seen, 'over')).toMatchObject([{ session_id: id }]);
    await run();
    await reading;
  });
});
