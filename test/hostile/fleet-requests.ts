import { setTimeout as wait } from 'node:timers/promises';
import { openEvents, readEvents } from '@fleetloom/client';
import { type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { inBackground } from '../../packages/server/src/base/in-background.ts';
import type { Victim } from './victim.ts';

/** A run of the attacker, from its first event to its last. */
export async function orchestrate({ url, keys }: Victim, body: object): Promise<FleetEvent[]> {
  const headers = { 'x-api-key': keys.attacker, 'content-type': 'application/json', connection: 'close' };
  for (;;) {
    const answer = await fetch(`${url}/v1/orchestrate`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 529) return await collect(readEvents(answer, new SseDecoder()));
    // Under an attack on a busy machine the server may have more work than it can begin, and says when to repeat the request.
    await answer.arrayBuffer();
    await wait(Number(answer.headers.get('retry-after') ?? '1') * 1_000);
  }
}

/** Events of a stream that ends. */
export async function readFleet({ url, keys }: Victim, path: string): Promise<FleetEvent[]> {
  return await collect(openEvents(`${url}${path}`, { headers: { 'x-api-key': keys.attacker, connection: 'close' } }));
}

/** Watches `/v1/fleet`, and collects the runs that have ended. */
export function watchRuns({ url, keys }: Victim) {
  const ending = new AbortController();
  const ended: string[] = [];
  const opening = fetch(`${url}/v1/fleet`, { headers: { 'x-api-key': keys.attacker }, signal: ending.signal });
  const watch = async () => {
    for await (const item of readEvents(await opening, new SseDecoder())) {
      if (item.type !== 'event') continue;
      const event = parseFleetEvent(item);
      if (event.type === 'done') ended.push(event.request_id);
    }
  };
  inBackground(watch(), () => undefined);
  return { opened: opening.then(() => undefined), ended: () => ended, close: () => ending.abort() };
}

async function collect(items: AsyncIterable<SseItem>): Promise<FleetEvent[]> {
  const events: FleetEvent[] = [];
  for await (const item of items) if (item.type === 'event') events.push(parseFleetEvent(item));
  return events;
}
