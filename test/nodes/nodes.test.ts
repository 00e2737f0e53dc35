import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allChecks } from '../../packages/cli/src/conformance/all-checks.ts';
import { failuresOf, reportOn, SUITE_MS } from '../../packages/cli/src/conformance/conformance.suite.ts';
import { officialSdk } from '../../packages/cli/src/conformance/official-sdk.ts';
import { sleeps, type Step, toScript } from '../../packages/cli/src/conformance/script.ts';
import { buildProgram, startProgram } from '../../packages/cli/test-support/processes.ts';
import { limits } from '../../packages/server/src/base/limits.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { ownPostgres } from '../support/postgres.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { type Cluster, type Node, openCluster } from './cluster.ts';
import { checkOwnership, noteOwnership, runSql } from './ownership.ts';
import { Caller, type Task, toMessage, Work } from './work.ts';

let postgres: Postgres;
let cluster: Cluster;
let caller: Caller;
let environmentId: string;
beforeAll(async () => {
  buildProgram();
  postgres = await ownPostgres();
  cluster = await openCluster(postgres.url);
  noteOwnership(postgres.url);
  caller = new Caller(cluster.url, cluster.key);
  environmentId = (await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' })).id;
}, 300_000);
afterAll(() => cluster?.close());

const random = randomText();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sessions at work while something happens to the nodes; then everything about each of them has to be right. */
async function workThrough(count: number, toTask: (index: number) => Task, happen: () => Promise<void>): Promise<void> {
  const giveUp = new AbortController();
  setMaxListeners(0, giveUp.signal);
  const works = Array.from({ length: count }, (_, index) => new Work(caller, toTask(index)));
  const running = works.map(async (work, index) => {
    await pause(index * 20);
    await work.run(index, environmentId, giveUp.signal);
  });
  const all = Promise.all(running);
  try {
    await Promise.race([happen(), all.then(() => new Promise(() => {}))]);
    const late = pause(isLong ? 600_000 : 150_000).then(() => Promise.reject(toLate(works)));
    await Promise.race([all, late]);
  } finally {
    giveUp.abort();
    await Promise.allSettled(running);
  }
  const problems: string[] = [];
  for (const [index, work] of works.entries()) problems.push(...(await work.findProblems(index)));
  expect(problems).toEqual([]);
}

function toLate(works: readonly Work[]): Error {
  const open = works.filter(({ seen }) => seen.at(-1)?.type !== 'done');
  const told = cluster.nodes.map((node) => `${node.name}: ${node.told().slice(-2_000)}`).join('\n');
  return new Error(`${open.length} of ${works.length} sessions do not end, ${open[0]?.id} for one\n${told}`);
}

it(
  '[P60] three nodes on one database behind a plain load balancer keep the whole contract',
  async () => {
    const report = await reportOn({ url: cluster.url, key: cluster.key }, officialSdk, allChecks);
    expect(failuresOf(report)).toEqual([]);
    expect(cluster.nodes.map((node) => node.told())).toEqual(['', '', '']);
  },
  SUITE_MS,
);

it('[P66] a database that cannot be used is told at the start, with what to do and without the password', async () => {
  const good = new URL(postgres.url);
  const change = (over: Partial<Record<'port' | 'password' | 'pathname', string>>) =>
    Object.assign(new URL(good), over).href;
  runSql(good.href, 'CREATE DATABASE newer');
  const newer = change({ pathname: '/newer' });
  runSql(
    newer,
    'CREATE SCHEMA fleetloom; CREATE TABLE fleetloom.migrations (version int4 PRIMARY KEY, applied_at int8); INSERT INTO fleetloom.migrations VALUES (99, 0)',
  );
  const cases: readonly [string, RegExp][] = [
    [change({ port: '1' }), /cannot be used: .*ECONNREFUSED.*: start the database, and check host and port/],
    [change({ password: 'wrong-secret' }), /cannot be used: password authentication failed.*: check user and password/],
    [change({ pathname: '/nowhere' }), /"nowhere" does not exist: make it with `createdb`/],
    ['mysql://x:wrong-secret@y/z', /no address.*write it as postgres:\/\/user:password@host\/name/is],
    [newer, /use the version of Fleetloom that wrote it, or a newer one/],
  ];
  const ends = cases.map(async ([url, wanted], index) => {
    const data = join(tmpdir(), `fleetloom-no-node-${process.pid}-${index}`);
    const running = startProgram(['serve', '--json', '--port', '0', '--data', data], { FLEETLOOM_DATABASE: url });
    const code = await running.ended;
    await rm(data, { recursive: true, force: true });
    expect([code, running.out.stdout]).toEqual([2, '']);
    expect(running.out.stderr).toMatch(wanted);
    expect(running.out.stderr).not.toContain('wrong-secret');
  });
  await Promise.all(ends);
});

it('[P67] a node says that it is not ready while its database is away, and is ready again when it is back', async () => {
  const [node] = cluster.nodes as [Node];
  const ready = async () => {
    const response = await fetch(`${node.url}/readyz`);
    return [response.status, ((await response.json()) as { reason?: string }).reason];
  };
  expect(await ready()).toEqual([200, undefined]);
  node.cable.cut();
  await expect.poll(ready, { timeout: 20_000 }).toEqual([503, 'database']);
  node.cable.heal();
  await expect.poll(ready, { timeout: 30_000 }).toEqual([200, undefined]);
});

it('[P65] what is asked of a node that does not own the session is done by the one that does', async () => {
  const [here, there, third] = cluster.nodes.map(({ url }) => new Caller(url, cluster.key)) as [Caller, Caller, Caller];
  type Session = { id: string; status: string; title: string };
  const begin = async (turns: readonly (readonly Step[])[], tools: readonly object[] = []) => {
    const agent = { name: 'a', model: 'scripted/echo', system: toScript(turns), tools };
    const { id } = await here.call<{ id: string }>('POST', '/v1/agents', agent);
    const session = await there.call<Session>('POST', '/v1/sessions', { agent: id, environment_id: environmentId });
    await here.call('POST', `/v1/sessions/${session.id}/events`, toMessage('Go'));
    return session.id;
  };
  const statusIs = (caller: Caller, id: string, status: string) =>
    expect
      .poll(async () => (await caller.call<Session>('GET', `/v1/sessions/${id}`)).status, { timeout: 20_000 })
      .toBe(status);

  const busy = await begin([[sleeps], [{ say: 'x' }]]);
  // H71: whoever asks next, wherever, finds that it runs.
  expect((await third.call<Session>('GET', `/v1/sessions/${busy}`)).status).toBe('running');
  expect(await there.call('POST', `/v1/sessions/${busy}`, { title: 'New' })).toMatchObject({ title: 'New' });
  await expect(third.call('POST', `/v1/sessions/${busy}/archive`)).rejects.toThrow('running');
  await third.call('POST', `/v1/sessions/${busy}/events`, { events: [{ type: 'user.interrupt' }] });
  await statusIs(there, busy, 'idle');
  expect(await third.call('POST', `/v1/sessions/${busy}/archive`)).toMatchObject({ status: 'terminated' });
  await there.call('DELETE', `/v1/sessions/${busy}`);
  await expect(here.call('GET', `/v1/sessions/${busy}`)).rejects.toThrow('404');

  const path = '/mnt/session/outputs/out.txt';
  const writing = await begin(
    [[{ call: 'write', input: { file_path: path, content: 'From its disk' } }], [{ say: 'done' }]],
    [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
  );
  await statusIs(third, writing, 'idle');
  const events = await third.call<{ data: { id: string; type: string }[] }>('GET', `/v1/sessions/${writing}/events`);
  const use = events.data.find(({ type }) => type === 'agent.tool_use')!;
  const allow = { type: 'user.tool_confirmation', tool_use_id: use.id, result: 'allow' };
  await there.call('POST', `/v1/sessions/${writing}/events`, { events: [allow] });
  for (const node of [here, there, third]) {
    await statusIs(node, writing, 'idle');
    const { data } = await node.call<{ data: { id: string }[] }>('GET', `/v1/files?scope_id=${writing}`);
    expect(data).toHaveLength(1);
    expect(await node.text(`/v1/files/${data[0]!.id}/content`)).toBe('From its disk');
  }
});

it('[P63] all nodes are restarted one after the other while sessions run: nothing is lost or doubled', {
  timeout: Math.max(timeout, 300_000),
}, async () => {
  const task = (index: number): Task => ({ rounds: 3, chunks: 20, everyMs: 60, writes: index % 6 === 0 });
  await workThrough(18, task, async () => {
    await pause(1_000);
    for (const node of cluster.nodes) {
      expect(await node.stop()).toBe(0);
      await node.start();
    }
  });
  expect(checkOwnership(postgres.url).problems).toEqual([]);
});

it('[P64] nodes are killed, frozen for longer than their lease and cut off, and the database restarts: 0 lost, 0 doubled, 0 gaps, one owner at a time', {
  timeout: Math.max(timeout, 300_000),
}, async () => {
  const count = isLong ? 300 : 40;
  const rounds = isLong ? 60 : 8;
  const before = checkOwnership(postgres.url);
  const task = (index: number): Task => ({ rounds, chunks: 25, everyMs: 80, writes: index % 8 === 0 });
  await workThrough(count, task, async () => {
    await pause(1_500);
    const faults = [kill, freeze, cut, restartDatabase];
    // Each kind once, in any order; then by chance.
    const order = faults.toSorted(() => random.below(3) - 1);
    for (let fault = 0; fault < (isLong ? 120 : order.length); fault++) {
      // Every node in its turn: one of them may have all the sessions.
      await (order[fault] ?? random.pick(faults))(cluster.nodes[fault % cluster.nodes.length]!);
      await pause(500);
    }
  });
  const after = checkOwnership(postgres.url);
  console.log(
    `${after.appends - before.appends} appends, ${after.takeOvers - before.takeOvers} take-overs, troubles of clients ${JSON.stringify([...caller.troubles])}`,
  );
  expect(after.problems).toEqual([]);
  expect(after.takeOvers).toBeGreaterThan(before.takeOvers);
});

async function kill(node: Node): Promise<void> {
  await node.kill();
  await pause(random.below(2_000));
  await node.start();
}

async function freeze(node: Node): Promise<void> {
  node.signal('SIGSTOP');
  await pause(limits.sharedLeaseMs + 1_500);
  node.signal('SIGCONT');
}

async function cut(node: Node): Promise<void> {
  if (random.below(2) === 0) node.cable.cut();
  else node.cable.freeze();
  await pause(limits.sharedLeaseMs + random.below(2_000));
  node.cable.heal();
}

async function restartDatabase(): Promise<void> {
  await postgres.restart(random.below(2) === 0 ? 'immediate' : 'fast');
}
