import { type Bench, comparePair, heapBytes, type Measured } from './harness.ts';
import { Clients, openAnswerers, openBareStreamServer, openStreamServer, type StreamServer } from './http-servers.ts';

/** The Managed Agents server against bare node:http, with clients in a process of their own. */
export const http: Bench = {
  name: 'http',
  cases: [
    { name: 'fan-out-1', run: () => fanOut(1, undefined) },
    { name: 'fan-out-100-single', run: () => fanOut(100, undefined, 1) },
    { name: 'fan-out-100', run: () => fanOut(100, 0.8) },
    { name: 'fan-out-1000', run: () => fanOut(1_000, 0.8) },
    { name: 'json', run: json },
    { name: 'memory-per-stream', run: memory },
  ],
};

/** Events times subscribers of each round. */
const DELIVERIES = 96_000;
const EVENTS_MAX = 4_800;

/** Events of 200 bytes, from the log to every subscriber. */
async function fanOut(subscribers: number, goal: number | undefined, pace?: number): Promise<Measured> {
  const events = Math.min(EVENTS_MAX, DELIVERIES / subscribers);
  const [server, bare] = [
    await openSubscribed(await openStreamServer(pace)),
    await openSubscribed(await openBareStreamServer(pace)),
  ];
  const pair = { floor: () => bare.round(events), ours: () => server.round(events) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 15, budgetMs: 8_000 });
  await Promise.all([server.close(), bare.close()]);
  const [value, floor] = [oursMs, floorMs].map((ms) => ((events * subscribers) / ms) * 1_000) as [number, number];
  const factor = 1 / ratio;
  const words = goal === undefined ? 'reported' : `>= ${goal}x`;
  return { value, unit: '/s', floor, ratio: factor, goal: words, ok: goal === undefined || factor >= goal };

  async function openSubscribed(source: StreamServer) {
    const clients = new Clients();
    await clients.subscribe(source, subscribers);
    let rounds = 0;
    return {
      round: (count: number) => clients.receive(source, count, `end of round ${(rounds += 1)}.`),
      close: async () => {
        clients.close();
        await source.close();
      },
    };
  }
}

const REQUESTS = 5_000;
const CONNECTIONS = 16;

/** A request for a small record in an in-memory store. */
async function json(): Promise<Measured> {
  const { server, bare, close } = await openAnswerers();
  const clients = new Clients();
  const pair = {
    floor: () => clients.ask(bare, REQUESTS, CONNECTIONS),
    ours: () => clients.ask(server, REQUESTS, CONNECTIONS),
  };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 15, budgetMs: 6_000 });
  clients.close();
  await close();
  const [value, floor] = [oursMs, floorMs].map((ms) => (REQUESTS / ms) * 1_000) as [number, number];
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal: '>= 0.5x', ok: 1 / ratio >= 0.5 };
}

/** The memory of a thousand idle streams. */
async function memory(): Promise<Measured> {
  const streams = 1_000;
  const source = await openStreamServer();
  const clients = new Clients();
  // Allocates everything that is created once.
  await clients.subscribe(source, 50);
  await clients.leave();
  await settle();
  const before = heapBytes();
  await clients.subscribe(source, streams);
  await settle();
  const value = (heapBytes() - before) / streams / 1_024;
  clients.close();
  await source.close();
  return { value, unit: 'KiB', floor: null, ratio: null, goal: '<= 64 KiB', ok: value <= 64 };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}
