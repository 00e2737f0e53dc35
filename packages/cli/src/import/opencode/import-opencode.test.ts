import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import { startTestServer, type TestServer } from '../../../test-support/fleet-server.ts';
import { begin, call } from '../../../test-support/live-io.ts';
import { toLines } from './conversation-lines.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const recorded = { main: 'ses_e0fc27caaffeYcZaM72lboYEr0', child: 'ses_e0fc2503effecIuejvZF6kb0ET' };

it('[OC100] an exported session with a sub-agent becomes one of ours: threads, texts, thoughts, calls, results, turns and tokens', async () => {
  const { folder, ids } = await copy();
  const [done] = await importFiles(join(folder, `${ids.main}.json`));
  expect(done).toMatchObject({ conversation: ids.main, unreadable_lines: 0 });
  const session = await server.get<Session>(`/v1/sessions/${done?.session_id}`);
  expect(session).toMatchObject({
    status: 'idle',
    agent: { name: 'opencode' },
    metadata: { imported_from: 'opencode', conversation: ids.main, directory: '/repo', version: '1.18.33' },
    created_at: '2026-11-18T19:58:45.922Z',
  });
  const events = await eventsOf(session.id);
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of('user.message').map(textOf)).toEqual([expect.stringMatching(/^Go on\. /), 'And now?\n']);
  expect(of('agent.message').map(textOf)).toEqual(['First.', 'Done.', 'Again.']);
  expect(of('agent.thinking')).toHaveLength(1);
  expect(of('agent.tool_use')).toMatchObject([
    { name: 'bash', input: { command: 'echo from the shell' } },
    { name: 'bash', input: { command: 'exit 3' } },
    { name: 'task', input: { subagent_type: 'general' } },
  ]);
  expect(of('agent.tool_result').map((event) => [textOf(event), event.is_error])).toEqual([
    ['from the shell\n', false],
    ['(no output)', true],
    [expect.stringContaining('Found.'), false],
  ]);
  expect(of('session.status_idle')).toHaveLength(2);
  expect(of('session.error')).toEqual([]);

  const threads = (await server.get<{ data: SessionThread[] }>(`/v1/sessions/${session.id}/threads`)).data;
  expect(threads.map(({ agent }) => (agent !== null && 'name' in agent ? agent.name : ''))).toEqual([
    'opencode',
    'general',
  ]);
  const child = await eventsOf(`${session.id}/threads/${threads[1]?.id}`);
  expect(child.filter(({ type }) => type === 'agent.message').map(textOf)).toEqual(['I look.', 'Found.']);
  const counted = await Promise.all(Object.values(ids).map((id) => tokensOf(join(folder, `${id}.json`))));
  const sum = (key: 'input' | 'output') => counted.reduce((total, each) => total + each[key], 0);
  expect([session.usage?.input_tokens, session.usage?.output_tokens]).toEqual([sum('input'), sum('output')]);
}, 60_000);

it('[OC101] importing again adds only what is new, and the lines of a growing session are the first ones of the whole', async () => {
  const { folder, ids } = await copy();
  const file = join(folder, `${ids.main}.json`);
  const whole = JSON.parse(await readFile(file, 'utf8')) as Exported;
  const lines = toLines(whole);
  const states = statesOf(whole).map((state) => toLines(state));
  for (const state of states) expect(state).toEqual(lines.slice(0, state.length));
  expect(states.at(-1)).toHaveLength(lines.length);
  const lengths = states.map((state) => state.length);
  expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));

  const sessions = new Set<string>();
  for (let count = 1; count <= whole.messages.length; count++) {
    await writeFile(file, JSON.stringify({ ...whole, messages: whole.messages.slice(0, count) }));
    const [done] = await importFiles(file);
    sessions.add(done?.session_id ?? '');
  }
  const [session = ''] = sessions;
  expect(sessions.size).toBe(1);
  const events = await eventsOf(session);
  const count = (wanted: string) => events.filter(({ type }) => type === wanted).length;
  const types = ['user.message', 'agent.message', 'agent.thinking', 'agent.tool_use', 'agent.tool_result'];
  expect(types.map(count)).toEqual([2, 3, 1, 3, 3]);
  const [again] = await importFiles(file);
  expect(again).toMatchObject({ session_id: session, taken: 0 });
  expect(await eventsOf(session)).toEqual(events);
}, 120_000);

