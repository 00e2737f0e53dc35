import { type Bench, comparePair, heapBytes, type Measured } from './harness.ts';
import { Clients, openAnswerers, openBareSpeaker, openDoorSpeaker, type Speaker } from './http-door.ts';

/** The Managed Agents door against bare node:http, with clients in a process of their own. */
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
  const [door, bare] = [await openHeard(await openDoorSpeaker(pace)), await openHeard(await openBareSpeaker(pace))];
  const pair = { floor: () => bare.round(events), ours: () => door.round(events) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 15, budgetMs: 8_000 });
  await Promise.all([door.close(), bare.close()]);
  const [value, floor] = [oursMs, floorMs].map((ms) => ((events * subscribers) / ms) * 1_000) as [number, number];
  const factor = 1 / ratio;
  const words = goal === undefined ? 'reported' : `>= ${goal}x`;
  return { value, unit: '/s', floor, ratio: factor, goal: words, ok: goal === undefined || factor >= goal };

  async function openHeard(speaker: Speaker) {
    const clients = new Clients();
    await clients.subscribe(speaker, subscribers);
    let rounds = 0;
    return {
      round: (count: number) => clients.hear(speaker, count, `end of round ${(rounds += 1)}.`),
      close: async () => {
        clients.close();
        await speaker.close();
      },
    };
  }
}

const REQUESTS = 5_000;
const CONNECTIONS = 16;

/** A small record, read from a store in memory and checked on the way in. */
async function json(): Promise<Measured> {
  const { door, bare, close } = await openAnswerers();
  const clients = new Clients();
  const pair = {
    floor: () => clients.ask(bare, REQUESTS, CONNECTIONS),
    ours: () => clients.ask(door, REQUESTS, CONNECTIONS),
  };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 15, budgetMs: 6_000 });
  clients.close();
  await close();
  const [value, floor] = [oursMs, floorMs].map((ms) => (REQUESTS / ms) * 1_000) as [number, number];
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal: 'reported', ok: true };
}

/** What a thousand streams on which nothing happens cost the server. */
async function memory(): Promise<Measured> {
  const streams = 1_000;
  const speaker = await openDoorSpeaker();
  const clients = new Clients();
  // What is made once is there before.
  await clients.subscribe(speaker, 50);
  await clients.leave();
  await settle();
  const before = heapBytes();
  await clients.subscribe(speaker, streams);
  await settle();
  const value = (heapBytes() - before) / streams / 1_024;
  clients.close();
  await speaker.close();
  return { value, unit: 'KiB', floor: null, ratio: null, goal: '<= 64 KiB', ok: value <= 64 };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}
