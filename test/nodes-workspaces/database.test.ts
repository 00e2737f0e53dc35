import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../packages/cli/src/base/limits.ts';
import { toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { buildProgram, cleanEnv, startProgram } from '../../packages/cli/test-support/processes.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { runSql } from '../nodes/run-sql.ts';
import { toMessage } from '../nodes/work.ts';
import { ownPostgres } from '../support/postgres.ts';
import { repositoryRoot } from '../support/root.ts';
import { createSession, readLog, reasonsOf, textsOf } from './node-session.ts';
import { openTwoNodes, type TwoNodes } from './open-nodes.ts';

const patience = { timeout: 60_000, interval: 100 };
let postgres: Postgres;
let nodes: TwoNodes;
let directory: string;
beforeAll(async () => {
  buildProgram();
  directory = await mkdtemp(join(tmpdir(), 'fleetloom-database-'));
  postgres = await ownPostgres();
  nodes = await openTwoNodes({
    database: postgres.url,
    // The smallest value that the command accepts must be accepted by the server.
    args: [
      `--shared-workspaces=${join(directory, 'workspaces')}`,
      `--workspace-wait=${limits.workspaceWaitSecondsMin}`,
      `--database-listen=${withName(postgres.url, 'past_the_pooler')}`,
    ],
  });
}, 120_000);
afterAll(async () => {
  await nodes?.close();
  await rm(directory, { recursive: true, force: true });
}, 120_000);

it('[P89] each node listens through --database-listen with one connection, and uses --database for everything else', async () => {
  const count = (test: string) =>
    Number(runSql(postgres.url, `SELECT count(*) ${test} FROM pg_stat_activity`).replaceAll('"', ''));
  expect(count(`FILTER (WHERE application_name = 'past_the_pooler')`)).toBe(2);
  // Its last query is LISTEN until the connection is checked for the first time.
  const listening = `FILTER (WHERE application_name = 'past_the_pooler' AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT%AS now'))`;
  expect(count(listening)).toBe(2);
}, 120_000);

it('[P86] keys are created, listed and revoked in the database, and are valid on every node', async () => {
  const keys = async (...args: string[]) => {
    const { ended, out } = startProgram(['keys', ...args, '--database', postgres.url]);
    return { code: await ended, ...out };
  };
  const statuses = (key: string) =>
    Promise.all(
      [nodes.one, nodes.two].map(async ({ url }) => {
        return (await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': key } })).status;
      }),
    );
  const made = await keys('create', 'ci', '--json');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { id, key } = JSON.parse(made.stdout) as { id: string; key: string };
  await expect.poll(() => statuses(key), patience).toEqual([200, 200]);
  const listed = await keys('list', '--json');
  const names = listed.stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { name: string }).name);
  expect([listed.code, names]).toEqual([0, ['first key', 'ci']]);
  expect(listed.stdout).not.toContain(key);
  expect(await keys('revoke', 'key_nobody')).toMatchObject({ code: 4, stdout: '' });
  expect(await keys('revoke', id)).toEqual({ code: 0, stdout: `${id}\n`, stderr: '' });
  await expect.poll(() => statuses(key), patience).toEqual([401, 401]);
  const away = Object.assign(new URL(postgres.url), { port: '1' }).href;
  const refused = startProgram(['keys', 'list', '--database', away]);
  expect([await refused.ended, refused.out.stdout]).toEqual([2, '']);
  expect(refused.out.stderr).toContain('start the database, and check host and port');
}, 120_000);