it('[OC102] failures, aborts, refusals and compactions end as such, and any other content is imported or left out', async () => {
  const { folder, ids } = await copy();
  const file = join(folder, `${ids.main}.json`);
  const at = (created: number) => ({ created, completed: created + 1 });
  const say = (text: string, created: number) => ({
    info: { role: 'user', time: { created } },
    parts: [
      { type: 'text', text },
      { type: 'text', synthetic: true, text: 'hidden' },
    ],
  });
  const answer = (more: object, created: number, parts: unknown = []) => ({
    info: { role: 'assistant', modelID: 'x', time: at(created), ...more },
    parts,
  });
  const error = (name: string) => ({ error: { name, data: { message: `${name}!` } } });
  const tool = { type: 'tool', tool: 'bash', callID: 'same', id: 'p', state: { status: 'running', input: {} } };
  const messages = [
    say('One.', 1),
    answer(error('APIError'), 2),
    say('Two.', 3),
    answer(error('MessageAbortedError'), 4, [tool]),
    say('Three.', 5),
    answer(error('ContentFilterError'), 6),
    say('Four.', 7),
    answer({ summary: true, finish: 'stop' }, 8, [{ type: 'text', text: 'A summary.', time: { end: 8 } }]),
    say('Five.', 9),
    answer({ finish: 'stop' }, 10, [
      { ...tool, state: { status: 'completed', input: 3, output: 4 } },
      null,
      { type: 'text' },
      { type: 'tool', state: null },
    ]),
    { info: null, parts: 3 },
    3,
  ];
  await writeFile(file, JSON.stringify({ info: { id: ids.main, directory: 3 }, messages }));
  const [done] = await importFiles(file);
  const events = await eventsOf(done?.session_id ?? '');
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of('user.message').map(textOf)).toEqual(['One.', 'Two.', 'Three.', 'Four.', 'Five.']);
  expect(JSON.stringify(of('session.error'))).toContain('APIError!');
  expect(of('session.error')).toHaveLength(1);
  expect(of('agent.thread_context_compacted')).toHaveLength(1);
  expect(JSON.stringify(events)).not.toMatch(/A summary|hidden/);
  expect(of('agent.tool_use')).toHaveLength(2);
  expect((await server.get<Session>(`/v1/sessions/${done?.session_id}`)).status).toBe('idle');
}, 60_000);

it('[OC103] sessions are found by id, by directory and all of them through the program, and what is missing is reported with what to do', async () => {
  const { folder, ids } = await copy();
  const program = join(folder, 'opencode');
  const listed = [
    { id: ids.main, directory: folder, updated: 1 },
    { id: 'ses_other', directory: '/else', updated: 2 },
  ];
  // As opencode does it: JSON on stdout, notes on stderr.
  await writeFile(
    program,
    `#!/bin/sh\necho note >&2\nif [ "$1" = session ]; then echo '${JSON.stringify(listed)}'; else cat "${folder}/$2.json"; fi\n`,
  );
  await chmod(program, 0o755);
  const from = (...args: string[]) =>
    call(['import', '--from', 'opencode', '--opencode', program, '--json', ...args], { env: server.env });
  const found = async (...args: string[]) => (JSON.parse((await from(...args)).stdout) as Done).conversation;
  expect(await found(ids.main)).toBe(ids.main);
  expect(await found(ids.child)).toBe(ids.main);
  expect(await found(folder)).toBe(ids.main);
  const failed = async (...args: string[]) => {
    const { code, stderr } = await from(...args);
    return [code, stderr];
  };
  expect(await failed('ses_missing')).toEqual([2, expect.stringContaining('has no session "ses_missing"')]);
  expect(await failed('nowhere')).toEqual([2, expect.stringContaining('neither an exported session')]);
  expect(await failed(join(folder, 'missing.json'))).toEqual([2, expect.stringContaining('is not a session that')]);
  await rm(program);
  expect(await failed(ids.main)).toEqual([2, expect.stringContaining('opencode cannot be run')]);
}, 60_000);

