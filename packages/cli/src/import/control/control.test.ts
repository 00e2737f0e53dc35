import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestServer, type TestServer } from '../../../test-support/fleet-server.ts';
import { begin, call } from '../../../test-support/live-io.ts';
import { limits } from '../../base/limits.ts';
import type { TerminalPrompt } from './hook-server.ts';
import { SessionControl } from './session-control.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const WAIT = { timeout: 30_000, interval: 50 };

it('[MX110, MX111] prompts of a followed session are approvals, whose decisions the program receives through the hook; the settings are as before afterwards', async () => {
  const { config, settings, transcript, id } = await temporarySession();
  const before = '{"model":"opus","hooks":{"Stop":[]}}';
  await writeFile(settings, before);
  const { fake, ended } = begin(['attach', '--control', '--yes', transcript, '--config', config], { env: server.env });
  await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
  const session = fake.stdout.text.trim();
  const command = await hookOf(settings);
  expect(JSON.parse(await readFile(settings, 'utf8'))).toMatchObject({ model: 'opus', hooks: { Stop: [] } });
  expect(fake.stderr.text).toContain(JSON.stringify(command));

  const touch = { command: 'touch a' };
  await append(transcript, called('c1', touch), called('c2', touch), called('c3', { command: 'ls' }));
  const [allowed, denied] = [runHook(command, prompt(id, touch)), runHook(command, prompt(id, touch))];
  await expect.poll(() => asked(session), WAIT).toHaveLength(2);
  const [one, two] = await asked(session);
  await decide(session, one!, { result: 'allow', updated_input: { command: 'touch b' } });
  await decide(session, two!, { result: 'deny', deny_message: 'Not now.' });
  // Two equal prompts: which of them is which does not matter.
  const answers = [await allowed.output, await denied.output].toSorted().map((text) => JSON.parse(text) as unknown);
  const toOutput = (decision: object) => ({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
  expect(answers).toEqual([
    toOutput({ behavior: 'allow', updatedInput: { command: 'touch b' } }),
    toOutput({ behavior: 'deny', message: 'Not now.' }),
  ]);
  await expect.poll(() => countOf(session, 'answer.delivered'), WAIT).toBe(2);

  // The terminal of a third prompt decides: its hook is ended, and the result closes the approval.
  const third = runHook(command, prompt(id, { command: 'ls' }));
  await expect.poll(() => asked(session), WAIT).toHaveLength(3);
  third.child.kill('SIGKILL');
  await append(transcript, result('c1'), result('c2'), result('c3'));
  await expect.poll(() => countOf(session, 'agent.tool_result'), WAIT).toBe(3);

  // Another session of this user, and what is not a prompt, are left to the terminal.
  expect(await runHook(command, 'nonsense').output).toBe('');
  const last = runHook(command, prompt(randomUUID(), touch));
  fake.send('SIGINT');
  expect(await ended).toBe(0);
  expect(await last.output).toBe('');
  expect(await readFile(settings, 'utf8')).toBe(before);
  // A hook that is left over ends without a decision.
  expect(await runHook(command, prompt(id, touch)).output).toBe('');
}, 120_000);

it('[MX112] settings that were changed in the meantime keep their changes, and entries of processes that were killed are removed', async () => {
  const { config, settings, transcript } = await temporarySession();
  const left = `'node' '-e' 'x' '${tmpdir()}/fleetloom-attach-999999999-abc/s'`;
  const own = { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] };
  await writeFile(
    settings,
    JSON.stringify({ hooks: { PermissionRequest: [own, { hooks: [{ type: 'command', command: left }] }] } }),
  );
  const { fake, ended } = begin(['attach', '--control', '--yes', transcript, '--config', config], { env: server.env });
  await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_/);
  const added = JSON.parse(await readFile(settings, 'utf8')) as { hooks: { PermissionRequest: object[] } };
  expect(added.hooks.PermissionRequest).toHaveLength(2);
  expect(fake.stderr.text).toContain('1 such entries of processes that were killed are removed');
  await writeFile(settings, JSON.stringify({ ...added, model: 'opus' }));
  fake.send('SIGTERM');
  expect(await ended).toBe(143);
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ hooks: { PermissionRequest: [own] }, model: 'opus' });
});

