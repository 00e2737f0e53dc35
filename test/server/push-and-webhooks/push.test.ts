import type { PushDevice, PushDeviceList } from '@fleetloom/protocol/fleet';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { pushLimits } from '../../../packages/server/src/push/limits.ts';
import { startPushService, type Subscriber } from '../../../packages/server/src/push/push-service.suite.ts';
import { openKeyStore } from '../../../packages/server/src/keys/key-store.ts';
import { toScript, type TestServer, withServer } from '../server.suite.ts';

const patience = { timeout: 20_000, interval: 10 };
const CANARY = 'canary-4711';

it('[W119, W120, W121, W124, W127] devices get one encrypted message when a session needs a person or fails, with content only where it is allowed, also after a restart', async () => {
  const service = await startPushService();
  const [plain, open, failures] = ['/plain', '/open', '/failures'].map((path) => service.subscribe(path));
  const of = (path: string) => service.received.filter((push) => push.path === path);
  await withServer(
    async (first) => {
      const { client } = first;
      const devices = await Promise.all([
        add(first, plain!),
        add(first, open!, { include_content: true }),
        add(first, failures!, { notify: ['failures'] }),
      ]);
      const session = await begin(client, (await createWriter(client)).id);
      await vi.waitFor(() => expect([of('/plain').length, of('/open').length]).toEqual([1, 1]), patience);
      const [push] = of('/plain');
      expect(push!.headers).toMatchObject({
        ttl: '86400',
        urgency: 'high',
        topic: 'fleetloom',
        'content-encoding': 'aes128gcm',
      });
      expect(push!.headers.authorization).toMatch(/^vapid t=/);
      expect(plain!.read(push)).toEqual({
        title: '1 session needs you',
        body: 'Open Fleetloom to see more.',
        url: `#/thread/${session.id}`,
        tag: 'fleetloom',
        needs_you: 1,
        failed: 0,
      });
      expect(open!.read(of('/open')[0]).body).toBe(`${CANARY} task: write: ${CANARY}.txt`);

      // A test message, also to a device that waits for failures only.
      const tested = await call<PushDevice>(first, `/${devices[2].id}/test`, { method: 'POST' });
      expect([tested.problem, of('/failures').length]).toEqual([null, 1]);
      expect(failures!.read(of('/failures')[0]).title).toBe('Test message');

      // After a restart nothing is repeated, and a failure is sent to the devices that are still there.
      const again = await first.restart();
      expect((await call<PushDeviceList>(again, '')).data).toHaveLength(3);
      const failing = await again.client.beta.agents.create({
        name: 'failing',
        model: 'scripted/inline',
        system: toScript([[{ fail: { status: 400, type: 'invalid_request_error', message: `${CANARY} is bad` } }]]),
      });
      await begin(again.client, failing.id);
      await vi.waitFor(() => expect(of('/failures').length).toBe(2), patience);
      expect(failures!.read(of('/failures')[1])).toMatchObject({ title: '1 session failed', needs_you: 0, failed: 1 });
      expect(of('/failures')[1]!.headers).toMatchObject({ urgency: 'normal', topic: 'fleetloom' });
      await vi.waitFor(() => expect(of('/plain').length).toBe(2), patience);
      expect(plain!.read(of('/plain')[1])).toMatchObject({ title: '1 session needs you, 1 failed', url: '#/inbox' });
      for (const each of of('/plain')) expect(JSON.stringify(plain!.read(each))).not.toContain(CANARY);
      for (const each of of('/failures')) expect(JSON.stringify(failures!.read(each))).not.toContain(CANARY);
    },
    { allowedPrivateHosts: [service.host] },
  );
});

