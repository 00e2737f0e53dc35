import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetMachine } from '@fleetloom/protocol/fleet';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../../packages/server/src/base/clock.ts';
import { createMachineFinder } from '../../../packages/server/src/composition/find-machine.ts';
import { compositionLimits } from '../../../packages/server/src/composition/limits.ts';
import { fleetSettings } from '../../../packages/server/src/http/dashboard/settings-schema.ts';
import { openKeyStore } from '../../../packages/server/src/keys/key-store.ts';
import { startServer } from '../../../packages/server/src/server.ts';
import { toScript, withServer } from '../server.suite.ts';

it('[V201, V202] the settings are those of the caller: keys of its workspace without secrets, webhooks without their paths, retention', async () => {
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  await withServer(
    async ({ client, url, key, directory }) => {
      const { keys } = await openKeyStore({ directory: join(directory, 'keys') });
      const { secret: other } = await keys.create({ kind: 'api', name: 'other', workspaceId: 'wrkspc_other' });
      const read = async (secret: string) => {
        const response = await fetch(`${url}/v1/fleet/settings`, { headers: { authorization: `Bearer ${secret}` } });
        return await response.text();
      };
      const text = await read(key);
      for (const secret of [key, other, 'secret-path']) expect(text).not.toContain(secret);
      const mine = fleetSettings.parse(JSON.parse(text));
      expect(mine).toMatchObject({
        workspace_id: 'wrkspc_default',
        key_id: mine.keys[0]!.id,
        keys: [{ name: 'first key', kind: 'api' }],
        model_endpoint: 'models.example',
        webhooks: [{ address, delivered_count: 0, is_gone: false, deliveries: [] }],
        retention: { deltas: { days: 3 }, login_ms: 2_592_000_000, login_link_ms: 600_000 },
      });
      const theirs = fleetSettings.parse(JSON.parse(await read(other)));
      expect(theirs).toMatchObject({ workspace_id: 'wrkspc_other', keys: [{ name: 'other' }] });

      const agent = await client.beta.agents.create({
        name: 'a',
        model: 'scripted/x',
        system: toScript([[{ say: 'ok' }]]),
      });
      const environment = await client.beta.environments.create({ name: 'here' });
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      const content = [{ type: 'text' as const, text: 'Go.' }];
      await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
      await vi.waitFor(async () => {
        const [webhook] = fleetSettings.parse(JSON.parse(await read(key))).webhooks;
        expect(webhook!.delivered_count).toBeGreaterThan(0);
        expect(webhook!.deliveries[0]).toMatchObject({ problem: null });
      }, 10_000);
    },
    {
      keepDeltas: { days: 3 },
      webhooks: { urls: [`${address}/secret-path`] },
      models: { credential: { apiKey: 'k' }, baseURL: 'http://models.example/v1' },
    },
  );
});

it('[V201] a server without keys has no key to show', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'fleetloom-open-'));
  const server = await startServer({ dataDirectory, isOpen: true });
  onTestFinished(async () => {
    await server.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  const answer = fleetSettings.parse(await (await fetch(`${server.url}/v1/fleet/settings`)).json());
  expect(answer).toMatchObject({ key_id: null, keys: [], webhooks: [], model_endpoint: null });
});

it('[V203] the machine is examined at most every 30 s, and again at once after a failure', async () => {
  const clock = createManualClock();
  const machine: FleetMachine = {
    sandbox_problem: null,
    sandbox_gaps: [],
    has_ripgrep: true,
    git_version: '2.30.0',
    git_problem: null,
  };
  const find = vi.fn(async () => machine);
  const read = createMachineFinder(clock, find);
  await Promise.all([read(), read()]);
  clock.advance(compositionLimits.machineMs - 1);
  await read();
  expect(find).toHaveBeenCalledTimes(1);
  clock.advance(1);
  find.mockRejectedValueOnce(new Error('no processes left'));
  await expect(read()).rejects.toThrow('no processes left');
  await read();
  expect(find).toHaveBeenCalledTimes(3);
});