// The following are independent, and the last one mostly waits. Each uses its own expect: the global one loses its test as soon
// as one of them ends.
it.concurrent('[P86] a command that lists keys of an empty database does not create the first key', async ({
  expect,
  onTestFinished,
}) => {
  runSql(postgres.url, 'CREATE DATABASE empty');
  const database = Object.assign(new URL(postgres.url), { pathname: '/empty' }).href;
  const listed = startProgram(['keys', 'list', '--json', '--database', database]);
  expect([await listed.ended, listed.out.stdout]).toEqual([0, '']);
  const server = startProgram(['serve', '--json', '--port', '0', '--data', join(directory, 'first')], {
    FLEETLOOM_DATABASE: database,
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  await server.saw(/\n/);
  expect(server.out.stdout).toMatch(/"key":"fleetloom_api_/);
}, 120_000);

it.concurrent('[P87] without the package pg a server with a database reports what to install, and exits with 2', async ({
  expect,
}) => {
  const main = await installWithoutDriver(join(directory, 'installed'));
  const secret = 'postgres://user:a-secret@127.0.0.1:1/x';
  for (const args of [
    ['serve', '--port', '0', '--data', join(directory, 'none')],
    ['keys', 'list'],
  ]) {
    const { status, stdout, stderr } = await runMain(main, args, { FLEETLOOM_DATABASE: secret });
    expect([args[0], status, stdout]).toEqual([args[0], 2, '']);
    expect(stderr).toMatch(
      /^fleetloom: a database postgres:\/\/… needs the package pg, which is not installed: run `npm/,
    );
    expect(stderr).not.toContain('a-secret');
    expect(stderr.trim().split('\n')).toHaveLength(2);
  }
}, 120_000);

it.concurrent('[P88] with shared workspaces another node continues a session, and finds the files of the killed node', async ({
  expect,
}) => {
  const { one, two } = nodes;
  const path = '/mnt/session/outputs/note.txt';
  const system = toScript([
    [{ call: 'write', input: { file_path: path, content: 'From the first node' } }],
    [{ say: 'Written.' }],
    [{ call: 'read', input: { file_path: path } }],
    [{ expect: { tool_result: 'From the first node' } }, { say: 'Found it.' }],
  ]);
  const id = await createSession(one, 'scripted/echo', system);
  const log = () => readLog(two.caller, id);
  const texts = async () => textsOf(await log());
  await one.caller.call('POST', `/v1/sessions/${id}/events`, toMessage('Write.'));
  await expect.poll(texts, patience).toEqual(['Written.']);
  // The killed node still holds the lease for a while.
  await one.kill();
  await two.caller.call('POST', `/v1/sessions/${id}/events`, toMessage('Read.'));
  await expect.poll(texts, patience).toEqual(['Written.', 'Found it.']);
  expect(reasonsOf(await log())).toEqual([]);
  const { data } = await two.caller.call<{ data: { id: string }[] }>('GET', `/v1/files?scope_id=${id}`);
  expect(await two.caller.text(`/v1/files/${data[0]!.id}/content`)).toBe('From the first node');
}, 120_000);

/** The same URL with an application name, by which the database lists the connection. */
function withName(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set('application_name', name);
  return named.href;
}

function runMain(main: string, args: readonly string[], env: Record<string, string>) {
  return new Promise<{ status: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [main, ...args], { env: cleanEnv(env) }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

/** Installs the packages with all dependencies except the driver, and returns the path of the program. */
async function installWithoutDriver(target: string): Promise<string> {
  const modules = join(target, 'node_modules');
  await mkdir(join(modules, '@fleetloom'), { recursive: true });
  for (const [name, folder] of [
    ['@fleetloom/protocol', 'protocol'],
    ['@fleetloom/client', 'client'],
    ['@fleetloom/server', 'server'],
    ['fleetloom', 'cli'],
  ] as const) {
    for (const part of ['package.json', 'dist']) {
      const from = join(repositoryRoot, 'packages', folder, part);
      await cp(from, join(modules, name, part), { recursive: true });
    }
    // Dependencies whose version differs from that of another package.
    const own = join(repositoryRoot, 'packages', folder, 'node_modules');
    if (existsSync(own)) await symlink(own, join(modules, name, 'node_modules'));
  }
  for (const name of await readdir(join(repositoryRoot, 'node_modules'))) {
    if (name.startsWith('.') || ['pg', '@fleetloom', 'fleetloom'].includes(name)) continue;
    await symlink(join(repositoryRoot, 'node_modules', name), join(modules, name));
  }
  return join(modules, 'fleetloom', 'dist', 'main.js');
}
