import { SseDecoder } from '@fleetloom/protocol/sse';
import { drain, openPeer } from './catch-up-servers.ts';
import { type Bench, comparePair, type Measured } from './harness.ts';
import { type LongRun, openLongRun } from './long-run.ts';

/** Reading back a long run from disk. */
export const catchUp: Bench = {
  name: 'catch-up',
  cases: [{ name: 'events-100k', run: () => againstPeer(100_000) }],
};

/**
 * All events of a run on disk, against `@durable-streams/server` with the same events on disk. It sends one JSON array,
 * which it creates from the whole file before its first byte; Fleetloom sends an event stream.
 */
async function againstPeer(deltas: number): Promise<Measured> {
  const run = await openLongRun({ deltas, isEnded: true });
  const peer = await openPeer(await readEvents(run));
  const pair = { floor: () => peer.read().then(check), ours: () => drain(run.port, pathOf(run)).then(check) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11, budgetMs: 20_000, clock: 'cpu' });
  await run.close();
  await peer.close();
  const [value, floor] = [oursMs, floorMs].map((ms) => (deltas / ms) * 1_000) as [number, number];
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal: '>= 1x', ok: 1 / ratio >= 1 };

  function check(bytes: number): void {
    if (bytes < deltas * 100) throw new Error(`a response with ${deltas} events has only ${bytes} bytes`);
  }
}

/** The data of all events of a run. */
export async function readEvents(run: LongRun): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${run.port}${pathOf(run)}`);
  const decoder = new SseDecoder();
  const items = decoder.push(new Uint8Array(await response.arrayBuffer()));
  return items.flatMap((item) => (item.type === 'event' ? [item.data] : []));
}

function pathOf({ sessionId }: LongRun): string {
  return `/v1/sessions/${sessionId}/fleet?follow=false`;
}
