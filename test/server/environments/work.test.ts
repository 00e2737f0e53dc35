import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { EnvironmentWorker } from '@anthropic-ai/sdk/helpers/beta/environments';
import { betaAgentToolset20260401 } from '@anthropic-ai/sdk/tools/agent-toolset/node';
import { afterAll, expect, it } from 'vitest';
import { environmentLimits } from '../../../packages/server/src/environments/limits.ts';
import { outcomeOf } from '../../../packages/server/src/http/routes/records.suite.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

it('[W10] the worker of the official SDK runs bash and files for a session to its end, and gives the item back', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const session = await startSession(test, environment, [
      [{ call: 'bash', input: { command: 'echo "from $((40 + 2))" > here.txt' } }],
      [{ call: 'read', input: { file_path: 'here.txt' } }],
      [{ say: 'the worker said {{last_result}}' }],
    ]);
    const worker = startWorker(test, environment, key);
    await say(test.client, session, 'go');
    expect(await untilRest(test.client, session)).toContain('from 42');
    expect(await readFile(join(worker.workdir, 'here.txt'), 'utf8')).toBe('from 42\n');
    expect(await readdir(join(test.directory, 'workspaces')).catch(() => [])).toEqual([]);
    await until(async () => (await statesOf(test, environment)).join() === 'stopped');
    await worker.stop();
  }));

it('[H102] HEAD takes no work from a queue', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const session = await startSession(test, environment, [
      [{ call: 'bash', input: { command: 'true' } }],
      [{ say: 'x' }],
    ]);
    await say(test.client, session, 'go');
    const headers = { authorization: `Bearer ${key}` };
    const poll = (method: string) => fetch(`${test.url}/v1/environments/${environment}/work/poll`, { method, headers });
    await until(async () => (await statesOf(test, environment)).join() === 'queued');
    expect((await poll('HEAD')).status).toBe(404);
    expect(await statesOf(test, environment)).toEqual(['queued']);
    expect(await (await poll('GET')).json()).toMatchObject({ data: { id: session } });
  }));

it('[H102] HEAD does not count as having read a session: the next stream begins where the message was sent', () =>
  withServer(async ({ client, url, key }) => {
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id });
    await say(client, id, 'hello');
    // The agent has answered by then. To ask for its status would count.
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const path of [`/v1/sessions/${id}`, `/v1/sessions/${id}/events`]) {
      const answer = await fetch(`${url}${path}`, { method: 'HEAD', headers: { 'x-api-key': key } });
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    }
    const types: string[] = [];
    for await (const event of await client.beta.sessions.events.stream(id)) {
      types.push(event.type);
      if (event.type === 'session.status_idle') break;
    }
    expect(types).toContain('agent.message');
  }));

it('[W11] a session that its worker has left is queued again by a message', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const session = await startSession(test, environment, [
      [{ call: 'bash', input: { command: 'echo one' } }],
      [{ say: 'first {{last_result}}' }],
      [{ call: 'bash', input: { command: 'echo two' } }],
      [{ say: 'second {{last_result}}' }],
    ]);
    const worker = startWorker(test, environment, key);
    await say(test.client, session, 'go');
    await until(async () => (await statesOf(test, environment)).join() === 'stopped');
    await say(test.client, session, 'go on');
    expect(await untilRest(test.client, session)).toMatch(/first one[^]*second two/);
    await until(async () => (await statesOf(test, environment)).join() === 'stopped,stopped');
    await worker.stop();
  }));

it('[W11] an item whose worker gave up is queued again by an interrupt', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const session = await startSession(test, environment, [
      [{ call: 'bash', input: { command: 'true' } }],
      [{ say: 'x' }],
    ]);
    await say(test.client, session, 'go');
    const { work } = new Anthropic({ baseURL: test.url, authToken: key, maxRetries: 0 }).beta.environments;
    await until(async () => (await test.client.beta.sessions.retrieve(session)).status === 'idle');
    for (let failures = 0; failures <= environmentLimits.workRetriesMax; failures++) {
      const item = (await work.poll(environment, {}))!;
      await work.ack(item.id, { environment_id: environment });
      await work.stop(item.id, { environment_id: environment, force: true });
    }
    expect(await work.poll(environment, {})).toBeNull();
    await test.client.beta.sessions.events.send(session, { events: [{ type: 'user.interrupt' }] });
    expect((await work.poll(environment, {}))?.data.id).toBe(session);
  }));

