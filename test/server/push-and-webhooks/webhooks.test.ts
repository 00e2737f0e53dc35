import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { toScript, withServer } from '../server.suite.ts';
import { startReceiver } from '../../../packages/server/src/webhooks/receiver.suite.ts';

const patience = { timeout: 20_000, interval: 5 };

it('[W60, W62, W73] a receiver hears with the official client what becomes of a session, and that something waits for it', async () => {
  let key = '';
  const receiver = await startReceiver(() => key);
  await withServer(
    async ({ client, server, directory, restart }) => {
      key = server.webhookKey!;
      expect(await readFile(join(directory, 'webhook-key'), 'utf8')).toBe(`${key}\n`);
      const session = await begin(client, (await createWriter(client, 'writer')).id);
      await vi.waitFor(() => expect(receiver.types().at(-1)).toBe('session.status_idled'), patience);
      expect(receiver.types()).toEqual([
        'session.created',
        'session.status_run_started',
        'session.requires_action',
        'session.status_idled',
      ]);
      expect(receiver.attempts[2]!.event.data).toEqual({
        type: 'session.requires_action',
        id: session.id,
        organization_id: 'org_default',
        workspace_id: 'wrkspc_default',
      });
      // As docs/webhooks.md has it.
      const asks = [];
      for await (const event of client.beta.sessions.events.list(session.id, { types: ['agent.tool_use'] }))
        if (event.type === 'agent.tool_use' && event.evaluated_permission === 'ask') asks.push(event.id);
      await client.beta.sessions.events.send(session.id, {
        events: asks.map((id) => ({ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' })),
      });
      await vi.waitFor(() => expect(receiver.types().slice(4)).toHaveLength(2), patience);
      receiver.answer = () => ({ status: 503 });
      await client.beta.sessions.archive(session.id);
      await receiver.came(7);
      const again = await restart();
      expect(again.server.webhookKey).toBeUndefined();
      receiver.answer = () => ({ status: 200 });
      await vi.waitFor(() => expect(receiver.types()).toContain('session.archived'), patience);
      await again.client.beta.sessions.delete(session.id);
      await vi.waitFor(() => expect(receiver.types().at(-1)).toBe('session.deleted'), patience);
      expect(receiver.types().slice(4)).toEqual([
        'session.status_run_started',
        'session.status_idled',
        'session.status_terminated',
        'session.archived',
        'session.deleted',
      ]);
    },
    { webhooks: { urls: [receiver.url] }, onProblem: (problem) => problems.push(String(problem)) },
  );
  expect(problems.length).toBeGreaterThan(0);
  // Neither what it is signed with nor the secret part of the address.
  for (const problem of problems) expect(problem).not.toMatch(/whsec_|token|hook\?/);
});

const problems: string[] = [];

it('[W62] an approval of a sub-agent is delivered while other threads of the session are running', async () => {
  let key = '';
  const receiver = await startReceiver(() => key);
  await withServer(
    async ({ client, server }) => {
      key = server.webhookKey!;
      const asker = await createWriter(client, 'asker');
      const sleeper = await client.beta.agents.create({
        name: 'sleeper',
        model: 'scripted/inline',
        system: toScript([[{ sleep_ms: 600_000 }, { say: 'done' }]]),
      });
      const tasks = ['asker', 'sleeper'].map((agent) => ({ agent, message: 'go' }));
      const lead = await client.beta.agents.create({
        name: 'lead',
        model: 'scripted/inline',
        system: toScript([[{ call: 'delegate', input: { tasks } }], [{ say: 'done' }]]),
        multiagent: { type: 'coordinator', agents: [asker.id, sleeper.id] },
      });
      const { id } = await begin(client, lead.id);
      await vi.waitFor(() => expect(receiver.types()).toContain('session.thread_idled'), patience);
      expect(receiver.types()).toEqual([
        'session.created',
        'session.status_run_started',
        'session.thread_created',
        'session.thread_created',
        'session.requires_action',
        'session.thread_idled',
      ]);
      expect((await client.beta.sessions.retrieve(id)).status).toBe('running');
      const threads = receiver.attempts.flatMap(({ event: { data } }) => {
        return 'session_thread_id' in data ? data.session_thread_id : [];
      });
      expect([threads[0] === threads[2] || threads[1] === threads[2], new Set(threads).size]).toEqual([true, 2]);
    },
    { webhooks: { urls: [receiver.url] } },
  );
});

/** An agent that asks before it writes a file. */
async function createWriter(client: Anthropic, name: string): Promise<{ readonly id: string }> {
  const turns = [[{ call: 'write', input: { file_path: 'a.txt', content: 'hello' } }], [{ say: 'done' }]];
  return await client.beta.agents.create({
    name,
    model: 'scripted/inline',
    system: toScript(turns),
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
  });
}

async function begin(client: Anthropic, agent: string): Promise<{ readonly id: string }> {
  const environment = await client.beta.environments.create({ name: 'here' });
  const session = await client.beta.sessions.create({ agent, environment_id: environment.id });
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
  });
  return session;
}
