import { expect, it } from 'vitest';
import { type TestServer, toScript, withServer } from '../server.suite.ts';

it('[U127] after a restart of the server the output of the first command states that its shell is new', async () => {
  const command = (text: string) => ({ call: 'bash', input: { command: text } });
  const script = toScript([
    [command('cd /tmp; echo first')],
    [{ say: 'one' }],
    [command('pwd > /dev/null; echo second')],
    [{ say: 'two' }],
  ]);
  await withServer(
    async (test) => {
      const { client } = test;
      const tools = [{ type: 'agent_toolset_20260401' as const }];
      const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/inline', system: script, tools });
      const environment = await client.beta.environments.create({ name: 'here' });
      const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      expect(await resultOf(client, id)).toBe('first');
      const later = await test.restart();
      const text = await resultOf(later.client, id);
      expect(text).toMatch(/^\(The last shell is gone, .*\n\nsecond$/);
    },
    { allowUnsandboxedBash: true },
  );
});

/** Sends a message, and gives the last result of a tool when the session is idle again. */
async function resultOf(client: TestServer['client'], sessionId: string): Promise<string> {
  const { events } = client.beta.sessions;
  const count = async () => {
    const results: string[] = [];
    for await (const event of events.list(sessionId)) {
      if (event.type === 'agent.tool_result')
        results.push(event.content?.map((block) => ('text' in block ? block.text : '')).join('') ?? '');
    }
    return results;
  };
  const before = (await count()).length;
  await events.send(sessionId, { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }] });
  await expect.poll(async () => (await client.beta.sessions.retrieve(sessionId)).status).toBe('idle');
  await expect.poll(async () => (await count()).length).toBeGreaterThan(before);
  return (await count()).at(-1)!;
}
