import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { startOn } from '../../../packages/server/src/server.ts';
import { connect } from '../server.suite.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { startReceiver } from '../../../packages/server/src/webhooks/receiver.suite.ts';

const database = await testDatabase();

it('[W69, W71] two nodes on one database sign with one key, and each event comes from one of them', async () => {
  let key = '';
  const receiver = await startReceiver(() => key);
  const open = async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-webhook-node-'));
    const webhooks = { urls: [receiver.url] };
    const server = await startOn({ dataDirectory, webhooks }, await openPostgresStore(database), true);
    onTestFinished(async () => {
      await server.close();
      await rm(dataDirectory, { recursive: true, force: true });
    });
    return server;
  };
  const servers = [await open(), await open()];
  const made = servers.flatMap(({ webhookKey }) => webhookKey ?? []);
  expect(made).toHaveLength(1);
  key = made[0]!;
  const clients = servers.map(({ url }) => connect(url, servers[0]!.firstKey));
  const agent = await clients[0]!.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const environment = await clients[0]!.beta.environments.create({ name: 'here' });
  const sessions = await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (index) => {
      const make = { agent: agent.id, environment_id: environment.id };
      const { id } = await clients[index % 2]!.beta.sessions.create(make);
      // The request goes to the other node: the node that runs the session delivers its events.
      await clients[(index + 1) % 2]!.beta.sessions.events.send(id, {
        events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
      });
      return id;
    }),
  );
  const typesOf = (id: string) => receiver.attempts.flatMap(({ event: { data } }) => (data.id === id ? data.type : []));
  const types = ['session.created', 'session.status_run_started', 'session.status_idled'];
  await vi.waitFor(() => expect(sessions.map(typesOf)).toEqual(sessions.map(() => types)), { timeout: 20_000 });
});
