import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { allChecks } from '../../packages/cli/src/conformance/all-checks.ts';
import { failuresOf, reportOn, SUITE_MS } from '../../packages/cli/src/conformance/conformance.suite.ts';
import { officialSdk } from '../../packages/cli/src/conformance/harness/official-sdk.ts';
import { sleeps, type Step, toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { buildProgram, startProgram } from '../../packages/cli/test-support/processes.ts';
import { sessionLimits } from '../../packages/server/src/sessions/core/limits.ts';
import { startServer } from '../../packages/server/src/server.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { ownPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { timeout } from '../support/seed.ts';
import { type Cluster, type Node, openCluster } from './cluster.ts';
import { checkOwnership, noteOwnership } from './ownership.ts';
import { countQueries, holdTable, openNumbers } from './database.ts';
import { runSql } from './run-sql.ts';
import { Caller, toEvent, toMessage, Work } from './work.ts';
import { pause, workThrough } from './work-through.ts';

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

const WAIT = { timeout: 20_000 };

it(
  '[P60] three nodes on one database behind a plain load balancer keep the whole contract',
  async () => {
    const report = await reportOn({ url: cluster.url, key: cluster.key }, officialSdk, allChecks);
    expect(failuresOf(report)).toEqual([]);
    // A node of a starved machine may reject requests, which the SDK repeats.
    const lines = cluster.nodes.flatMap((node) => node.stderr().split('\n'));
    expect(lines.filter((line) => line !== '' && !/rejected with 529 overloaded/.test(line))).toEqual([]);
  },
  SUITE_MS,
);

it('[P66] an unusable database is reported at the start, with what to do and without the password', async () => {
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
    ['mysql://x:wrong-secret@y/z', /not a PostgreSQL URL.*write it as postgres:\/\/user:password@host\/name/is],
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

it('[P111] a second process with the data directory of a live node, or with its node id, exits with 2, and a killed node restarts within a lease', async () => {
  const [node] = cluster.nodes as [Node];
  const copy = await mkdtemp(join(tmpdir(), 'fleetloom-copied-node-'));
  await copyFile(join(node.directory, 'node-id'), join(copy, 'node-id'));
  const start = (data: string) =>
    startProgram(['serve', '--json', '--port', '0', '--data', data], { FLEETLOOM_DATABASE: postgres.url });
  const [same, copied] = [start(node.directory), start(copy)];
  expect([await same.ended, await copied.ended]).toEqual([2, 2]);
  expect(same.out.stderr).toMatch(/another process uses the data directory .*: stop that process/i);
  expect(copied.out.stderr).toMatch(/another process that is alive has the node id node_.*remove the file node-id/i);
  await node.kill();
  const since = performance.now();
  await node.start();
  expect(performance.now() - since).toBeLessThan(sessionLimits.sharedLeaseMs);
  await rm(copy, { recursive: true, force: true });
});

it('[P67] a node is not ready while its database is unavailable, and ready again when it is back', async () => {
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

// Each has nodes of its own, and waits most of the time.
describe.concurrent('one node', () => {
  it('[P91] a node without its database rejects requests within a second, and its open streams continue when it is back', {
    timeout: 120_000,
  }, async ({ expect }) => {
    const [node, other] = cluster.nodes as [Node, Node];
    const there = new Caller(other.url, cluster.key);
    const { id: agent } = await there.call<{ id: string }>('POST', '/v1/agents', { name: 'o', model: 'scripted/echo' });
    const session = await there.call<{ id: string }>('POST', '/v1/sessions', { agent, environment_id: environmentId });
    const headers = { 'x-api-key': cluster.key, 'content-type': 'application/json' };
    const leaving = new AbortController();
    const open = async (path: string) => {
      const { body } = await fetch(`${node.url}${path}`, { headers, signal: leaving.signal });
      const stream = { received: '', isOver: false };
      const read = async () => {
        for await (const text of body!.pipeThrough(new TextDecoderStream())) stream.received += text;
      };
      read().then(
        () => (stream.isOver = true),
        () => (stream.isOver = true),
      );
      return stream;
    };
    const paths = [
      `/v1/sessions/${session.id}/events/stream`,
      `/v1/sessions/${session.id}/fleet`,
      '/v1/fleet?from=live',
    ];
    const streams = await Promise.all(paths.map(open));
    // The stream of all sessions sends its first id when it has found them; that of one session begins to read before that.
    await expect.poll(() => streams[2]!.received, WAIT).toContain('id: ');
    await pause(1_000);

    const send = async (method: string, path: string, body?: object) => {
      const since = performance.now();
      const response = await fetch(`${node.url}${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      const { error } = (await response.json()) as { error?: { details?: object } };
      return [response.status, response.headers.get('retry-after'), error?.details, performance.now() - since < 1_000];
    };
    const rejected = [503, '1', { error_code: 'database_unavailable' }, true];
    node.cable.cut();
    // A read at the beginning of the outage waits for as long as it takes to notice it.
    const [status, , details] = await send('GET', '/v1/sessions');
    expect([status, details]).toEqual([503, { error_code: 'database_unavailable' }]);
    await expect.poll(async () => (await fetch(`${node.url}/readyz`)).status, WAIT).toBe(503);
    // For longer than the store waits for its database.
    for (const until = performance.now() + 14_000; performance.now() < until; await pause(2_000)) {
      expect(await send('GET', `/v1/sessions/${session.id}`)).toEqual(rejected);
      expect(await send('POST', `/v1/sessions/${session.id}/events`, toMessage('Lost'))).toEqual(rejected);
      expect((await fetch(`${node.url}/healthz`)).status).toBe(200);
    }
    await there.call('POST', `/v1/sessions/${session.id}/events`, toMessage('Hello from elsewhere'));
    node.cable.heal();
    await expect.poll(async () => (await fetch(`${node.url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
    for (const [index, stream] of streams.entries()) {
      await expect.poll(() => stream.received, { timeout: 30_000, message: paths[index]! }).toContain('elsewhere');
      expect(stream.received).not.toContain('Lost');
    }
    await expect.poll(() => streams[0]!.received, WAIT).toContain('session.status_idle');
    expect(streams.map(({ isOver }) => isOver)).toEqual([false, false, false]);
    leaving.abort();
  });

  it('[P93] with --log json the problems of a node are JSON lines, such as those about its database', async ({
    expect,
  }) => {
    const { hostname, port } = new URL(postgres.url);
    const cable = await startTcpProxy({ host: hostname, port: Number(port) });
    const database = Object.assign(new URL(postgres.url), { hostname: '127.0.0.1', port: String(cable.port) }).href;
    const data = await mkdtemp(join(tmpdir(), 'fleetloom-json-'));
    const args = ['serve', '--json', '--log', 'json', '--unsandboxed-bash', '--port', '0', '--data', data];
    const running = startProgram(args, { FLEETLOOM_DATABASE: database });
    try {
      await running.saw(/"url":/);
      cable.cut();
      await running.saw(/cannot be reached/);
      cable.heal();
      await running.saw(/can be reached again/);
      type Line = { level: string; message: string; request_id: string | null };
      const lines = running.out.stderr.trimEnd().split('\n');
      const entries = lines.map((line) => JSON.parse(line) as Line);
      expect(new Set(entries.map(({ level, request_id: id }) => `${level} ${id}`))).toEqual(new Set(['error null']));
      expect(entries[0]!.message).toMatch(/^--unsandboxed-bash: /);
    } finally {
      running.child.kill('SIGKILL');
      await running.ended;
      await cable.close();
      await rm(data, { recursive: true, force: true });
    }
  });

  it('[P90] a node that is stopped serves requests for some seconds while it is not ready, then exits', async ({
    expect,
  }) => {
    const [, , node] = cluster.nodes as [Node, Node, Node];
    const stopped = node.stop();
    const ready = async () => ((await (await fetch(`${node.url}/readyz`)).json()) as { reason?: string }).reason;
    await expect.poll(ready, WAIT).toBe('stopping');
    const since = performance.now();
    await new Caller(node.url, cluster.key).call('GET', '/v1/sessions');
    expect(await stopped).toBe(0);
    expect(performance.now() - since).toBeGreaterThan(2_000);
    await node.start();
  });
});

it('[P65] a request to a node that does not own the session is executed by the owner', async () => {
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
  // H71: the next request to any node finds the session running.
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

it('[P73] a session whose creation is retried with its Idempotency-Key, after its node was killed, is created once', {
  timeout: 120_000,
}, async () => {
  const [first, second, third] = cluster.nodes as [Node, Node, Node];
  const body = { name: 'a', model: 'scripted/echo' };
  const agent = (await caller.call<{ id: string }>('POST', '/v1/agents', body)).id;
  const create = async (url: string, title: string) => {
    const response = await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { 'x-api-key': cluster.key, 'content-type': 'application/json', 'idempotency-key': title },
      body: JSON.stringify({ agent, environment_id: environmentId, title }),
    });
    return (await response.json()) as { id: string; title: string };
  };
  const made = async (title: string) => {
    const { data } = await new Caller(third.url, cluster.key).call<{ data: { id: string; title: string }[] }>(
      'GET',
      `/v1/sessions?agent_id=${agent}&limit=100`,
    );
    return data.filter((session) => session.title === title).map(({ id }) => id);
  };

  // The node is killed before its commit.
  const keys = await holdTable(postgres.url, 'idempotency_keys');
  const gone = create(first.url, 'before').catch(() => 'gone');
  await expect.poll(() => keys.countWaiting(), WAIT).toBe(1);
  await first.kill();
  await keys.endWaiting();
  await keys.letGo();
  expect(await gone).toBe('gone');
  const restarted = first.start();
  const repeats = await Promise.all([create(second.url, 'before'), create(third.url, 'before')]);
  expect(repeats.map(({ id }) => [id])).toEqual([await made('before'), await made('before')]);
  await restarted;

  // The node is killed after its commit, before the answer: it still holds its claim.
  const keysAgain = await holdTable(postgres.url, 'idempotency_keys');
  const unanswered = create(second.url, 'after').catch(() => 'gone');
  await expect.poll(() => keysAgain.countWaiting(), WAIT).toBe(1);
  const claims = await holdTable(postgres.url, 'documents');
  await keysAgain.letGo();
  await expect.poll(() => made('after'), WAIT).toHaveLength(1);
  await second.kill();
  await claims.letGo();
  expect(await unanswered).toBe('gone');
  expect([(await create(third.url, 'after')).id]).toEqual(await made('after'));
  await second.start();
});

it('[P74] a list of a hundred sessions takes as many queries as a list of one', { timeout: 120_000 }, async () => {
  const { id: agent } = await caller.call<{ id: string }>('POST', '/v1/agents', { name: 'l', model: 'scripted/echo' });
  const make = () => caller.call('POST', '/v1/sessions', { agent, environment_id: environmentId });
  for (let made = 0; made < 100; made += 20) await Promise.all(Array.from({ length: 20 }, make));
  // A node in this process, so that its queries can be counted.
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-counted-'));
  const server = await startServer({ dataDirectory, database: postgres.url });
  const list = async (limit: number) => {
    const queries = countQueries();
    const here = new Caller(server.url, cluster.key);
    const { data } = await here.call<{ data: object[] }>('GET', `/v1/sessions?agent_id=${agent}&limit=${limit}`);
    return { sessions: data.length, ...queries.end() };
  };
  try {
    expect(await list(1)).toMatchObject({ sessions: 1, ofResources: 1 });
    const { total, ...rest } = await list(100);
    expect(rest).toEqual({ sessions: 100, ofResources: 1 });
    // Periodic queries of the node are counted too.
    expect(total).toBeLessThan(50);
  } finally {
    await server.close();
    await rm(dataDirectory, { recursive: true, force: true });
  }
});

it('[P117, P118] 200 idle sessions cost a node at most 20 transactions a second, and updates of sessions leave most indexes alone', {
  timeout: 120_000,
}, async () => {
  const { id: agent } = await caller.call<{ id: string }>('POST', '/v1/agents', { name: 'i', model: 'scripted/echo' });
  const body = { agent, environment_id: environmentId, initial_events: [toEvent('Hello'), toEvent('Again')] };
  const begin = () => caller.call<{ id: string }>('POST', '/v1/sessions', body);
  const ids: string[] = [];
  while (ids.length < 200) {
    for (const { id } of await Promise.all(Array.from({ length: 20 }, begin))) ids.push(id);
  }
  const numbers = await openNumbers(postgres.url);
  onTestFinished(() => numbers.end());
  const own = ids.map((id) => `'${id}'`).join();
  const busy = `SELECT count(*) FROM fleetloom.sessions WHERE status <> 'idle' AND id IN (${own})`;
  await expect.poll(() => numbers.read(busy), WAIT).toBe(0);
  expect(await numbers.read('SELECT count(*) FROM fleetloom.logs WHERE owner IS NOT NULL')).toBeGreaterThanOrEqual(200);
  // At the connections: the statistics of the database are up to 10 s late.
  const countStatements = () => cluster.nodes.reduce((sum, { cable }) => sum + cable.statements, 0);
  const [before, since] = [countStatements(), performance.now()];
  await pause(4_000);
  const perSecond = (countStatements() - before) / ((performance.now() - since) / 1_000);
  const perNode = perSecond / cluster.nodes.length;
  expect(perNode).toBeLessThanOrEqual(20);
  const table = "pg_stat_user_tables WHERE schemaname = 'fleetloom' AND relname = 'sessions'";
  const share = `SELECT coalesce(n_tup_hot_upd::float8 / nullif(n_tup_upd, 0), 0) FROM ${table}`;
  await expect.poll(() => numbers.read(share), WAIT).toBeGreaterThan(0.3);
});

it('[P63] all nodes are restarted one after the other while sessions run: nothing is lost or doubled', {
  timeout: Math.max(timeout, 300_000),
}, async () => {
  const create = (name: number, slot: number) =>
    new Work(caller, environmentId, name, { rounds: 3, chunks: 20, everyMs: 60, writes: slot % 6 === 0 });
  const happen = async () => {
    await pause(1_000);
    for (const node of cluster.nodes) {
      expect(await node.stop()).toBe(0);
      await node.start();
    }
  };
  const { problems } = await workThrough({ cluster, count: 18, create, happen, patienceMs: 150_000 });
  expect(problems).toEqual([]);
  expect(checkOwnership(postgres.url).problems).toEqual([]);
});
