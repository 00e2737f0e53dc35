import { randomUUID } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { repositoryRoot } from '../../../../test/support/root.ts';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const fleet = (...args: string[]) => call(args, { env: server.env });
const fixtures = join(repositoryRoot, 'fixtures', 'claude-code');
const ids = { '2.1.197': 'ab518c33-1b84-4e01-ac5b-40267d5933c3', '2.1.325': 'e8231263-e77b-4b4b-b290-0a2dcc00988a' };
type Version = keyof typeof ids;

describe('fleetloom import', () => {
  it.each(Object.keys(ids) as Version[])(
    '[J140] a session of claude %s becomes one of ours: threads, texts, calls and turns, when they happened',
    async (version) => {
      const { config, id } = await copyOf(version);
      const [done] = await importAll(config);
      expect(done).toMatchObject({ conversation: id, unreadable_lines: 0 });
      const session = await server.get<Session>(`/v1/sessions/${done?.session_id}`);
      expect(session).toMatchObject({ status: 'idle', metadata: { imported_from: 'claude-code', version } });
      expect(session.title).toMatch(/^Look at the shop\./);
      expect(session.created_at.slice(0, 10)).toBe('2026-11-16');
      expect(session.usage?.input_tokens).toBeGreaterThan(0);

      const threads = await threadsOf(session.id);
      expect(tree(threads)).toEqual(['claude', 'claude/alpha', 'claude/alpha/deep', 'claude/beta', 'claude/slow']);
      expect(new Set(threads.map(({ status }) => status))).toEqual(new Set(['idle']));
      expect(await textsOf(session.id, threads)).toEqual({
        claude: [
          'I ask two of them.',
          'Both are done.',
          'This is the second answer.',
          'It runs in the background.',
          'The slow one has ended.',
        ],
        alpha: ['Alpha begins.', 'Alpha is done.'],
        beta: ['Beta begins.', 'Beta is done.'],
        deep: ['The deep one has looked.'],
        slow: ['Slow is at work.'],
      });
      const events = await eventsOf(session.id);
      expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(3);
      expect(events.filter(({ type }) => type === 'session.status_idle').length).toBeGreaterThanOrEqual(3);
      expect(events.filter(({ type }) => type === 'session.error')).toEqual([]);
      expect(events.filter(({ type }) => type === 'agent.tool_use').map(({ name }) => name)).toEqual([
        'Agent',
        'Agent',
        'Agent',
      ]);
      expect(events.filter(({ type }) => type === 'agent.tool_result')).toHaveLength(3);
    },
  );

  it('[J140] its fleet stream and its export are like those of any other session', async () => {
    const { config } = await copyOf('2.1.325');
    const [done] = await importAll(config);
    const watched = await fleet('watch', done?.session_id ?? '', '--json', '--until', 'idle');
    expect(watched.code).toBe(0);
    expect(watched.stdout).toContain('Alpha is done.');
    const exported = await fleet('export', done?.session_id ?? '');
    expect([exported.code, exported.stderr]).toEqual([0, '']);
    expect(exported.stdout).toContain('The deep one has looked.');
  });

  it('[J141] a second import changes nothing, and later steps are added', async () => {
    const { config, main, id } = await copyOf('2.1.325');
    const whole = await readFile(main, 'utf8');
    const lines = whole.trimEnd().split('\n');
    // Up to the end of the second turn.
    const cut = lines.findIndex((line) => line.includes('Now in the background.') && line.includes('"type":"user"'));
    await writeFile(main, `${lines.slice(0, cut).join('\n')}\n`);
    const [first] = await importAll(config);
    const before = await eventsOf(first?.session_id ?? '');
    const [again] = await importAll(config);
    expect(again).toMatchObject({ session_id: first?.session_id, taken: 0 });
    expect(await eventsOf(first?.session_id ?? '')).toEqual(before);

    await writeFile(main, whole);
    const [more] = await importAll(config);
    expect(more?.session_id).toBe(first?.session_id);
    expect(more?.taken).toBeGreaterThan(0);
    const after = await eventsOf(first?.session_id ?? '');
    expect(after.slice(0, before.length)).toEqual(before);
    const texts = await textsOf(first?.session_id ?? '', await threadsOf(first?.session_id ?? ''));
    expect(texts['claude']?.at(-1)).toBe('The slow one has ended.');
    // One session, whatever it is imported by.
    expect((await fleet('import', main)).stdout).toContain(`${first?.session_id}  nothing new`);
    expect((await fleet('import', id, '--config', config)).stdout).toContain(`${first?.session_id}  nothing new`);
  });

  it('[J142] a session that ends in the middle of a turn is logged as interrupted, and continues when more lines appear', async () => {
    const { config, main, id: conversation } = await copyOf('2.1.197');
    const whole = await readFile(main, 'utf8');
    const lines = whole.trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('"name":"Agent"'));
    await writeFile(main, `${lines.slice(0, cut + 1).join('\n')}\n{"type":"assist`);
    await rename(join(dirname(main), conversation), join(dirname(main), 'later'));
    const [first] = await importAll(config);
    const id = first?.session_id ?? '';
    expect((await server.get<Session>(`/v1/sessions/${id}`)).status).toBe('idle');
    expect(JSON.stringify(await eventsOf(id))).toContain('ends in the middle of a turn');

    await writeFile(main, whole);
    await rename(join(dirname(main), 'later'), join(dirname(main), conversation));
    expect((await importAll(config))[0]?.session_id).toBe(id);
    const texts = await textsOf(id, await threadsOf(id));
    expect(texts['claude']).toContain('Both are done.');
    expect(texts['deep']).toEqual(['The deep one has looked.']);
  });

  it('[J143] an imported session is read-only, but can be deleted and then imported again', async () => {
    const { config } = await copyOf('2.1.197');
    const [done] = await importAll(config);
    const id = done?.session_id ?? '';
    const said = await fleet('send', id, 'Go on');
    expect(said.code).toBe(5);
    expect(said.stderr).toContain('was imported and can only be read');
    expect((await fleet('send', id, '--interrupt')).code).toBe(5);
    const gone = await fetch(`${server.url}/v1/sessions/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${server.key}` },
    });
    expect(gone.status).toBe(200);
    const [again] = await importAll(config);
    expect(again?.session_id).not.toBe(id);
    expect(again?.taken).toBeGreaterThan(0);
  });

  it('[J144] unreadable lines are counted and skipped; a file without messages is not a session', async () => {
    const { config, main } = await copyOf('2.1.325');
    const other = join(dirname(main), '00000000-0000-4000-8000-000000000001.jsonl');
    await writeFile(other, 'no json\n[1]\n{"type":"user","message":{"content":"Still here"},"timestamp":"never"}\n');
    const silent = join(dirname(main), '00000000-0000-4000-8000-000000000002.jsonl');
    await writeFile(silent, '{"type":"summary","summary":"nothing"}\n');
    const done = await importAll(config);
    const odd = done.find(({ conversation }) => conversation.endsWith('001'));
    expect(odd).toMatchObject({ unreadable_lines: 2, taken: 1, title: 'Still here' });
    expect(done.map(({ conversation }) => conversation.slice(-3))).not.toContain('002');
  });

  it('[J144] a session that the server rejects is reported, and the others are imported', async () => {
    const { config, main, id } = await copyOf('2.1.325');
    const bad = join(dirname(main), '00000000-0000-4000-8000-000000000004.jsonl');
    const call = { type: 'tool_use', id: 'x'.repeat(1_000), name: 'Bash', input: {} };
    const line = { type: 'assistant', message: { id: 'm', model: 'x', content: [call] } };
    await writeFile(bad, `${JSON.stringify(line)}\n`);
    const { code, stdout, stderr } = await fleet('import', '--all', '--config', config, '--json');
    expect(code).toBe(5);
    expect(stderr).toContain(`${bad}: `);
    expect(JSON.parse(stdout)).toMatchObject({ conversation: id });
  });

  it('[J145] missing files, ids and directories are reported with a fix', async () => {
    const { config } = await copyOf('2.1.325');
    for (const [args, words] of [
      [['nowhere.jsonl'], 'There is no file "nowhere.jsonl".'],
      [['11111111-1111-4111-8111-111111111111'], 'Claude Code has no session "11111111'],
      [['no-such-directory'], 'neither a session file'],
      [['.'], 'Claude Code has no sessions of "."'],
      [['--all', '.'], '--all cannot be combined with sessions.'],
    ] as const) {
      const { code, stderr } = await fleet('import', ...args, '--config', config);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
    const empty = await fleet('import', '--all', '--config', join(config, 'nowhere'));
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('There are no sessions of Claude Code in')]);
    const refused = await call(['import', '--all', '--config', config], {
      env: { ...server.env, FLEETLOOM_KEY: 'wrong' },
    });
    expect(refused.code).toBe(3);
  });
});

