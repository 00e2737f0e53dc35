import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PushKey } from '@fleetloom/protocol/fleet';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { pushLimits } from '../../../packages/server/src/push/limits.ts';
import { startPushService } from '../../../packages/server/src/push/push-service.suite.ts';
import { startOn } from '../../../packages/server/src/server.ts';
import { connect, toScript } from '../server.suite.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';

const database = await testDatabase();

it('[W115, W124] nodes on one database have one key pair, which is encrypted there, and each event is sent once to a device', async () => {
  const service = await startPushService();
  const mine = service.subscribe();
  const open = async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-push-node-'));
    const store = await openPostgresStore(database);
    const server = await startOn({ dataDirectory, allowedPrivateHosts: [service.host] }, store, true);
    onTestFinished(async () => {
      await server.close();
      await rm(dataDirectory, { recursive: true, force: true });
    });
    return { ...server, store };
  };
  const nodes = [await open(), await open()];
  const key = nodes[0]!.firstKey;
  const call = async <Answer>(node: number, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return (await (await fetch(`${nodes[node]!.url}/v1/fleet/${path}`, { ...init, headers })).json()) as Answer;
  };
  const keys = await Promise.all([0, 1].map((node) => call<PushKey>(node, 'push')));
  expect(keys[0]!.public_key).toMatch(/^B[\w-]{86}$/);
  expect(keys[1]).toEqual(keys[0]);
  const stored = await nodes[0]!.store.documents.get('secret', 'vapid_key');
  expect(Object.keys(stored!.data)).toEqual(['sealed']);
  const body = { label: 'phone', endpoint: mine.endpoint, keys: mine.keys };
  await call(1, 'push_subscriptions', { method: 'POST', body: JSON.stringify(body) });

  const clients = nodes.map(({ url }) => connect(url, key));
  const turns = [[{ call: 'write', input: { file_path: 'a.txt', content: 'hello' } }], [{ say: 'done' }]];
  const agent = await clients[0]!.beta.agents.create({
    name: 'writer',
    model: 'scripted/inline',
    system: toScript(turns),
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
  });
  const environment = await clients[0]!.beta.environments.create({ name: 'here' });
  for (const [index, client] of clients.entries()) {
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    await clients[1 - index]!.beta.sessions.events.send(id, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
    });
    await vi.waitFor(() => expect(service.received).toHaveLength(index + 1), { timeout: 20_000, interval: 10 });
    expect(mine.read(service.received[index])).toMatchObject({ needs_you: index + 1 });
  }
  // Another node would have sent its own by now.
  await new Promise((resolve) => setTimeout(resolve, 3 * pushLimits.pushGatherMs));
  expect(service.received).toHaveLength(2);
});