it('[W116, W117, W118, W126, W127, W128] devices belong to a workspace and a key, their input is checked, and responses do not have their addresses and keys', async () => {
  const service = await startPushService();
  const problems: unknown[] = [];
  await withServer(
    async (server) => {
      const { url, directory, client } = server;
      const mine = service.subscribe();
      const added = await add(server, mine, {
        label: 'my phone',
        quiet_hours: { from: '22:00', to: '07:30', time_zone: 'Europe/Vienna' },
      });
      expect(added).toEqual({
        type: 'push_subscription',
        id: expect.stringMatching(/^push_[0-9a-f]{24}$/),
        label: 'my phone',
        service: service.host,
        notify: ['approvals', 'failures'],
        quiet_hours: { from: '22:00', to: '07:30', time_zone: 'Europe/Vienna' },
        include_content: false,
        created_by: 'first key',
        created_at: expect.any(String),
        last_sent_at: null,
        problem: null,
      });
      // The same endpoint is the same device.
      const changed = await add(server, mine, { label: 'renamed' });
      expect([changed.id, changed.created_at, changed.quiet_hours]).toEqual([added.id, added.created_at, null]);
      const list = await call<PushDeviceList>(server, '');
      expect(list.data).toEqual([changed]);
      expect(JSON.stringify(list)).not.toMatch(new RegExp(`secret-path|${mine.keys.auth}|${mine.keys.p256dh}`));

      // Another workspace neither sees nor removes it.
      const { keys } = await openKeyStore({ directory: `${directory}/keys` });
      const other = await keys.create({ kind: 'api', name: 'other', workspaceId: 'wrkspc_other' });
      const stranger = { ...server, key: other.secret };
      await vi.waitFor(async () => expect((await call<PushDeviceList>(stranger, '')).data).toEqual([]), patience);
      expect(await statusOf(stranger, `/${added.id}`, { method: 'DELETE' })).toBe(404);
      expect(await statusOf(stranger, `/${added.id}/test`, { method: 'POST' })).toBe(404);
      // A test message that the push service does not accept is not a success.
      service.answer = () => ({ status: 400 });
      expect(await statusOf(server, `/${added.id}/test`, { method: 'POST' })).toBe(409);
      service.answer = () => ({ status: 201 });
      expect(await statusOf(server, `/${added.id}/test`, { method: 'POST' })).toBe(200);
      service.received.length = 0;

      const refused: [object, string][] = [
        [{ endpoint: `http://${service.host}/` }, 'endpoint: is not an https URL'],
        [{ endpoint: `https://user:password@${service.host}/` }, 'endpoint: is not an https URL'],
        [{ endpoint: 'push' }, 'endpoint: is not an https URL'],
        [{ endpoint: `https://push.example/${'x'.repeat(pushLimits.pushEndpointCharsMax)}` }, 'endpoint: is too much'],
        [{ endpoint: 'https://127.0.0.1/' }, 'does not have a public address'],
        [{ endpoint: 'https://[::ffff:10.0.0.1]/' }, 'does not have a public address'],
        [{ endpoint: 'https://localhost/' }, 'does not have a public address'],
        [{ keys: { ...mine.keys, p256dh: mine.keys.auth } }, 'keys.p256dh: is not a public key'],
        [{ keys: { ...mine.keys, auth: 'short' } }, 'keys.auth: has the wrong form'],
        [{ label: '' }, 'label: is too little'],
        [{ notify: [] }, 'notify: is too little'],
        [{ quiet_hours: { from: '22:00', to: '24:00', time_zone: 'UTC' } }, 'quiet_hours.to: has the wrong form'],
        [{ quiet_hours: { from: '22:00', to: '22:00', time_zone: 'UTC' } }, 'quiet_hours: begin and end at the same'],
        [{ quiet_hours: { from: '22:00', to: '23:00', time_zone: 'Mars' } }, 'quiet_hours.time_zone: is not a known'],
        [{ content: true }, 'content: is not known here'],
      ];
      for (const [change, problem] of refused) {
        const response = await send(server, '', { method: 'POST', body: JSON.stringify(toBody(mine, change)) });
        expect([change, response.status, await response.text()]).toEqual([
          change,
          400,
          expect.stringContaining(problem),
        ]);
      }
      // At the limit of their length they are accepted.
      const long = `https://${service.host}/`.padEnd(pushLimits.pushEndpointCharsMax, 'x');
      const longest = await add(server, { ...mine, endpoint: long });
      await call(server, `/${longest.id}`, { method: 'DELETE' });

      for (let index = 1; index < pushLimits.pushSubscriptionsMax; index++)
        await add(server, service.subscribe(`/${index}`));
      expect(
        await statusOf(server, '', { method: 'POST', body: JSON.stringify(toBody(service.subscribe('/51'))) }),
      ).toBe(400);
      expect((await add(server, mine, { label: 'known' })).label).toBe('known');
      for (const { id } of (await call<PushDeviceList>(server, '')).data)
        await call(server, `/${id}`, { method: 'DELETE' });

      // A device is sent nothing after its key was revoked.
      const temporary = await keys.create({ kind: 'api', name: 'temporary' });
      await vi.waitFor(() => add({ ...server, key: temporary.secret }, service.subscribe('/revoked')), patience);
      await add(server, service.subscribe('/kept'));
      await keys.revoke(temporary.key.id);
      await vi.waitFor(async () => {
        const response = await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': temporary.secret } });
        expect(response.status).toBe(401);
      }, patience);
      await begin(client, (await createWriter(client)).id);
      await vi.waitFor(async () => {
        expect(service.received.map(({ path }) => path)).toEqual(['/kept']);
        expect((await call<PushDeviceList>(server, '')).data).toHaveLength(1);
      }, patience);
    },
    { allowedPrivateHosts: [service.host], onProblem: (problem) => problems.push(problem) },
  );
  expect(problems).toEqual([]);
});

type Device = Pick<Subscriber, 'keys'> & { readonly endpoint: string };

function toBody({ endpoint, keys }: Device, more: object = {}): object {
  return { label: 'a device', endpoint, keys, ...more };
}

async function add(server: TestServer, device: Device, more: object = {}): Promise<PushDevice> {
  return await call<PushDevice>(server, '', { method: 'POST', body: JSON.stringify(toBody(device, more)) });
}

async function call<Answer>(server: TestServer, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await send(server, path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

async function statusOf(server: TestServer, path: string, init: RequestInit): Promise<number> {
  return (await send(server, path, init)).status;
}

async function send({ url, key }: TestServer, path: string, init: RequestInit): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return await fetch(`${url}/v1/fleet/push_subscriptions${path}`, { ...init, headers });
}

/** An agent that asks before it writes a file. */
async function createWriter(client: Anthropic): Promise<{ readonly id: string }> {
  const turns = [[{ call: 'write', input: { file_path: `${CANARY}.txt`, content: CANARY } }], [{ say: 'done' }]];
  return await client.beta.agents.create({
    name: 'writer',
    model: 'scripted/inline',
    system: toScript(turns),
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
  });
}

async function begin(client: Anthropic, agent: string): Promise<{ readonly id: string }> {
  const environment = await client.beta.environments.create({ name: `here ${agent}` });
  const session = await client.beta.sessions.create({ agent, environment_id: environment.id });
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: `${CANARY} task` }] }],
  });
  return session;
}
