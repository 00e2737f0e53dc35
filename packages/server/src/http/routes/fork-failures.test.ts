import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { buildProgram } from '../../../../../test/support/build-program.ts';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import { startOn, startServer } from '../../server.ts';
import { Database } from '../../store/sqlite/database.ts';
import { createSqliteStore, openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { commitOne } from '../../store/write.ts';
import { connect } from '../../../../../test/server/server.suite.ts';
import { failingAt, forkOf, prepareFork, TABLES } from './fork-failures.suite.ts';
import { outcomeOf } from './records.suite.ts';

const code = join(repositoryRoot, '.cache', `fork-failures-${process.pid}`);
beforeAll(() => buildProgram(code, { host: fileURLToPath(new URL('./fork-host.suite.ts', import.meta.url)) }));
afterAll(() => rmSync(code, { recursive: true, force: true }));

it.each([
  ['a server of its own', false],
  ['nodes that share a store', true],
])('[H116] of %s: a fork that fails at any write leaves no session, no row and no file', async (_, isShared) => {
  const directory = newDirectory();
  const database = await Database.open(join(directory, 'fleetloom.db'), async () => {});
  const failures = failingAt(createSqliteStore(database));
  // The server logs the failures of the store.
  const log = { onError: () => {} };
  const server = await startOn({ dataDirectory: directory, log, onProblem: () => {} }, failures.store, isShared);
  const client = connect(server.url, server.firstKey);
  const source = await prepareFork(client);
  const look = () => ({ rows: countRows(database), files: listFiles(directory) });
  const before = await settled(look);
  let failed = 0;
  let fork: { readonly id: string } | undefined;
  for (let write = 1; fork === undefined; write++) {
    failures.arm(write);
    fork = await forkOf(client, source).catch((error: { readonly status?: number }) => {
      expect(error.status).toBe(500);
      return undefined;
    });
    if (fork !== undefined) break;
    failed++;
    expect(failures.hasFailed()).toBe(true);
    expect(await settled(look)).toEqual(before);
  }
  failures.arm(0);
  // In a directory the copy and its list are files, so only one write goes to the store; nodes that share a store have four.
  expect(failed).toBeGreaterThanOrEqual(isShared ? 4 : 1);
  expect((await client.beta.sessions.list()).data.map(({ id }) => id).sort()).toEqual([source, fork.id].sort());
  expect(await client.beta.sessions.resources.list(fork.id).then(({ data }) => data.length)).toBe(2);
  await server.close();
});

it('[H116] a fork of a session whose file was deleted in the meantime leaves no file', async () => {
  const directory = newDirectory();
  const server = await startServer({ dataDirectory: directory });
  onTestFinished(() => server.close());
  const client = connect(server.url, server.firstKey);
  const source = await prepareFork(client);
  const before = await settled(() => listFiles(directory));
  const [, second] = (await client.beta.sessions.resources.list(source)).data;
  await client.beta.files.delete((second as { file_id: string }).file_id);
  expect(await outcomeOf(forkOf(client, source))).toBe('404 not_found_error');
  expect(await settled(() => listFiles(directory))).toEqual(before);
});

it('[H117] the rest of a fork that crashed is removed at the next start, and nothing else is', async () => {
  const directory = newDirectory();
  const args = [join(code, 'host.mjs'), directory];
  const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  host.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [, signal] = (await once(host, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  const { source, key } = JSON.parse(said) as { source: string; key: string };
  const workspaces = () => readdirSync(join(directory, 'workspaces')).sort();
  const notes = () => readdirSync(join(directory, 'resources')).sort();
  expect(workspaces()).toHaveLength(2);
  const server = await startServer({ dataDirectory: directory });
  await vi.waitFor(() => expect([workspaces(), notes()]).toEqual([[source], [`${source}.json`]]));
  expect((await connect(server.url, key).beta.sessions.list()).data.map(({ id }) => id)).toEqual([source]);
  await server.close();
});

it('[H117] files of a session that was deleted right before a crash are removed at the next start', async () => {
  const directory = newDirectory();
  const first = await startServer({ dataDirectory: directory });
  const source = await prepareFork(connect(first.url, first.firstKey));
  await first.close();
  const store = await openSqliteStore({ path: join(directory, 'fleetloom.db') });
  const lease = await store.leases.acquire({ sessionId: source, owner: 'killed', ttlMs: 1_000 });
  if (lease.ok) await commitOne(store, { type: 'delete', sessionId: source, fence: lease.fence });
  await store.close();
  expect(listFiles(directory).length).toBeGreaterThan(3);
  const second = await startServer({ dataDirectory: directory });
  await second.close();
  expect(listFiles(directory)).toEqual([]);
});

it('[H117] files of another database are not touched, and that is reported', async () => {
  const directory = newDirectory();
  const first = await startServer({ dataDirectory: directory });
  await first.close();
  const workspace = join(directory, 'workspaces', 'sesn_0000000000of_another');
  mkdirSync(workspace, { recursive: true });
  rmSync(join(directory, 'fleetloom.db'));
  const problems: unknown[] = [];
  const second = await startServer({ dataDirectory: directory, onProblem: (problem) => problems.push(problem) });
  await second.close();
  expect(readdirSync(workspace)).toEqual([]);
  expect(problems.map(String)).toEqual([expect.stringContaining('belong to another database, so those of deleted')]);
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-fork-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function countRows(database: Database): Record<string, number> {
  const count = (table: string) => database.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
  return Object.fromEntries(TABLES.map((table) => [table, count(table)]));
}

/** Paths of all files of sessions. */
function listFiles(directory: string): string[] {
  return ['workspaces', 'resources', 'mounted'].flatMap((name) => {
    try {
      return readdirSync(join(directory, name), { recursive: true }).map((path) => join(name, String(path)));
    } catch {
      return [];
    }
  });
}

/** The state once it no longer changes: claims and discarded files are removed shortly after the answer. */
async function settled<Seen>(look: () => Seen): Promise<Seen> {
  let seen = look();
  await vi.waitFor(
    () => {
      const before = JSON.stringify(seen);
      seen = look();
      expect(JSON.stringify(seen)).toBe(before);
      expect(before).not.toContain('.trash');
    },
    { interval: 50, timeout: 10_000 },
  );
  return seen;
}