describe('fleetloom attach', () => {
  it('[J146] steps of a session appear as they happen, and Ctrl-C leaves it unchanged', async () => {
    const { config, main, id } = await copyOf('2.1.325');
    const folder = join(dirname(main), id);
    const later = `${folder}-later`;
    await cp(folder, later, { recursive: true });
    await rm(folder, { recursive: true });
    const lines = (await readFile(main, 'utf8')).trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('"name":"Agent"'));
    await writeFile(main, `${lines.slice(0, cut + 2).join('\n')}\n`);

    const { fake, ended } = begin(['attach', main, '--config', config], { env: server.env });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    const sessionId = fake.stdout.text.trim();
    const status = async () => (await server.get<Session>(`/v1/sessions/${sessionId}`)).status;
    await expect.poll(status, WAIT).toBe('running');

    // Sub-agents appear while it is followed, and half a line is not taken for a whole one.
    await cp(later, folder, { recursive: true });
    const rest = lines.slice(cut + 2).join('\n');
    await appendFile(main, rest.slice(0, 300));
    await expect.poll(async () => tree(await threadsOf(sessionId)), WAIT).toContain('claude/alpha/deep');
    expect(await status()).toBe('running');
    await appendFile(main, `${rest.slice(300)}\n`);
    await expect.poll(status, WAIT).toBe('idle');
    const texts = await textsOf(sessionId, await threadsOf(sessionId));
    expect(texts['claude']?.at(-1)).toBe('The slow one has ended.');
    expect(texts['alpha']).toEqual(['Alpha begins.', 'Alpha is done.']);

    fake.send('SIGINT');
    expect(await ended).toBe(0);
    expect(fake.stderr.text).toBe('');
    expect((await importAll(config))[0]).toMatchObject({ session_id: sessionId, taken: 0 });
  }, 90_000);

  it('[J147] a server that is restarted in the meantime misses nothing', async () => {
    const { config, main } = await copyOf('2.1.197');
    const lines = (await readFile(main, 'utf8')).trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('And once more.') && line.includes('"type":"user"'));
    await writeFile(main, `${lines.slice(0, cut + 1).join('\n')}\n`);
    const own = await startTestServer();
    onTestFinished(() => own.close());
    const { fake, ended } = begin(['attach', main, '--config', config], { env: own.env });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    const sessionId = fake.stdout.text.trim();
    await own.stop();
    await appendFile(main, `${lines.slice(cut + 1).join('\n')}\n`);
    await own.restart();
    const texts = async () => {
      const { data } = await own.get<{ data: Event[] }>(`/v1/sessions/${sessionId}/events?limit=1000`);
      const said = data.filter(({ type }) => type === 'agent.message');
      return said.flatMap(({ content }) => (content ?? []).map(({ text }) => text ?? ''));
    };
    await expect.poll(texts, WAIT).toContain('The slow one has ended.');
    expect(await texts()).toEqual([
      'I ask two of them.',
      'Both are done.',
      'This is the second answer.',
      'It runs in the background.',
      'The slow one has ended.',
    ]);
    fake.send('SIGINT');
    expect(await ended).toBe(0);
  }, 120_000);

  it('[J146] it ends with a session left in the middle of a turn as cut off', async () => {
    const { config, main } = await copyOf('2.1.325');
    const lines = (await readFile(main, 'utf8')).trimEnd().split('\n');
    const cut = lines.findIndex((line) => line.includes('Look at the shop.') && line.includes('"type":"user"'));
    const folder = await temporaryFolder();
    const file = join(folder, '00000000-0000-4000-8000-000000000003.jsonl');
    await writeFile(file, `${lines.slice(0, cut + 1).join('\n')}\n`);
    const { fake, ended } = begin(['attach', file, '--config', config], { env: server.env });
    await expect.poll(() => fake.stdout.text, WAIT).toMatch(/^sesn_\w+\n$/);
    fake.send('SIGINT');
    expect(await ended).toBe(0);
    const { status } = await server.get<Session>(`/v1/sessions/${fake.stdout.text.trim()}`);
    expect(status).toBe('idle');
  }, 60_000);
});

