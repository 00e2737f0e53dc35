import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { openConnections } from '../../packages/server/src/base/outgoing-http.ts';
import { systemSchedule } from '../../packages/server/src/base/schedule.ts';
import { type Posted, postWebhook } from '../../packages/server/src/webhooks/post-webhook.ts';
import type { WebhookEvent } from '../../packages/server/src/webhooks/to-webhook-events.ts';
import { toWebhookKey } from '../../packages/server/src/webhooks/webhook-key.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';

// Hostile receivers of webhooks.

let server: HostileServer;
const connections = openConnections();
const visited = new Set<string>();

beforeAll(async () => {
  server = await startHostileServer();
  await post('fine');
});

afterAll(async () => {
  connections.close();
  await server.close();
});

it.each([
  ['endless', { type: 'accepted' }],
  ['drip', { type: 'accepted' }],
  ['cut', { type: 'accepted' }],
  ['gzip', { type: 'accepted' }],
  ['endless-refusal', { type: 'refused', reason: 'it answered 500' }],
  ['redirect', { type: 'refused', reason: 'it answered 307' }],
  ['headers', { type: 'refused', reason: 'it cannot be reached (HPE_HEADER_OVERFLOW)' }],
  ['continue', { type: 'refused', reason: 'it cannot be reached (ERR_INTERIM_ANSWERS)' }],
  ['no-http', { type: 'refused', reason: 'it cannot be reached (HPE_INVALID_CONSTANT)' }],
  ['silence', { type: 'refused', reason: 'no answer in 5000 ms' }],
])('[W90] of the answer of %s nothing but its status counts, and its connection is let go', async (name, posted) => {
  expect(await expectHarmless(name, async () => await post(name), { grownMibMax: 32 })).toEqual(posted);
  // One that has ended well may be kept for the next event.
  await expect.poll(() => server.connections(), { interval: 5 }).toBeLessThanOrEqual(1);
});

it('[W90] closing lets go of kept connections, and every kind of receiver was visited', async () => {
  await post('fine');
  connections.close();
  await expect.poll(() => server.connections(), { interval: 5 }).toBe(0);
  expect([...visited].toSorted()).toEqual([...server.names.hook].toSorted());
});

async function post(name: string): Promise<Posted> {
  visited.add(name);
  return await postWebhook({
    url: server.url('hook', name),
    key: toWebhookKey(Buffer.alloc(32, 1)),
    event: { id: 'wevt_1' } as unknown as WebhookEvent,
    clock: systemClock,
    schedule: systemSchedule,
    connections,
    signal: new AbortController().signal,
  });
}
