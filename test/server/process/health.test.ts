import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetLoad, SessionHealth, ThreadHealth } from '@fleetloom/protocol/fleet';
import { encodeEvent } from '@fleetloom/protocol/sse';
import { expect, it, onTestFinished } from 'vitest';
import { modelLimits } from '../../../packages/server/src/engines/model/limits.ts';
import { fleetLoad, sessionHealth } from '../../../packages/server/src/http/schemas/health.ts';
import { startOn } from '../../../packages/server/src/server.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';

const patience = { timeout: 20_000, interval: 20 };
const started = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } };

type Caller = Pick<TestServer, 'url' | 'key'>;

async function call<Answer>({ url, key }: Caller, path: string, body?: object): Promise<Answer> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const readLoad = async (caller: Caller) => fleetLoad.parse(await call<FleetLoad>(caller, '/v1/fleet/load'));

async function readHealth(caller: Caller, sessionId: string): Promise<SessionHealth> {
  return sessionHealth.parse(await call(caller, `/v1/sessions/${sessionId}/health`));
}

/** A session of one agent that has started. */
async function begin(caller: Caller, agent: object): Promise<string> {
  const { id } = await call<{ id: string }>(caller, '/v1/agents', { name: 'worker', ...agent });
  const environment = await call<{ id: string }>(caller, '/v1/environments', { name: `for ${id}` });
  const content = [{ type: 'text', text: 'Begin.' }];
  const initial = { initial_events: [{ type: 'user.message', content }] };
  return (await call<{ id: string }>(caller, '/v1/sessions', { agent: id, environment_id: environment.id, ...initial }))
    .id;
}