it('[OC104] a session that opencode works on is followed: what an export adds appears within seconds', async () => {
  const { folder, ids } = await copy();
  const file = join(folder, `${ids.main}.json`);
  const whole = JSON.parse(await readFile(file, 'utf8')) as Exported;
  const program = join(folder, 'program');
  await writeFile(program, `#!/bin/sh\ncat "${folder}/$2.json"\n`);
  await chmod(program, 0o755);
  const database = join(folder, 'opencode', 'opencode.db');
  await cp(file, database, { recursive: true });
  await writeFile(file, JSON.stringify({ ...whole, messages: whole.messages.slice(0, 2) }));
  const args = ['attach', ids.main, '--from', 'opencode', '--opencode', program, '--config', folder];
  const { fake, ended } = begin(args, { env: server.env });
  await expect.poll(() => fake.stdout.text, { timeout: 20_000 }).toMatch(/^sesn_\w+\n$/);
  const session = fake.stdout.text.trim();
  const texts = async () => (await eventsOf(session)).filter(({ type }) => type === 'agent.message').map(textOf);
  await expect.poll(texts, { timeout: 20_000 }).toEqual(['First.']);
  await writeFile(file, JSON.stringify(whole));
  await writeFile(database, 'changed');
  await expect.poll(texts, { timeout: 30_000 }).toEqual(['First.', 'Done.', 'Again.']);
  fake.send('SIGINT');
  expect(await ended).toBe(0);
}, 90_000);

interface Exported {
  readonly info: object;
  readonly messages: readonly { readonly info: object; readonly parts: readonly object[] }[];
}

/** The session as it was exported while it grew: after each message, and in the middle of each. */
function statesOf(whole: Exported): Exported[] {
  return whole.messages.flatMap((message, at) => {
    const before = whole.messages.slice(0, at);
    const { time, finish: _, ...info } = message.info as { time: { created: number }; finish?: string };
    const growing = { ...info, time: { created: time.created } };
    const half = { info: growing, parts: message.parts.slice(0, 3).map(toRunning) };
    return [half, message].map((last) => ({ ...whole, messages: [...before, last] }));
  });
}

function toRunning(part: object): object {
  if (!('type' in part) || part.type !== 'tool') return part;
  const { input, time } = (part as unknown as { state: { input: object; time: { start: number } } }).state;
  // The call of a sub-agent does not have its conversation at first.
  return { ...part, state: { status: 'running', input, time: { start: time.start }, metadata: {} } };
}

interface Done {
  readonly session_id: string;
  readonly conversation: string;
  readonly taken: number;
}

interface SessionEvent {
  readonly type: string;
  readonly is_error?: boolean;
  readonly content?: readonly { readonly text?: string }[];
}

/** A copy of the recorded session, with ids that no other test has imported. */
async function copy(): Promise<{ folder: string; ids: typeof recorded }> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-import-opencode-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const prefix = `ses_${randomBytes(4).toString('hex')}`;
  const fresh = (text: string) =>
    text.replaceAll('ses_e0fc27ca', `${prefix}a`).replaceAll('ses_e0fc2503', `${prefix}b`);
  for (const id of Object.values(recorded)) {
    const source = join(repositoryRoot, 'fixtures', 'opencode', 'sessions', `${id}.json`);
    await writeFile(join(folder, `${fresh(id)}.json`), fresh(await readFile(source, 'utf8')));
  }
  return { folder, ids: { main: fresh(recorded.main), child: fresh(recorded.child) } };
}

async function importFiles(...files: string[]): Promise<Done[]> {
  const result = await call(['import', '--from', 'opencode', '--json', ...files], { env: server.env });
  expect([result.code, result.stderr]).toEqual([0, '']);
  const lines = result.stdout.trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Done);
}

async function eventsOf(path: string): Promise<readonly SessionEvent[]> {
  return (await server.get<{ data: SessionEvent[] }>(`/v1/sessions/${path}/events?limit=1000`)).data;
}

function textOf({ content }: SessionEvent): string {
  return (content ?? []).map(({ text }) => text ?? '').join('');
}

async function tokensOf(file: string): Promise<{ input: number; output: number }> {
  const { messages } = JSON.parse(await readFile(file, 'utf8')) as Exported;
  const all = messages.flatMap(({ info }) =>
    'tokens' in info ? [info.tokens as { input: number; output: number }] : [],
  );
  return {
    input: all.reduce((sum, { input }) => sum + input, 0),
    output: all.reduce((sum, { output }) => sum + output, 0),
  };
}