describe('fleetloom agents import', () => {
  it('[J148] definitions become agents, coordinators with a roster; again nothing changes', async () => {
    const folder = join(await temporaryFolder(), '.claude', 'agents');
    await mkdir(folder, { recursive: true });
    const write = (name: string, fields: string) =>
      writeFile(
        join(folder, `${name}.md`),
        `---\nname: ${name}\ndescription: Is ${name}\n${fields}---\nYou are ${name}.\n`,
      );
    await write('lead', 'coordinator: true\nmodel: opus\n');
    await write('reader', 'tools: Read, Grep\n');
    await write('writer', 'hooks: 1\n');
    const { code, stdout, stderr } = await fleet('agents', 'import', folder, '--model', 'claude-code/default');
    expect(code).toBe(0);
    expect(stderr).toContain('writer.md: the field "hooks" is ignored');
    expect(stdout).toMatch(
      /^agent_\w+ {2}lead, version 1\nagent_\w+ {2}reader, version 1\nagent_\w+ {2}writer, version 1\n$/,
    );
    const lead = await server.get<{ multiagent: { agents: { name: string }[] } | null; system: string }>(
      `/v1/agents/${stdout.split(' ')[0]}`,
    );
    expect(lead.system.trim()).toBe('You are lead.');
    expect(lead.multiagent?.agents).toHaveLength(2);
    const again = await fleet('agents', 'import', folder, '--model', 'claude-code/default', '--json');
    const saved = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; version: number; file: string });
    expect(saved.map(({ name, version, file }) => [name, version, file])).toEqual([
      ['lead', 1, 'lead.md'],
      ['reader', 1, 'reader.md'],
      ['writer', 1, 'writer.md'],
    ]);
    expect((await fleet('agents', 'import', join(folder, 'nowhere'))).code).toBe(2);
  });
});

