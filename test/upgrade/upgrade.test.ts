import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildProgram, MAIN } from '../../packages/cli/test-support/processes.ts';
import { type Cluster, openCluster } from '../nodes/cluster.ts';
import { openConnection } from '../nodes/database.ts';
import { Caller, toMessage, Work } from '../nodes/work.ts';
import { workThrough } from '../nodes/work-through.ts';
import { ownPostgres } from '../support/postgres.ts';
import { repositoryRoot } from '../support/root.ts';
import { isLong } from '../support/seed.ts';
import { startServe } from './start-serve.ts';
import { makeOldData, type OldData, readEvents, untilStatus } from './old-data.ts';
import { buildOldProgram } from './old-program.ts';

// What an earlier version has written is in the archives beside this file: its data directory, and a dump of its database. To make
// them again: `FLEETLOOM_RECORD=postgres://… npx vitest run test/upgrade`.

const ARCHIVES = join(repositoryRoot, 'test', 'upgrade', 'archives');
/** An empty database of a version that the installed `pg_dump` knows. */
const recording = process.env['FLEETLOOM_RECORD'];

beforeAll(buildProgram, 300_000);

it.runIf(recording !== undefined)(
  '[P140] the archives are made again by the earlier version',
  { timeout: 600_000 },
  async () => {
    const main = buildOldProgram();
    await mkdir(ARCHIVES, { recursive: true });
    for (const kind of ['directory', 'database']) {
      const folder = await temporary();
      const database = kind === 'database' ? recording : undefined;
      const server = await startServe(main, join(folder, 'data'), database);
      writeFileSync(join(folder, 'expected.json'), JSON.stringify(await makeOldData(server.url, server.key!)));
      expect(await server.stop()).toBe(0);
      if (database !== undefined) {
        const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '--schema=fleetloom', database]);
        writeFileSync(join(folder, 'dump.sql'), dump);
      }
      execFileSync('tar', ['-czf', join(ARCHIVES, `${kind}.tar.gz`), '-C', folder, '.']);
    }
  },
);

it.each(['directory', 'database'])(
  '[P140] a %s of an earlier version has its sessions, keys and files after an upgrade, and what waited or was at work continues',
  { timeout: 120_000 },
  async (kind) => {
    const folder = await temporary();
    execFileSync('tar', ['-xzf', join(ARCHIVES, `${kind}.tar.gz`), '-C', folder]);
    const database = kind === 'database' ? await restore(join(folder, 'dump.sql')) : undefined;
    const old = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8')) as OldData;
    const server = await startServe(MAIN, join(folder, 'data'), database);
    onTestFinished(async () => void (await server.kill()));
    await checkOldData(server.url, old);
    expect(await server.stop()).toBe(0);
  },
);

it.runIf(isLong)(
  '[P141] nodes of an earlier version are replaced one after the other while sessions run: nothing is lost or doubled; a node of the earlier version does not start on a newer schema',
  { timeout: 1_200_000 },
  async () => {
    const main = buildOldProgram();
    const cluster = await openCluster((await ownPostgres()).url, 3, { program: main });
    onTestFinished(() => cluster.close());
    const caller = new Caller(cluster.url, cluster.key);
    const old = await makeOldData(cluster.url, cluster.key);
    const happen = async () => {
      await pause(2_000);
      for (const node of cluster.nodes) {
        expect(await node.stop()).toBe(0);
        node.program = MAIN;
        await node.start();
        await pause(2_000);
      }
    };
    const { problems } = await workThrough({
      cluster,
      count: 18,
      create: (name, slot) =>
        new Work(caller, old.environment, name, { rounds: 16, chunks: 20, everyMs: 60, writes: slot % 6 === 0 }),
      happen,
      patienceMs: 300_000,
    });
    expect(problems).toEqual([]);
    await checkOldData(cluster.url, old);
    await refusesNewer(cluster, main);
  },
);

/** A node of the earlier version that is started on the schema of this one. */
async function refusesNewer(cluster: Cluster, main: string): Promise<void> {
  const [node] = cluster.nodes;
  await node!.stop();
  node!.program = main;
  await expect(node!.start()).rejects.toThrow('newer version of Fleetloom');
}

/** Compares what an earlier version returned with what this one returns, and continues each session. */
async function checkOldData(url: string, { key, file, sessions }: OldData): Promise<void> {
  const caller = new Caller(url, key);
  const { done, asks, works, delegates, archived } = sessions;
  for (const { id, title, events } of [done, asks, delegates, archived]) {
    expect(await readEvents(caller, id)).toEqual(events);
    expect(await caller.call('GET', `/v1/sessions/${id}`)).toMatchObject({ title });
    expect((await caller.replay(id)).length).toBeGreaterThan(2);
  }
  expect(await caller.call('GET', `/v1/sessions/${archived.id}`)).toMatchObject({ status: 'terminated' });
  expect(await caller.text(`/v1/files/${file}/content`)).toBe('uploaded before');
  const outputs = await caller.call<{ data: { id: string }[] }>('GET', `/v1/files?scope_id=${done.id}`);
  expect(await caller.text(`/v1/files/${outputs.data[0]!.id}/content`)).toBe('from before');

  // It was at work when the server was stopped.
  await untilStatus(caller, works.id, 'idle');
  expect((await readEvents(caller, works.id)).slice(0, works.events.length)).toEqual(works.events);
  expect(await textsOf(caller, works.id)).toEqual(['It went on']);
  // It waited for a decision.
  const call = asks.events.find(({ type }) => type === 'agent.tool_use')!;
  const allow = { type: 'user.tool_confirmation', tool_use_id: call.id, result: 'allow' };
  await caller.call('POST', `/v1/sessions/${asks.id}/events`, { events: [allow] });
  await expect.poll(() => textsOf(caller, asks.id), WAIT).toEqual(['Allowed']);
  await caller.call('POST', `/v1/sessions/${done.id}/events`, toMessage('More'));
  await expect.poll(async () => (await textsOf(caller, done.id)).at(-1), WAIT).toBe('An answer after the upgrade');
  const listed = await caller.call<{ data: { id: string }[] }>('GET', '/v1/fleet/sessions?limit=100');
  const ids = listed.data.map(({ id }) => id);
  for (const { id } of [done, asks, works, delegates]) expect(ids).toContain(id);
}

async function textsOf(caller: Caller, session: string): Promise<string[]> {
  const events = await readEvents(caller, session);
  const texts = events
    .filter(({ type }) => type === 'agent.message')
    .map(({ content }) => content as { text: string }[]);
  return texts.map((content) => content.map(({ text }) => text).join(''));
}

async function restore(dump: string): Promise<string> {
  const { url } = await ownPostgres();
  const connection = await openConnection(url);
  // Without the commands of psql.
  await connection.query((await readFile(dump, 'utf8')).replace(/^\\.*$/gm, ''));
  await connection.end();
  return url;
}

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-upgrade-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const WAIT = { timeout: 60_000 };
