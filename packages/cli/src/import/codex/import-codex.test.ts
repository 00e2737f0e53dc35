import { randomUUID } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import { startTestServer, type TestServer } from '../../../test-support/fleet-server.ts';
import { begin, call } from '../../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** The recorded threads: one with a sub-agent, one that was compacted, one with a sub-agent of the second generation. */
const recorded = {
  first: '01a1eee0-4df1-7332-a8b0-a456258dbb0f',
  child: '01a1eee0-4eea-70b0-90d5-dafadbf9c8a4',
  compacted: '01a1eee0-63cb-7a50-a849-4c699311aead',
  second: '01a1eee0-665c-72b2-b2a0-74d7733e6cb1',
};

describe('fleetloom import --from codex', () => {
  it('[Y155] a session with a sub-agent becomes one of ours: threads, texts, thoughts, calls, results and turns', async () => {
    const { home, ids } = await copy();
    const [done] = await importFrom(home, ids.first);
    expect(done).toMatchObject({ conversation: ids.first, unreadable_lines: 0 });
    const session = await server.get<Session>(`/v1/sessions/${done?.session_id}`);
    expect(session).toMatchObject({
      status: 'idle',
      agent: { name: 'codex' },
      metadata: { imported_from: 'codex', conversation: ids.first, directory: '/repo', version: '0.166.0' },
    });
    expect(session.title).toMatch(/^Look around\./);
    expect(session.created_at.slice(0, 16)).toBe('2026-11-18T13:37');
    const threads = await threadsOf(session.id);
    expect(threads.map(nameOf)).toEqual(['codex', expect.stringMatching(/^[A-Z][a-z]+$/)]);
    expect(threads[1]?.parent_thread_id).toBe(threads[0]?.id);

    const events = await eventsOf(session.id);
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of('user.message').map(textOf)).toEqual([
      expect.stringMatching(/^Look around\. /),
      'Patch it.',
      'Please fail.',
      'Please wait.',
    ]);
    expect(of('agent.message').map(textOf)).toEqual([
      'I look around.',
      'The child has reported.',
      'Patched.',
      'So far so good.',
      'I wait.',
    ]);
    expect(of('agent.thinking')).toHaveLength(1);
    expect(of('agent.tool_use')).toMatchObject([
      { name: 'exec_command', input: { cmd: 'echo first look' } },
      { name: 'multi_agent_v1.spawn_agent' },
      { name: 'multi_agent_v1.wait_agent' },
      { name: 'apply_patch', input: { input: expect.stringContaining('*** Add File: note.txt') } },
      { name: 'exec_command', input: { cmd: expect.stringContaining('sleep 30') } },
    ]);
    const results = of('agent.tool_result').map(textOf);
    expect(results).toHaveLength(5);
    expect(results[0]).toContain('first look');
    expect(results[4]).toContain('aborted by user');
    const child = await eventsOf(`${session.id}/threads/${threads[1]?.id}`);
    expect(child.filter(({ type }) => type === 'agent.message').map(textOf)).toEqual([
      'I look.',
      'Yes, the child was here.',
    ]);
  });

  it('[Y155] the tokens are those that Codex has counted for each request, of all threads', async () => {
    const { home, ids } = await copy();
    const [done] = await importFrom(home, ids.first);
    const { usage } = await server.get<Session>(`/v1/sessions/${done?.session_id}`);
    const counted = { input: 0, output: 0 };
    for (const id of [ids.first, ids.child]) {
      for (const line of (await readFile(await pathOf(home, id), 'utf8')).trimEnd().split('\n')) {
        const { type, payload } = JSON.parse(line) as Line;
        if (type !== 'token_usage_record') continue;
        counted.input += payload.usage.input_tokens;
        counted.output += payload.usage.output_tokens;
      }
    }
    expect(counted.input).toBeGreaterThan(0);
    expect([usage?.input_tokens, usage?.output_tokens]).toEqual([counted.input, counted.output]);
  });

  it('[Y155] agents of the second generation are threads, and a compaction is not a message', async () => {
    const { home, ids } = await copy();
    const [second] = await importFrom(home, ids.second);
    const threads = await threadsOf(second?.session_id ?? '');
    expect(threads.map(nameOf)).toEqual(['codex', 'child']);
    expect((await eventsOf(`${second?.session_id}/threads/${threads[1]?.id}`)).map(textOf)).toContain('I was here.');
    const main = await eventsOf(second?.session_id ?? '');
    expect(main.filter(({ type }) => type === 'agent.message').map(textOf)).toEqual(['All done.']);
    expect(main.filter(({ type }) => type === 'user.message')).toHaveLength(1);

    const [compacted] = await importFrom(home, ids.compacted);
    const events = await eventsOf(compacted?.session_id ?? '');
    expect(events.filter(({ type }) => type === 'agent.message').map(textOf)).toEqual(['I continue.']);
    expect(events.map(({ type }) => type)).toContain('agent.thread_context_compacted');
  });

  it('[Y156] a failed turn and an interrupted one end as such', async () => {
    const { home, ids } = await copy();
    const [done] = await importFrom(home, ids.first);
    const events = await eventsOf(done?.session_id ?? '');
    const errors = events.filter(({ type }) => type === 'session.error');
    expect(JSON.stringify(errors)).toContain("ran out of room in the model's context window");
    expect(errors).toHaveLength(1);
    const ends = events.filter(({ type }) => type === 'session.status_idle');
    expect(ends).toHaveLength(4);
  });

  it('[Y156] a second import changes nothing, and a file cut in the middle of a turn continues when more lines appear', async () => {
    const { home, ids } = await copy();
    const main = await pathOf(home, ids.first);
    const whole = await readFile(main, 'utf8');
    const lines = whole.trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('"name":"apply_patch"'));
    await writeFile(main, `${lines.slice(0, cut + 1).join('\n')}\n{"timest`);
    const [first] = await importFrom(home, ids.first);
    const id = first?.session_id ?? '';
    expect(JSON.stringify(await eventsOf(id))).toContain('ends in the middle of a turn');
    expect((await importFrom(home, ids.first))[0]).toMatchObject({ session_id: id, taken: 0 });

    await writeFile(main, whole);
    expect((await importFrom(home, ids.first))[0]?.session_id).toBe(id);
    const texts = (await eventsOf(id)).filter(({ type }) => type === 'agent.message').map(textOf);
    expect(texts).toEqual(['I look around.', 'The child has reported.', 'Patched.', 'So far so good.', 'I wait.']);
    const before = await eventsOf(id);
    expect((await importFrom(home, ids.first))[0]).toMatchObject({ session_id: id, taken: 0 });
    expect(await eventsOf(id)).toEqual(before);
  });

  it('[Y156] unreadable lines are counted, and any other content is imported or left out', async () => {
    const { home, ids } = await copy();
    const hostile = [
      'not JSON',
      '3',
      '{"type":"response_item"}',
      '{"type":"response_item","payload":{"type":"function_call","call_id":"x","name":"y","arguments":"{"}}',
      '{"type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":{"a":1}}}',
      '{"type":"response_item","payload":{"type":"reasoning","summary":[null,{"text":3}]}}',
      '{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":"x"}}}',
      '{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CollabAgentToolCall","tool":"spawn_agent","receiver_thread_ids":3}}}',
      '{"type":"token_usage_record","payload":{"usage":{"input_tokens":-1,"output_tokens":"x"}}}',
      '{"type":"turn_context","payload":[]}',
      '{"type":"event_msg","payload":{"type":"task_complete","error":3}}',
    ];
    await appendFile(await pathOf(home, ids.second), `${hostile.join('\n')}\n`);
    const [done] = await importFrom(home, ids.second);
    expect(done).toMatchObject({ conversation: ids.second, unreadable_lines: 2 });
    expect((await server.get<Session>(`/v1/sessions/${done?.session_id}`)).status).toBe('idle');
  });

  it('[Y157] sessions are found by id, file, working directory or all of them, and a sub-agent leads to its session', async () => {
    const { home, ids } = await copy();
    const folder = await realpath(await temporaryFolder());
    const path = await pathOf(home, ids.second);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"/repo"', JSON.stringify(folder)));
    const conversations = async (...args: string[]) =>
      (await importFrom(home, ...args)).map((done) => done.conversation);
    expect(await conversations('--all')).toHaveLength(3);
    expect(await conversations(ids.child)).toEqual([ids.first]);
    expect(await conversations(path)).toEqual([ids.second]);
    expect(await conversations(folder)).toEqual([ids.second]);
    // A file that was moved is found with those beside it.
    const elsewhere = await temporaryFolder();
    for (const id of [ids.first, ids.child]) {
      const from = await pathOf(home, id);
      await cp(from, join(elsewhere, basename(from)));
    }
    await rm(join(home, 'sessions'), { recursive: true });
    const moved = join(elsewhere, basename(await pathOf(elsewhere, ids.first)));
    const [done] = await importFrom(home, moved);
    expect(await threadsOf(done?.session_id ?? '')).toHaveLength(2);
  });

  it('[Y157] CODEX_HOME is the default, and missing sessions are reported with what to do', async () => {
    const { home, ids } = await copy();
    const args = ['import', '--from', 'codex', ids.second, '--json'];
    const found = await call(args, { env: { ...server.env, CODEX_HOME: home } });
    expect([found.code, JSON.parse(found.stdout)]).toMatchObject([0, { conversation: ids.second }]);
    const empty = await temporaryFolder();
    const missing = async (...named: string[]) =>
      await call(['import', '--from', 'codex', '--config', empty, ...named], { env: server.env });
    const unknown = '01a1eee0-0000-7332-a8b0-a456258dbb0f';
    expect(await missing('--all')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no sessions of Codex in'),
    });
    expect(await missing(unknown)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`no session "${unknown}"`),
    });
    expect(await missing(empty)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Codex has no sessions of'),
    });
    expect(await missing('a.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a session file'),
    });
    expect(await missing('nowhere')).toMatchObject({ code: 2, stderr: expect.stringContaining('or --all') });
  });

  it('[CX100] a session is followed while Codex writes it, with a sub-agent whose file appears later', async () => {
    const { home, ids } = await copy();
    const [main, child] = await Promise.all([pathOf(home, ids.first), pathOf(home, ids.child)]);
    const [whole, later] = await Promise.all([readFile(main, 'utf8'), readFile(child, 'utf8')]);
    await rm(child);
    const lines = whole.trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('"name":"wait_agent"'));
    await writeFile(main, `${lines.slice(0, cut).join('\n')}\n`);
    const { fake, ended } = begin(['attach', ids.first, '--from', 'codex', '--config', home], { env: server.env });
    await expect.poll(() => fake.stdout.text, { timeout: 20_000 }).toMatch(/^sesn_\w+\n$/);
    const session = fake.stdout.text.trim();
    await writeFile(child, later);
    const threads = async () => (await threadsOf(session)).map(nameOf);
    await expect.poll(threads, { timeout: 20_000 }).toHaveLength(2);
    await appendFile(main, `${lines.slice(cut).join('\n')}\n`);
    const texts = async () =>
      (await eventsOf(session)).filter(({ type }) => type === 'agent.message').map((event) => textOf(event));
    await expect.poll(async () => (await texts()).at(-1), { timeout: 20_000 }).toBe('I wait.');
    fake.send('SIGINT');
    expect(await ended).toBe(0);
    const all = await call(['attach', '--all', '--from', 'codex'], { env: server.env });
    expect([all.code, all.stderr]).toEqual([2, expect.stringContaining('--all works with Claude Code only')]);
  }, 60_000);

  it('[Y157] another program is wrong usage', async () => {
    const result = await call(['import', '--from', 'other', '--all'], { env: server.env });
    expect(result).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--from claude-code, --from codex or --from opencode'),
    });
  });
});

