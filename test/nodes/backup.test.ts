import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildProgram, cleanEnv, MAIN } from '../../packages/cli/test-support/processes.ts';
import { ownPostgres } from '../support/postgres.ts';
import { openCluster } from './cluster.ts';
import { openConnection } from './database.ts';
import { Caller, toMessage } from './work.ts';

beforeAll(buildProgram, 300_000);

it('[P128] a copy of the data directory of a stopped server, and a snapshot of that of a running one, restore its sessions, keys and files', {
  timeout: 120_000,
}, async () => {
  const data = await mkdtemp(join(tmpdir(), 'fleetloom-backup-'));
  const [cold, hot] = [`${data}-cold`, `${data}-hot`];
  onTestFinished(async () => {
    for (const path of [data, cold, hot]) await rm(path, { recursive: true, force: true });
  });
  const server = await startServer(data);
  const { key } = server;
  const { caller } = server;
  const session = await createSession(caller);
  await talk(caller, session, 'One');
  const form = new FormData();
  form.set('file', new Blob(['kept']), 'kept.txt');
  const upload = { method: 'POST', headers: { 'x-api-key': key! }, body: form };
  const { id: file } = (await (await fetch(`${server.url}/v1/files`, upload)).json()) as { id: string };
  // A process that is stopped changes nothing while it is copied, as a snapshot of the file system sees it.
  server.child.kill('SIGSTOP');
  copy(data, hot);
  server.child.kill('SIGCONT');
  await talk(caller, session, 'Two');
  await server.stop();
  copy(data, cold);

  for (const [backup, texts] of [
    [cold, ['One', 'Two']],
    [hot, ['One']],
  ] as const) {
    const restored = await startServer(backup, key);
    expect(await textsOf(restored.caller, session)).toEqual(texts);
    expect(await restored.caller.text(`/v1/files/${file}/content`)).toBe('kept');
    await talk(restored.caller, session, 'Three');
    expect(await textsOf(restored.caller, session)).toEqual([...texts, 'Three']);
    await restored.stop();
  }
});

it('[P129] a base backup of the database that is restored while the nodes are stopped has every session as of its end, and cursors that are ahead of it are rejected', {
  timeout: 120_000,
}, async () => {
  const postgres = await ownPostgres();
  const before = await openConnection(postgres.url);
  await before.query("ALTER SYSTEM SET wal_level = 'replica'");
  await before.end();
  await postgres.restart('fast');
  const cluster = await openCluster(postgres.url, 1);
  onTestFinished(() => cluster.close());
  const [node] = cluster.nodes;
  const caller = new Caller(node!.url, cluster.key);
  const session = await createSession(caller);
  await talk(caller, session, 'One');

  const database = await openConnection(postgres.url);
  const [{ data_directory: data }] = (await database.query('SHOW data_directory')) as [{ data_directory: string }];
  const backup = `${data}-backup`;
  await database.query("SELECT pg_backup_start('test', true)");
  await talk(caller, session, 'Two');
  copy(data, backup);
  const [{ labelfile }] = (await database.query('SELECT labelfile FROM pg_backup_stop(false)')) as [Label];
  await database.end();
  // The end of the backup is in the log that was written since.
  execFileSync('cp', ['-a', '-T', join(data, 'pg_wal'), join(backup, 'pg_wal')]);
  writeFileSync(join(backup, 'backup_label'), labelfile);
  const { uid, gid } = statSync(data);
  chownSync(join(backup, 'backup_label'), uid, gid);
  rmSync(join(backup, 'postmaster.pid'), { force: true });
  await talk(caller, session, 'Lost');
  const { data: events } = await eventsOf(caller, session);
  const ahead = events.at(-1)!.seq;

  await node!.stop();
  await postgres.halt();
  rmSync(data, { recursive: true });
  execFileSync('mv', [backup, data], { cwd: dirname(data) });
  await postgres.resume();
  await node!.start();
  expect(await textsOf(caller, session)).toEqual(['One', 'Two']);
  const { status } = await fetch(`${node!.url}/v1/sessions/${session}/fleet?after=${ahead}`, {
    headers: { 'x-api-key': cluster.key },
  });
  expect(status).toBe(400);
  await talk(caller, session, 'Three');
  expect(await textsOf(caller, session)).toEqual(['One', 'Two', 'Three']);
});

interface Label {
  readonly labelfile: string;
}

function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

async function startServer(data: string, known?: string) {
  const args = [MAIN, 'serve', '--json', '--port', '0', '--data', data];
  const child = spawn(process.execPath, args, { env: cleanEnv(), stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, key } = JSON.parse(line) as { url: string; key: string | null };
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  };
  return { child, url, key: key ?? known, caller: new Caller(url, (key ?? known)!), stop };
}

async function createSession(caller: Caller): Promise<string> {
  const { id: agent } = await caller.call<{ id: string }>('POST', '/v1/agents', { name: 'a', model: 'scripted/echo' });
  const { id: environment_id } = await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' });
  return (await caller.call<{ id: string }>('POST', '/v1/sessions', { agent, environment_id })).id;
}

/** Sends a message and waits for the end of its turn. */
async function talk(caller: Caller, session: string, text: string): Promise<void> {
  await caller.call('POST', `/v1/sessions/${session}/events`, toMessage(text));
  const status = async () => (await caller.call<{ status: string }>('GET', `/v1/sessions/${session}`)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe('idle');
}

interface Frame {
  readonly seq: number;
  readonly type: string;
  readonly payload: { readonly content?: readonly { readonly text?: string }[] };
}

async function eventsOf(caller: Caller, session: string): Promise<{ data: readonly Frame[] }> {
  const lines = (await caller.lines(`/v1/sessions/${session}/export`)) as Frame[];
  return { data: lines.filter(({ type }) => !type.startsWith('export.')) };
}

/** The messages of the session; each was answered. */
async function textsOf(caller: Caller, session: string): Promise<string[]> {
  const { data } = await eventsOf(caller, session);
  const ofType = (wanted: string) => data.filter(({ type }) => type === wanted);
  const texts = ofType('user.message').map(({ payload }) => payload.content?.[0]?.text ?? '');
  expect(ofType('agent.message')).toHaveLength(texts.length);
  expect(ofType('turn.ended')).toHaveLength(texts.length);
  return texts;
}