it('[W12] the worker runs the tools of delegated threads too, each result in its own thread', () =>
  withServer(async (test) => {
    const { client } = test;
    const { environment, key } = await selfHosted(test);
    const tools = [{ type: 'agent_toolset_20260401' as const }];
    const member = await client.beta.agents.create({
      name: 'member',
      model: 'scripted/inline',
      system: toScript([[{ call: 'bash', input: { command: 'echo by the member' } }], [{ say: '{{last_result}}' }]]),
      tools,
    });
    const lead = await client.beta.agents.create({
      name: 'lead',
      model: 'scripted/inline',
      system: toScript([
        [{ call: 'delegate', input: { tasks: [{ agent: 'member', message: 'do it' }] } }],
        [{ say: 'lead heard {{last_result}}' }],
      ]),
      tools,
      multiagent: { type: 'coordinator', agents: [member.id] },
    });
    const { id } = await client.beta.sessions.create({ agent: lead.id, environment_id: environment });
    const worker = startWorker(test, environment, key);
    await say(client, id, 'go');
    expect(await untilRest(client, id)).toContain('by the member');
    const uses = [];
    for await (const event of client.beta.sessions.events.list(id, { types: ['agent.tool_use'] })) uses.push(event);
    const bash = uses.find((event) => event.type === 'agent.tool_use' && event.name === 'bash');
    const threads = [];
    for await (const thread of client.beta.sessions.threads.list(id)) threads.push(thread);
    expect(bash).toMatchObject({ session_thread_id: threads.find((each) => each.parent_thread_id !== null)!.id });
    await worker.stop();
  }));

it('[W13] after a restart an item keeps its state, and its worker continues with its token', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const session = await startSession(test, environment, [
      [{ call: 'bash', input: { command: 'true' } }],
      [{ say: 'got {{last_result}}' }],
    ]);
    await say(test.client, session, 'go');
    const workOf = (url: string) =>
      new Anthropic({ baseURL: url, authToken: key, maxRetries: 0 }).beta.environments.work;
    const item = (await workOf(test.url).poll(environment, {}))!;
    await workOf(test.url).ack(item.id, { environment_id: environment });
    const beat = await workOf(test.url).heartbeat(item.id, { environment_id: environment });
    const later = await test.restart();
    const token = tokenOf(item.secret!);
    const holder = new Anthropic({ baseURL: later.url, authToken: token, maxRetries: 0 });
    const next = { environment_id: environment, expected_last_heartbeat: beat.last_heartbeat };
    expect(await holder.beta.environments.work.heartbeat(item.id, next)).toMatchObject({ state: 'active' });
    const [call] = await toolUsesOf(holder, session);
    await holder.beta.sessions.events.send(session, {
      events: [{ type: 'user.tool_result', tool_use_id: call!.id, content: [{ type: 'text', text: 'late' }] }],
    });
    expect(await untilRest(holder, session)).toBe('got late');
  }));

it('[W14] a worker reaches its own environment and sessions, gives results, and can do nothing else', () =>
  withServer(async (test) => {
    const ours = await selfHosted(test);
    const other = await selfHosted(test);
    const turns = [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'x' }]];
    const mine = await startSession(test, ours.environment, turns);
    const theirs = await startSession(test, other.environment, turns);
    const worker = new Anthropic({ baseURL: test.url, authToken: ours.key, maxRetries: 0 }).beta;
    const item = (await worker.environments.work.poll(ours.environment, {}))!;
    const holder = new Anthropic({ baseURL: test.url, authToken: tokenOf(item.secret!), maxRetries: 0 }).beta;
    const message = { events: [{ type: 'user.message' as const, content: [{ type: 'text' as const, text: 'hi' }] }] };
    for (const client of [worker, holder]) {
      expect((await client.sessions.retrieve(mine)).id).toBe(mine);
      expect(await outcomeOf(client.sessions.retrieve(theirs))).toBe('404 not_found_error');
      expect(await outcomeOf(client.sessions.events.list(theirs))).toBe('404 not_found_error');
      expect(await outcomeOf(client.sessions.events.send(mine, message))).toBe('403 permission_error');
      expect(await outcomeOf(client.sessions.list())).toBe('403 permission_error');
      expect(await outcomeOf(client.agents.list())).toBe('403 permission_error');
      expect(await outcomeOf(client.environments.work.stats(other.environment))).toMatch(/^40[34] /);
    }
    expect(await outcomeOf(holder.environments.work.poll(ours.environment, {}))).toBe('403 permission_error');
    const [stranger] = await listOf(test.client.beta.environments.work.list(other.environment));
    const at = { environment_id: other.environment };
    expect(await outcomeOf(worker.environments.work.retrieve(stranger!.id, at))).toBe('404 not_found_error');
    const second = await startSession(test, ours.environment, turns);
    const all = await listOf(test.client.beta.environments.work.list(ours.environment));
    const others = all.find(({ data }) => data.id === second)!;
    const stop = { environment_id: ours.environment };
    expect(await outcomeOf(holder.environments.work.stop(others.id, stop))).toBe('404 not_found_error');
  }));