const WAIT = { timeout: 60_000, interval: 100 };

interface Done {
  readonly session_id: string;
  readonly conversation: string;
  readonly title: string | null;
  readonly taken: number;
  readonly unreadable_lines: number;
}

async function importAll(config: string): Promise<Done[]> {
  const { code, stdout, stderr } = await fleet('import', '--all', '--config', config, '--json');
  expect([code, stderr]).toEqual([0, '']);
  const done = stdout.trim().split('\n');
  return done.map((line) => JSON.parse(line) as Done);
}

/** A configuration directory of Claude Code that a test may change, with a session that no other test has. */
async function copyOf(version: Version): Promise<{ config: string; main: string; id: string }> {
  const config = await temporaryFolder();
  const project = join(config, 'projects', '-home-user-shop');
  const id = randomUUID();
  await cp(join(fixtures, version), config, { recursive: true });
  await rename(join(project, `${ids[version]}.jsonl`), join(project, `${id}.jsonl`));
  await rename(join(project, ids[version]), join(project, id));
  return { config, main: join(project, `${id}.jsonl`), id };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface Event {
  readonly type: string;
  readonly name?: string;
  readonly content?: readonly { readonly text?: string }[];
}

async function eventsOf(sessionId: string, thread = ''): Promise<readonly Event[]> {
  const { data } = await server.get<{ data: Event[] }>(`/v1/sessions/${sessionId}${thread}/events?limit=1000`);
  return data;
}

async function threadsOf(sessionId: string): Promise<readonly SessionThread[]> {
  const { data } = await server.get<{ data: SessionThread[] }>(`/v1/sessions/${sessionId}/threads?limit=100`);
  return data;
}

async function textsOf(sessionId: string, threads: readonly SessionThread[]): Promise<Record<string, string[]>> {
  const texts: Record<string, string[]> = {};
  for (const thread of threads) {
    const events = await eventsOf(sessionId, `/threads/${thread.id}`);
    const said = events.filter(({ type }) => type === 'agent.message');
    texts[nameOf(thread)] = said.flatMap(({ content }) => (content ?? []).map(({ text }) => text ?? ''));
  }
  return texts;
}

/** The paths of all threads in the tree, sorted. */
function tree(threads: readonly SessionThread[]): string[] {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  const pathOf = (thread: SessionThread): string => {
    const parent = byId.get(thread.parent_thread_id ?? '');
    return parent === undefined ? nameOf(thread) : `${pathOf(parent)}/${nameOf(thread)}`;
  };
  return threads.map(pathOf).sort((a, b) => (a < b ? -1 : 1));
}

function nameOf({ agent }: SessionThread): string {
  return agent !== null && 'name' in agent && typeof agent.name === 'string' ? agent.name : '';
}
