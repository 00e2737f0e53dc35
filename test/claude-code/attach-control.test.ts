import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../packages/cli/test-support/fleet-server.ts';
import { begin } from '../../packages/cli/test-support/live-io.ts';
import { createScriptedHandler, createScriptedModel } from '../../packages/server/src/engines/model/scripted/index.ts';
import { describeWithClaudeCode, temporaryHome } from '../support/claude-code.ts';
import { serve, type TestServer as Endpoint } from '../support/http-server.ts';
import { startClaudeCode, toScript } from '../support/run-claude-code.ts';

let server: TestServer;
let endpoint: Endpoint;
beforeAll(async () => {
  server = await startTestServer();
  endpoint = await serve(createScriptedHandler({ model: createScriptedModel() }));
});
afterAll(async () => {
  await server.close();
  await endpoint.close();
});

const WAIT = { timeout: 60_000, interval: 100 };

await describeWithClaudeCode('attach --control', ({ path }) => {
  it('[MX114] permission prompts of the real program are approvals: one is allowed and one denied with a reason that its model reads', async () => {
    const home = await temporaryHome();
    const config = join(home, '.claude');
    const { fake, ended } = begin(['attach', '--all', '--control', '--yes', '--config', config], { env: server.env });
    const settings = () => readFile(join(config, 'settings.json'), 'utf8').catch(() => '');
    await expect.poll(settings, WAIT).toContain('PermissionRequest');
    const bash = (command: string) => ({ call: 'Bash', input: { command, description: 'Touches' } });
    const prompt = toScript({
      turns: [
        [bash('touch allowed')],
        [bash('touch denied')],
        [{ expect: { contains: ['Not this one.'] } }, { say: 'One of two.' }],
      ],
    });
    const run = await startClaudeCode({
      path,
      home,
      environment: { ANTHROPIC_BASE_URL: endpoint.origin, ANTHROPIC_API_KEY: 'any' },
      prompt,
      args: ['--permission-mode', 'default', '--permission-prompt-tool', 'stdio'],
    });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    const session = fake.stdout.text.trim();
    await decide(session, 1, { result: 'allow' });
    await decide(session, 2, { result: 'deny', deny_message: 'Not this one.' });
    await run.ended;
    const texts = async () =>
      (await eventsOf(session)).flatMap(({ type, content }) =>
        type === 'agent.message' ? (content ?? []).map(({ text }) => text) : [],
      );
    await expect.poll(texts, WAIT).toEqual(['One of two.']);
    const results = (await eventsOf(session)).filter(({ type }) => type === 'agent.tool_result');
    expect(results.map(({ is_error: isError }) => isError)).toEqual([false, true]);
    fake.send('SIGINT');
    expect(await ended).toBe(0);
    expect(await settings()).not.toContain('PermissionRequest');
  }, 180_000);
});

interface Event {
  readonly id: string;
  readonly type: string;
  readonly is_error?: boolean;
  readonly content?: readonly { readonly text: string }[];
}

async function eventsOf(session: string): Promise<readonly Event[]> {
  return (await server.get<{ data: Event[] }>(`/v1/sessions/${session}/events?limit=1000`)).data;
}

/** Decides the call with this number, once it is asked for. */
async function decide(session: string, number: number, decision: object): Promise<void> {
  const last = async () => {
    const headers = { authorization: `Bearer ${server.key}` };
    const text = await (await fetch(`${server.url}/v1/sessions/${session}/export`, { headers })).text();
    const frames = text.trim().split('\n');
    const asked = frames.flatMap((line) => {
      const { type, payload } = JSON.parse(line) as { type: string; payload: { tool_use_id: string } };
      return type === 'approval.requested' ? [payload.tool_use_id] : [];
    });
    return asked[number - 1];
  };
  await expect.poll(last, WAIT).toBeDefined();
  const event = { type: 'user.tool_confirmation', tool_use_id: await last(), ...decision };
  await server.post(`/v1/sessions/${session}/events`, { events: [event] });
}