it('[W14] an environment key is shown once, listed without its secret, and rejected when it is revoked', () =>
  withServer(async (test) => {
    const { environment, key } = await selfHosted(test);
    const path = `/v1/environments/${environment}/keys`;
    const { data } = (await test.client.get(path)) as { data: { id: string }[] };
    expect(data).toEqual([
      { type: 'environment_key', id: data[0]!.id, name: 'worker', created_at: expect.any(String) },
    ]);
    const worker = new Anthropic({ baseURL: test.url, authToken: key, maxRetries: 0 });
    expect(await worker.beta.environments.work.poll(environment, {})).toBeNull();
    expect(await outcomeOf(worker.get(path))).toBe('403 permission_error');
    expect(await outcomeOf(test.client.delete(`${path}/key_none`))).toBe('404 not_found_error');
    await test.client.delete(`${path}/${data[0]!.id}`);
    expect(await outcomeOf(worker.beta.environments.work.poll(environment, {}))).toBe('401 authentication_error');
  }));

it('[W14] on a server without keys workers send any, and there are none to be made', () =>
  withServer(
    async (test) => {
      const { id } = await test.client.beta.environments.create({ name: 'a', config: { type: 'self_hosted' } });
      const session = await startSession(test, id, [
        [{ call: 'bash', input: { command: 'echo hi' } }],
        [{ say: '{{last_result}}' }],
      ]);
      const worker = startWorker(test, id, 'any');
      await say(test.client, session, 'go');
      expect(await untilRest(test.client, session)).toContain('hi');
      await worker.stop();
      expect(await outcomeOf(test.client.post(`/v1/environments/${id}/keys`, { body: {} }))).toBe(
        '400 invalid_request_error',
      );
    },
    { isOpen: true },
  ));

it('[W15] results of sandbox tools are refused where the server runs them itself', () =>
  withServer(async (test) => {
    const { id } = await test.client.beta.environments.create({ name: 'cloud' });
    const session = await startSession(test, id, [[{ say: 'x' }]]);
    const result = { type: 'user.tool_result' as const, tool_use_id: 'sevt_1', content: [] };
    const sent = test.client.beta.sessions.events.send(session, { events: [result] });
    expect(await outcomeOf(sent)).toBe('400 invalid_request_error');
  }));

async function selfHosted({ client, url, key }: TestServer): Promise<{ environment: string; key: string }> {
  const { id } = await client.beta.environments.create({ name: 'ours', config: { type: 'self_hosted' } });
  const made = await fetch(`${url}/v1/environments/${id}/keys`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{}',
  });
  const { secret } = (await made.json()) as { secret: string };
  return { environment: id, key: secret };
}

async function startSession({ client }: TestServer, environment: string, turns: object[][]): Promise<string> {
  const agent = await client.beta.agents.create({
    name: 'worker',
    model: 'scripted/inline',
    system: toScript(turns),
    tools: [{ type: 'agent_toolset_20260401' }],
  });
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment })).id;
}

function startWorker({ client }: TestServer, environmentId: string, environmentKey: string) {
  const controller = new AbortController();
  const workdir = join(tmpdir(), `fleetloom-worker-${process.pid}-${folders.length}`);
  folders.push(workdir);
  const made = mkdir(workdir, { recursive: true });
  const worker = new EnvironmentWorker({
    client,
    environmentId,
    environmentKey,
    workdir,
    maxIdleMs: 200,
    signal: controller.signal,
    // Its `glob` needs Node 22.
    tools: (context) => betaAgentToolset20260401(context),
  });
  const running = made.then(() => worker.run());
  return {
    workdir,
    stop: async () => {
      controller.abort();
      await running.catch(() => {});
    },
  };
}

async function say(client: Anthropic, session: string, text: string): Promise<void> {
  await client.beta.sessions.events.send(session, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
}

/** The text of the agent once the session is idle. */
async function untilRest(client: Anthropic, session: string): Promise<string> {
  const texts: string[] = [];
  await until(async () => {
    texts.length = 0;
    let isOver = false;
    for await (const event of client.beta.sessions.events.list(session, { limit: 1_000 })) {
      if (event.type === 'agent.message')
        texts.push(...event.content.map((block) => ('text' in block ? block.text : '')));
      isOver = event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn';
    }
    return isOver;
  });
  return texts.join('\n');
}

async function statesOf({ client }: TestServer, environment: string): Promise<string[]> {
  const states: string[] = [];
  for await (const work of client.beta.environments.work.list(environment)) states.push(work.state);
  return states;
}

function tokenOf(secret: string): string {
  return (JSON.parse(Buffer.from(secret, 'base64url').toString()) as { sessions_token: string }).sessions_token;
}

async function toolUsesOf(client: Anthropic, session: string) {
  const events = await listOf(client.beta.sessions.events.list(session, { limit: 1_000 }));
  return events.filter((event) => event.type === 'agent.tool_use');
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come to that within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