interface Line {
  readonly type: string;
  readonly payload: { readonly usage: { readonly input_tokens: number; readonly output_tokens: number } };
}

interface Done {
  readonly session_id: string;
  readonly conversation: string;
  readonly taken: number;
  readonly unreadable_lines: number;
}

interface SessionEvent {
  readonly type: string;
  readonly content?: readonly { readonly text?: string }[];
}

/** A copy of the recorded sessions, with ids that no other test has imported. */
async function copy(): Promise<{ home: string; ids: typeof recorded }> {
  const home = await temporaryFolder();
  const folder = join(home, 'sessions', '2026', '11', '18');
  const fresh = (text: string) => text.replaceAll('01a1eee0-', `${prefix}-`);
  const prefix = randomUUID().slice(0, 8);
  await mkdir(folder, { recursive: true });
  const source = join(repositoryRoot, 'fixtures', 'codex', 'sessions', '2026', '11', '18');
  for (const name of await readdir(source)) {
    await writeFile(join(folder, fresh(name)), fresh(await readFile(join(source, name), 'utf8')));
  }
  const { first, child, compacted, second } = recorded;
  return {
    home,
    ids: { first: fresh(first), child: fresh(child), compacted: fresh(compacted), second: fresh(second) },
  };
}

async function importFrom(home: string, ...args: string[]): Promise<Done[]> {
  const result = await call(['import', '--from', 'codex', '--config', home, '--json', ...args], { env: server.env });
  expect([result.code, result.stderr]).toEqual([0, '']);
  return result.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Done);
}

async function threadsOf(session: string): Promise<readonly SessionThread[]> {
  return (await server.get<{ data: SessionThread[] }>(`/v1/sessions/${session}/threads`)).data;
}

async function eventsOf(path: string): Promise<readonly SessionEvent[]> {
  return (await server.get<{ data: SessionEvent[] }>(`/v1/sessions/${path}/events?limit=1000`)).data;
}

function textOf({ content }: SessionEvent): string {
  return (content ?? []).map(({ text }) => text ?? '').join('');
}

function nameOf({ agent }: SessionThread): string {
  return agent !== null && 'name' in agent && typeof agent.name === 'string' ? agent.name : '';
}

async function pathOf(home: string, id: string): Promise<string> {
  const names = await readdir(home, { recursive: true });
  return join(home, names.find((name) => name.endsWith(`${id}.jsonl`)) ?? 'missing');
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-codex-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