/** A model that does with each request what the test says, and leaves it open. */
async function openModel() {
  const requests: ServerResponse[] = [];
  const answer: (response: ServerResponse) => void = () => {};
  const model = { requests, answer, url: '' };
  const server = createServer((request, response) => {
    request.resume();
    requests.push(response);
    model.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return model;
}

const send = (response: ServerResponse, event: { type: string }) =>
  response.write(encodeEvent({ event: event.type, data: JSON.stringify(event) }));

it('[W80] the load has the numbers of the governor: running requests, the limit, and waiting requests', async () => {
  const model = await openModel();
  const models = { credential: { apiKey: 'none' }, baseURL: model.url };
  await withServer(
    async (server) => {
      expect((await fetch(`${server.url}/v1/fleet/load`)).status).toBe(401);
      const max = modelLimits.governorConcurrencyMax;
      const none = { active: 0, waiting: 0, max, paused_ms: 0 };
      expect(await readLoad(server)).toEqual({ type: 'fleet_load', node_id: null, nodes: 1, endpoint: none });
      // Each complaint halves what may be, and the next request finds less.
      let refusals = Math.log2(max);
      model.answer = (response) => {
        if (refusals-- > 0) response.writeHead(429, { 'retry-after-ms': '0' }).end('{}');
      };
      await begin(server, { model: 'some-model' });
      const load = async () => (await readLoad(server)).endpoint;
      await expect.poll(load, patience).toMatchObject({ active: 1, waiting: 0, max: 1 });
      const waiting = await begin(server, { model: 'some-model' });
      await begin(server, { model: 'scripted/echo' });
      await expect.poll(load, patience).toMatchObject({ active: 1, waiting: 1, max: 1 });
      const { threads } = await readHealth(server, waiting);
      expect(threads).toMatchObject([{ doing: 'request', connection: 'queued', last_byte_at: null }]);
    },
    { models },
  );
  await withServer(async (server) => expect((await readLoad(server)).endpoint).toBeNull());
});

it('[W81] of a request it is known whether its connection is open and when the last byte came', async () => {
  const model = await openModel();
  await withServer(
    async (server) => {
      const id = await begin(server, { model: 'some-model' });
      const only = async () => (await readHealth(server, id)).threads[0] as Extract<ThreadHealth, { doing: 'request' }>;
      await expect.poll(only, patience).toMatchObject({ doing: 'request', connection: 'sent', last_byte_at: null });
      await expect.poll(() => model.requests.length, patience).toBe(1);
      const response = model.requests[0]!;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send(response, started);
      await expect.poll(async () => (await only()).connection, patience).toBe('open');
      const first = await only();
      expect(Date.parse(first.last_byte_at!)).toBeGreaterThanOrEqual(Date.parse(first.since));
      // Silence: the same request, still open, and not a byte more.
      for (let look = 0; look < 5; look++) expect(await only()).toEqual(first);
      // A ping is a sign of life, although nothing of it comes into the log.
      await expect.poll(() => Date.now() > Date.parse(first.last_byte_at!), patience).toBe(true);
      send(response, { type: 'ping' });
      await expect.poll(async () => (await only()).last_byte_at! > first.last_byte_at!, patience).toBe(true);
      expect(await readHealth(server, id)).toMatchObject({ is_known: true, owner: { node_id: null } });
      // An endpoint that hangs up has failed, and is retried later: that does not count as an open connection.
      response.destroy();
      await expect.poll(only, patience).toMatchObject({ doing: 'wait', waits_for: 'retry' });
    },
    { models: { credential: { apiKey: 'none' }, baseURL: model.url } },
  );
});

it('[W82] of a program it is known which process it is, whether it lives, and when it last wrote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-silent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [path, pidFile, go] = ['claude', 'pid', 'go'].map((name) => join(folder, name)) as [string, string, string];
  const line = JSON.stringify({ type: 'system', subtype: 'init', session_id: 's1' });
  const code = `if [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit 0; fi
    echo $$ > ${pidFile}
    while [ ! -e ${go} ]; do sleep 0.02; done
    echo '${line}'
    exec sleep 600`;
  writeFileSync(path, `#!/bin/sh\n${code}\n`);
  chmodSync(path, 0o700);
  await withServer(
    async (server) => {
      const id = await begin(server, { model: 'claude-code/default' });
      const threads = async () => (await readHealth(server, id)).threads;
      const silent = { doing: 'program', is_alive: true, last_byte_at: null, tool: null };
      await expect.poll(threads, patience).toMatchObject([silent]);
      await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', patience).toBe(true);
      const pid = Number(readFileSync(pidFile, 'utf8'));
      expect(await threads()).toMatchObject([{ ...silent, pid }]);
      writeFileSync(go, '');
      const bytes = async () => (await threads()) as readonly Extract<ThreadHealth, { doing: 'program' }>[];
      await expect.poll(async () => (await bytes())[0]?.last_byte_at, patience).toBeTypeOf('string');
      // One that is frozen lives, and says nothing.
      process.kill(pid, 'SIGSTOP');
      const frozen = await bytes();
      expect(frozen).toMatchObject([{ pid, is_alive: true }]);
      expect(await bytes()).toEqual(frozen);
      process.kill(pid, 'SIGKILL');
      // The log has the end of the run: nothing is running any more.
      await expect.poll(threads, patience).toEqual([]);
    },
    { claudeCode: { program: path, workspaces: ['wrkspc_default'], isUnsandboxed: true } },
  );
});

it('[W83] the health of a thread shows running tools with their start, and which thread waits for which', () =>
  withServer(
    async (server) => {
      const allowed = { permission_policy: { type: 'always_allow' } };
      const turns = [[{ call: 'bash', input: { command: 'tail -f /dev/null' } }]];
      const child = await call<{ id: string }>(server, '/v1/agents', {
        name: 'child',
        model: 'scripted/inline',
        system: toScript(turns),
        tools: [{ type: 'agent_toolset_20260401', default_config: allowed }],
      });
      const tasks = [{ agent: 'child', message: 'go' }];
      const id = await begin(server, {
        model: 'scripted/inline',
        system: toScript([[{ call: 'delegate', input: { tasks } }]]),
        multiagent: { type: 'coordinator', agents: [child.id] },
      });
      const threads = async () => (await readHealth(server, id)).threads;
      await expect.poll(threads, patience).toMatchObject([
        { doing: 'wait', waits_for: 'threads' },
        { doing: 'tool', tool: 'bash' },
      ]);
      const asker = await begin(server, {
        model: 'scripted/inline',
        system: toScript([[{ call: 'bash', input: { command: 'ls' } }]]),
        tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
      });
      const waits = async () => (await readHealth(server, asker)).threads;
      await expect.poll(waits, patience).toMatchObject([{ doing: 'wait', waits_for: 'somebody' }]);
      const since = Date.parse((await threads())[1]!.since);
      expect(Math.abs(Date.now() - since)).toBeLessThan(60_000);
      // Sessions of other workspaces, and unknown ones, are not found.
      await expect(readHealth(server, 'sesn_none')).rejects.toThrow('does not exist');
    },
    { allowUnsandboxedBash: true },
  ));

it('[W84] a node that does not own the session asks the owner, and each names the node whose load it reports', async () => {
  const model = await openModel();
  const store = { ...createMemoryStore(), close: async () => {} };
  const open = async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'fleetloom-node-'));
    const models = { credential: { apiKey: 'none' }, baseURL: model.url };
    const server = await startOn({ dataDirectory, models }, store, true);
    onTestFinished(async () => {
      await server.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    });
    return { server, nodeId: readFileSync(join(dataDirectory, 'node-id'), 'utf8').trim() };
  };
  const one = await open();
  const two = await open();
  const key = one.server.firstKey!;
  const [first, second] = [one, two].map(({ server: { url } }) => ({ url, key })) as [Caller, Caller];
  const id = await begin(first, { model: 'some-model' });
  const request = { doing: 'request', connection: 'sent' };
  const found = { is_known: true, owner: { node_id: one.nodeId }, threads: [request] };
  await expect.poll(() => readHealth(first, id), patience).toMatchObject(found);
  expect(await readHealth(second, id)).toEqual(await readHealth(first, id));
  expect(await readLoad(first)).toMatchObject({ node_id: one.nodeId, endpoint: { active: 1 } });
  await expect.poll(() => readLoad(first), patience).toMatchObject({ nodes: 2 });
  expect(await readLoad(second)).toMatchObject({ node_id: two.nodeId, endpoint: { active: 0 } });
});
