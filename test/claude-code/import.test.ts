import { copyFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../packages/cli/test-support/fleet-server.ts';
import { begin, call } from '../../packages/cli/test-support/live-io.ts';
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

await describeWithClaudeCode('sessions of the real program', ({ path }) => {
  it('[J149] one that runs is followed to its end, and importing it afterwards finds nothing new', async () => {
    const home = await temporaryHome();
    const config = join(home, '.claude');
    const environment = { ANTHROPIC_BASE_URL: endpoint.origin, ANTHROPIC_API_KEY: 'any' };
    const run = await startClaudeCode({ path, home, environment, prompt: prompt() });
    const file = await sessionFile(join(config, 'projects'));
    const { fake, ended } = begin(['attach', file, '--config', config], { env: server.env });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    const sessionId = fake.stdout.text.trim();
    await run.ended;
    await expect.poll(() => messagesOf(sessionId), WAIT).toEqual(['One helper.', 'All done.']);
    const status = async () => (await server.get<{ status: string }>(`/v1/sessions/${sessionId}`)).status;
    await expect.poll(status, WAIT).toBe('idle');
    const threads = await server.get<{ data: { id: string; agent: { name: string } }[] }>(
      `/v1/sessions/${sessionId}/threads`,
    );
    const helper = threads.data.find(({ agent }) => agent.name === 'general-purpose');
    expect(await messagesOf(sessionId, `/threads/${helper?.id}`)).toEqual(['I help with this.', 'Helped.']);
    fake.send('SIGINT');
    expect([await ended, fake.stderr.text]).toEqual([0, '']);
    const again = await call(['import', '--all', '--config', config], { env: server.env });
    expect(again.stdout).toContain(`${sessionId}  nothing new`);
  }, 120_000);

  it('[Y134] the agents of a workflow are imported, with their names and texts', async () => {
    const home = await temporaryHome();
    const environment = { ANTHROPIC_BASE_URL: endpoint.origin, ANTHROPIC_API_KEY: 'any' };
    const run = await startClaudeCode({ path, home, environment, prompt: workflowPrompt() });
    await run.ended;
    const imported = await call(['import', '--all', '--config', join(home, '.claude')], { env: server.env });
    const sessionId = imported.stdout.split(' ')[0] ?? '';
    const { data } = await server.get<{ data: { id: string; agent: { name: string }; status: string }[] }>(
      `/v1/sessions/${sessionId}/threads`,
    );
    const texts: Record<string, string[]> = {};
    for (const { id, agent } of data) texts[agent.name] = await messagesOf(sessionId, `/threads/${id}`);
    expect(texts).toMatchObject({ alpha: ['Alpha looks.', 'Alpha report.'], beta: ['Beta report.'] });
    expect(new Set(data.map(({ status }) => status))).toEqual(new Set(['idle']));
  }, 120_000);

  it('[Y132] a session after /clear is followed too', async () => {
    const home = await temporaryHome();
    const config = join(home, '.claude');
    const environment = { ANTHROPIC_BASE_URL: endpoint.origin, ANTHROPIC_API_KEY: 'any' };
    const first = toScript({ turns: [[{ say: 'Before.' }]] });
    const run = await startClaudeCode({ path, home, environment, prompt: first, isKept: true });
    const { fake, ended } = begin(['attach', await sessionFile(join(config, 'projects')), '--config', config], {
      env: server.env,
    });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    await expect.poll(() => run.lines.filter(({ type }) => type === 'result').length, WAIT).toBe(1);
    run.say('/clear');
    await expect.poll(() => run.lines.filter(({ type }) => type === 'result').length, WAIT).toBe(2);
    run.say(toScript({ turns: [[{ say: 'After.' }]] }));
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\nsesn_\w+\n$/);
    const [before, after] = fake.stdout.text.trim().split('\n');
    await expect.poll(() => messagesOf(after ?? ''), WAIT).toEqual(['After.']);
    expect(await messagesOf(before ?? '')).toEqual(['Before.']);
    run.child.stdin?.end();
    await run.ended;
    fake.send('SIGINT');
    expect(await ended).toBe(0);
  }, 120_000);

  it('[J393] a fork of the session is followed too', async () => {
    const { home, config, environment, first, follow } = await beginFirst();
    const { fake, end } = await follow('attach', await sessionFile(join(config, 'projects')));
    await expect.poll(() => first.lines.some(({ type }) => type === 'result'), WAIT).toBe(true);
    const args = [
      '--resume',
      String(first.lines.find(({ session_id: id }) => id !== undefined)?.session_id),
      '--fork-session',
    ];
    const fork = await startClaudeCode({ path, home, environment, args, prompt: 'And now?' });
    await fork.ended;
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\nsesn_\w+\n$/);
    const [source, forked] = fake.stdout.text.trim().split('\n');
    await expect.poll(() => messagesOf(forked ?? ''), WAIT).toEqual(['First.', 'Second.']);
    expect(await messagesOf(source ?? '')).toEqual(['First.']);
    await end();
  }, 120_000);

  it('[J394] a call that waits for permission in its terminal is reported, and the session is followed on when it is allowed', async () => {
    const bash = { call: 'Bash', input: { command: 'touch allowed', description: 'Touches' } };
    const asked = toScript({ turns: [[bash], [{ say: 'Allowed.' }]] });
    const args = ['--permission-mode', 'default', '--permission-prompt-tool', 'stdio'];
    const { config, first, follow } = await beginFirst(asked, args);
    const { fake, end } = await follow('attach', await sessionFile(join(config, 'projects')));
    await expect.poll(() => fake.stderr.text, WAIT).toContain('waiting for permission in its terminal');
    expect(fake.stderr.text).toMatch(/^sesn_\w+: Bash has had no result for 10 s/);
    const request = first.lines.find(({ type }) => type === 'control_request');
    const allow = { behavior: 'allow', updatedInput: bash.input };
    const response = { subtype: 'success', request_id: request?.['request_id'], response: allow };
    first.child.stdin?.write(`${JSON.stringify({ type: 'control_response', response })}\n`);
    await expect.poll(() => messagesOf(fake.stdout.text.trim()), WAIT).toEqual(['Allowed.']);
    await end();
  }, 120_000);

  it('[J395] `attach --all` follows two programs with one process, the second of which begins later', async () => {
    const { config, environment, home, follow } = await beginFirst();
    await sessionFile(join(config, 'projects'));
    const { fake, end } = await follow('attach', '--all');
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    const prompt = toScript({ turns: [[{ say: 'Another.' }]] });
    const other = await startClaudeCode({ path, home, environment, prompt, isKept: true });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\nsesn_\w+\n$/);
    const [one, two] = fake.stdout.text.trim().split('\n');
    await expect.poll(() => messagesOf(one ?? ''), WAIT).toEqual(['First.']);
    await expect.poll(() => messagesOf(two ?? ''), WAIT).toEqual(['Another.']);
    other.child.stdin?.end();
    await end();
  }, 120_000);

  it('[J396] a session file that is replaced is followed as another session', async () => {
    const { config, first, follow } = await beginFirst();
    const file = await sessionFile(join(config, 'projects'));
    const { fake, end } = await follow('attach', file);
    await expect.poll(() => messagesOf(fake.stdout.text.trim()), WAIT).toEqual(['First.']);
    first.child.stdin?.end();
    await first.ended;
    // Whole lines of another session of the same program, under the same name.
    const other = await beginFirst(toScript({ turns: [[{ say: 'Replaced.' }]] }));
    await expect.poll(() => other.first.lines.some(({ type }) => type === 'result'), WAIT).toBe(true);
    // 2.1.197 writes the last lines of its file when it ends.
    other.first.child.stdin?.end();
    await other.first.ended;
    await copyFile(await sessionFile(join(other.config, 'projects')), `${file}.new`);
    await rename(`${file}.new`, file);
    await expect.poll(() => fake.stderr.text, WAIT).toContain('was replaced or truncated');
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\nsesn_\w+\n$/);
    await expect.poll(() => messagesOf(fake.stdout.text.trim().split('\n')[1] ?? ''), WAIT).toEqual(['Replaced.']);
    await end();
  }, 120_000);

  /** A program that stays after its first turn, and how to follow it. */
  async function beginFirst(
    prompt = toScript({ turns: [[{ say: 'First.' }], [{ say: 'Second.' }]] }),
    args: readonly string[] = [],
  ) {
    const home = await temporaryHome();
    const config = join(home, '.claude');
    const environment = { ANTHROPIC_BASE_URL: endpoint.origin, ANTHROPIC_API_KEY: 'any' };
    const first = await startClaudeCode({ path, home, environment, prompt, args, isKept: true });
    const follow = async (...command: string[]) => {
      const { fake, ended } = begin([...command, '--config', config], { env: server.env });
      const end = async () => {
        first.child.stdin?.end();
        await first.ended;
        fake.send('SIGINT');
        expect(await ended).toBe(0);
      };
      return { fake, end };
    };
    return { home, config, environment, first, follow };
  }
});