it('[MX112] nothing is added without consent, where hooks are turned off, or to settings that are not readable; a file that was made is removed', async () => {
  const { config, settings, transcript } = await temporarySession();
  const args = ['attach', '--control', transcript, '--config', config];
  const unasked = await call(args, { env: server.env });
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('Pass --yes')]);
  expect(await readFile(settings, 'utf8').catch(() => 'none')).toBe('none');
  for (const [text, reason] of [
    ['{"disableAllHooks":true}', 'Hooks are turned off'],
    ['[', 'is not a JSON object'],
  ]) {
    await writeFile(settings, text!);
    const refused = await call([...args, '--yes'], { env: server.env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason!)]);
    expect(await readFile(settings, 'utf8')).toBe(text);
  }
  await rm(settings);
  const { fake, ended } = begin([...args, '--yes'], { env: server.env });
  await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_/);
  expect(await hookOf(settings)).toContain('fleetloom-attach-');
  fake.send('SIGINT');
  await ended;
  expect(await readFile(settings, 'utf8').catch(() => 'none')).toBe('none');
  const other = await call(['attach', '--control', '--from', 'codex'], { env: server.env });
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('works with Claude Code only')]);
});

it('[MX113] a prompt whose call is not in the transcript for 10 s is left to its terminal, and at most 100 calls are asked for at a time', () => {
  const answers: unknown[] = [];
  const input = { command: 'ls' };
  const toPrompt = (): TerminalPrompt => ({
    session: 's',
    tool: 'Bash',
    input,
    since: 0,
    isGone: false,
    answer: (decision) => answers.push(decision),
  });
  const late = new SessionControl({ prompts: [toPrompt()] }, 's');
  late.update([], limits.attachPromptMs - 1);
  expect(answers).toEqual([]);
  late.update([], limits.attachPromptMs);
  expect([answers, limits.attachPromptMs]).toEqual([[null], 10_000]);

  const prompts = Array.from({ length: limits.attachAsksMax + 1 }, toPrompt);
  const many = new SessionControl({ prompts }, 's');
  many.update(
    prompts.map((_, at) => ({ key: 'main', id: `c${at}`, name: 'Bash', input })),
    0,
  );
  expect([many.report.asks.length, limits.attachAsksMax]).toEqual([100, 100]);
});

async function temporarySession() {
  const config = await mkdtemp(join(tmpdir(), 'fleetloom-control-'));
  onTestFinished(() => rm(config, { recursive: true, force: true }));
  const id = randomUUID();
  const transcript = join(config, 'projects', '-work', `${id}.jsonl`);
  await mkdir(join(config, 'projects', '-work'), { recursive: true });
  const said = { type: 'user', timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', content: 'Go.' } };
  await writeFile(transcript, `${JSON.stringify(said)}\n`);
  return { config, settings: join(config, 'settings.json'), transcript, id };
}

async function append(transcript: string, ...lines: readonly object[]): Promise<void> {
  await appendFile(transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** The command of the newest entry. */
async function hookOf(settings: string): Promise<string> {
  const { hooks } = JSON.parse(await readFile(settings, 'utf8')) as {
    hooks: { PermissionRequest: { hooks: { command: string }[] }[] };
  };
  return hooks.PermissionRequest.at(-1)!.hooks[0]!.command;
}

/** Runs the hook as the program does. */
function runHook(command: string, input: string) {
  const child = spawn('exec ' + command, { shell: '/bin/sh', stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: new Promise<string>((resolve) => child.on('close', () => resolve(text))) };
}

function prompt(session: string, input: object): string {
  const hook = { session_id: session, hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: input };
  return JSON.stringify(hook);
}

interface Frame {
  readonly type: string;
  readonly payload: { readonly tool_use_id?: string };
}

async function framesOf(session: string): Promise<readonly Frame[]> {
  const headers = { authorization: `Bearer ${server.key}` };
  const answer = await fetch(`${server.url}/v1/sessions/${session}/export`, { headers });
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame);
}

async function asked(session: string): Promise<string[]> {
  return (await framesOf(session)).flatMap(({ type, payload }) =>
    type === 'approval.requested' ? [payload.tool_use_id ?? ''] : [],
  );
}

async function countOf(session: string, wanted: string): Promise<number> {
  return (await framesOf(session)).filter(({ type }) => type === wanted).length;
}

async function decide(session: string, use: string, decision: object): Promise<void> {
  const event = { type: 'user.tool_confirmation', tool_use_id: use, ...decision };
  await server.post(`/v1/sessions/${session}/events`, { events: [event] });
}

let lines = 0;

function called(id: string, input: object) {
  const content = [{ type: 'tool_use', id, name: 'Bash', input }];
  const message = { id: `m${id}`, model: 'x', content, stop_reason: 'tool_use', usage: {} };
  return { type: 'assistant', timestamp: new Date(Date.UTC(2026, 0, 1) + ++lines * 1000).toISOString(), message };
}

function result(id: string) {
  const content = [{ type: 'tool_result', tool_use_id: id, content: 'Done.' }];
  const message = { role: 'user', content };
  return { type: 'user', timestamp: new Date(Date.UTC(2026, 0, 1) + ++lines * 1000).toISOString(), message };
}