function workflowPrompt(): string {
  const bash = { call: 'Bash', input: { command: 'echo alpha', description: 'Does it' } };
  const alpha = toScript({ turns: [[{ say: 'Alpha looks.' }, bash], [{ say: 'Alpha report.' }]] });
  const beta = toScript({ turns: [[{ say: 'Beta report.' }]] });
  const script = `export const meta = { name: 'two-looks', description: 'Two agents look' };
return await parallel([
  () => agent(${JSON.stringify(`Look. ${alpha}`)}, { label: 'alpha' }),
  () => agent(${JSON.stringify(`Look. ${beta}`)}, { label: 'beta' }),
]);
`;
  const launch = { call: 'Workflow', input: { script } };
  // The program leaves after its first result, which must not come before the record of the whole workflow is written.
  const command = 'until ls "$CLAUDE_CONFIG_DIR"/projects/*/*/workflows/wf_*.json; do sleep 0.1; done';
  const wait = { call: 'Bash', input: { command, description: 'Waits' } };
  return toScript({ turns: [[launch], [wait], [{ say: 'Done.' }]] });
}

const WAIT = { timeout: 60_000, interval: 100 };

function prompt(): string {
  const command = { call: 'Bash', input: { command: 'echo helping', description: 'Helps' } };
  const helper = toScript({
    turns: [[{ say: 'I help with this.', chunks: 3, every_ms: 300 }, command], [{ say: 'Helped.' }]],
  });
  const input = { description: 'help', prompt: helper, subagent_type: 'general-purpose', run_in_background: false };
  return toScript({
    turns: [[{ say: 'One helper.' }, { call: 'Agent', input }], [{ say: 'All done.', chunks: 2, every_ms: 1000 }]],
  });
}

/** As soon as the program has written its first line. */
async function sessionFile(projects: string): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(async () => {
      const names = await readdir(projects, { recursive: true }).catch(() => []);
      found = names.find((name) => name.endsWith('.jsonl') && !name.includes('subagents'));
      return found;
    }, WAIT)
    .toBeDefined();
  return join(projects, found ?? '');
}

async function messagesOf(sessionId: string, thread = ''): Promise<string[]> {
  interface Event {
    readonly type: string;
    readonly content?: readonly { readonly text: string }[];
  }
  const { data } = await server.get<{ data: Event[] }>(`/v1/sessions/${sessionId}${thread}/events?limit=1000`);
  return data.flatMap(({ type, content }) => (type === 'agent.message' ? (content ?? []).map(({ text }) => text) : []));
}
