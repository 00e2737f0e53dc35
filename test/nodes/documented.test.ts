import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildProgram, NODE_SECRET } from '../../packages/cli/test-support/processes.ts';
import { createProcessIo } from '../../packages/cli/src/base/process-io.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { limits } from '../../packages/server/src/limits.ts';
import { metricCatalog } from '../../packages/server/src/metrics/catalog.ts';
import { ownPostgres } from '../support/postgres.ts';
import { repositoryRoot } from '../support/root.ts';
import { openCluster } from './cluster.ts';
import { openConnection } from './database.ts';
import { Caller, toMessage } from './work.ts';

// What an operator types who follows docs/scaling.md, docs/operations.md and docs/runbook.md.

const PAGES = ['scaling.md', 'operations.md', 'runbook.md'] as const;
const pages = Object.fromEntries(PAGES.map((name) => [name, read(join('docs', name))])) as Record<Page, string>;
type Page = (typeof PAGES)[number];

beforeAll(buildProgram, 300_000);

it('[P143] the options, variables, metrics and files that the pages for operators name exist', () => {
  const serve = createProgram(createProcessIo(), () => {}).commands.flatMap((command) => [
    command,
    ...command.commands,
  ]);
  const options = new Set(serve.flatMap((command) => command.options.map(({ long }) => long)));
  const variables = read('packages/cli/src/program.ts') + read('packages/cli/src/config/read-secret-files.ts');
  for (const [page, text] of Object.entries(pages)) {
    const ours = [...text.matchAll(/`(--[a-z-]+)[^`]*`/g)].map(([, option]) => option!);
    expect(
      ours.filter((option) => !options.has(option)),
      page,
    ).toEqual([]);
    const metrics = [...text.matchAll(/\bfleetloom_\w+/g)].map(([name]) => name);
    expect(
      metrics.filter((name) => !Object.hasOwn(metricCatalog, name)),
      page,
    ).toEqual([]);
    const set = [...text.matchAll(/\bFLEETLOOM_[A-Z_]+/g)].map(([name]) => name.replace(/_FILE$/, ''));
    const known = (name: string) => variables.includes(name) || name.startsWith('FLEETLOOM_LONG');
    expect(
      set.filter((name) => !known(name)),
      page,
    ).toEqual([]);
  }
});

it('[P204] the numbers that the pages for operators name are those of the limits', () => {
  const seconds = (ms: number) => `${ms / 1_000} s`;
  const count = (value: number) => value.toLocaleString('en-US');
  const { work, reads } = limits.admission;
  const stated: Readonly<Record<Exclude<Page, 'runbook.md'>, readonly string[]>> = {
    'scaling.md': [
      `within ${seconds(limits.nodeClaimMs)} with a copy of it`,
      `waits: ${seconds(limits.homeGoneMs)}, or the time set with \`--workspace-wait\` (the same for all nodes, at least ${seconds(limits.nodeAliveMs)})`,
      `tools may finish for ${seconds(limits.toolStopMsMax)}`,
      `when its lease (${seconds(limits.sharedLeaseMs)}) has expired`,
      `writes in progress wait up to ${seconds(limits.databasePatienceMs)}`,
      `noticed within ${seconds(limits.databaseProbeMs + limits.readyMs)}`,
      `checks the database every second and waits ${seconds(limits.readyMs)} for the answer`,
      `a heartbeat every ${seconds(limits.streamPingMs)}`,
      `deltas within ${limits.deltaWindowMs} ms are merged into one`,
      `${limits.databaseConnectionsMax} for reads and records`,
      `(\`--max-sessions\`, ${count(limits.busySessionsMax)})`,
    ],
    'operations.md': [
      `an owner that does not respond within ${seconds(limits.healthWaitMs)} is named`,
      `\`ulimit -n\`, read again every 5 s), at most ${count(limits.connectionsMax)};`,
      `at most ${limits.environmentKeysMax} environment keys, ${count(limits.uploadsMax)} uploaded files and ${count(limits.loginsMax)} signed-in browsers; a key has at most ${count(limits.streamsPerKeyMax)} open streams`,
      `limited to ${count(limits.apiKeysMax)} for the server`,
      `A lookup ends after ${seconds(limits.dnsLookupMs)}; a session has ${limits.dnsLookupsPerSessionMax} at a time, a server ${limits.dnsLookupsMax}.`,
      `sends no headers for ${seconds(limits.headersTimeoutMs)}, or no complete request for ${seconds(limits.requestTimeoutMs)}`,
      `reads nothing of a response for ${seconds(limits.answerStallMs)}`,
      `the connection is closed after ${seconds(limits.lingerMs)}`,
      `${limits.pipelinedRequestsMax} are read ahead`,
      `they wait for at most ${seconds(work.waitMs)}`,
      `a \`retry-after\` of 1 to ${seconds(limits.admissionRetrySecondsMax * 1_000)}`,
      `after at most ${seconds(reads.waitMs)}, only when there are too many reads`,
    ],
  };
  for (const [page, sentences] of Object.entries(stated)) {
    const text = pages[page as Page].replaceAll(/\s+/g, ' ');
    expect(
      sentences.filter((each) => !text.includes(each)),
      page,
    ).toEqual([]);
  }
});

it('[P205] each section of the pages for operators has rules in the table of statements', () => {
  const table = read('test/nodes/README.md');
  for (const [page, text] of Object.entries(pages)) {
    if (page === 'runbook.md') continue;
    const sections = [...text.matchAll(/^##+ (.+)$/gm)].map(([, title]) => title!);
    const isProved = (title: string) =>
      new RegExp(`^\\| ${page.replace('.md', '')}: ${escape(title)} \\| [A-Z]+\\d+`, 'm').test(table);
    expect(
      sections.filter((title) => !isProved(title) && !PROSE.has(title)),
      page,
    ).toEqual([]);
  }
});

const escape = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Figures of a model, and a design: nothing of them can be run. */
const PROSE = new Set(['10, 100 and 1,000 nodes', 'Sharding over several databases']);

it('[P143] the rules that the table of statements cites exist', () => {
  const rules = ['server', 'cli'].map((name) => read(`packages/${name}/SPEC.md`)).join('\n');
  const cited = read('test/nodes/README.md').match(/\b[A-Z]{1,2}\d+\b/g)!;
  expect(cited.filter((rule) => !rules.includes(`- **${rule}**`))).toEqual([]);
});

it('[P143] the rules that the table of secrets and egress cites exist', () => {
  const rules = `${read('packages/server/SPEC.md')}${read('packages/cli/SPEC.md')}`;
  const cited = read('test/server/vaults/README.md').match(/\b(?:VT|EG|ID|P)\d+\b/g)!;
  expect(cited.filter((rule) => !rules.includes(`- **${rule}**`))).toEqual([]);
});

it('[P144] the requests of the pages for operators are answered by a node, and their SQL runs on its database and does what they say', {
  timeout: 120_000,
}, async () => {
  const statements = PAGES.flatMap((page) => sqlOf(pages[page]));
  // Each of them is known here: a new one needs a line below.
  expect(statements).toEqual([
    "DELETE FROM fleetloom.documents WHERE kind = 'secret'",
    'VACUUM (FULL) fleetloom.<table>',
    'CHECKPOINT',
    'SELECT 1',
    'SELECT pid, wait_event_type, state, now() - query_start, left(query, 80) FROM pg_stat_activity ORDER BY 4 DESC',
    'SELECT * FROM pg_locks WHERE NOT granted',
  ]);
  const [forgetSecret, vacuum, checkpoint, one, activity, locks] = statements as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const postgres = await ownPostgres();
  const cluster = await openCluster(postgres.url, 1);
  onTestFinished(() => cluster.close());
  const [node] = cluster.nodes;
  const caller = new Caller(node!.url, cluster.key);
  const { id: agent } = await caller.call<{ id: string }>('POST', '/v1/agents', { name: 'a', model: 'scripted/echo' });
  const { id: environment_id } = await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' });
  const { id } = await caller.call<{ id: string }>('POST', '/v1/sessions', { agent, environment_id });
  await caller.call('POST', `/v1/sessions/${id}/events`, toMessage('Hello'));
  await caller.call('GET', `/v1/sessions/${id}`);

  const paths = new Set(PAGES.flatMap((page) => pathsOf(pages[page])));
  expect(paths).toContain('/v1/fleet/load');
  for (const path of paths) {
    const leaving = new AbortController();
    const headers = { 'x-api-key': cluster.key };
    const url = `${node!.url}${path.replace('{id}', id)}`;
    const { status } = await fetch(url, { headers, signal: leaving.signal });
    leaving.abort();
    expect(status, path).toBe(200);
  }

  const connection = await openConnection(postgres.url);
  onTestFinished(() => connection.end());
  expect(await connection.query(one)).toHaveLength(1);
  expect((await connection.query(activity)).length).toBeGreaterThan(2);
  const lock = await openConnection(postgres.url);
  await lock.query('BEGIN; LOCK TABLE fleetloom.agents IN EXCLUSIVE MODE');
  const made = caller.call('POST', '/v1/agents', { name: 'b', model: 'scripted/echo' });
  await expect.poll(() => connection.query(locks), { timeout: 20_000 }).not.toEqual([]);
  await lock.query('ROLLBACK');
  await lock.end();
  await made;

  // The secret was lost: the nodes are stopped, and start with another one.
  expect(await node!.stop()).toBe(0);
  const tables = (await connection.query(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'fleetloom' ORDER BY 1",
  )) as { tablename: string }[];
  for (const { tablename } of tables) await connection.query(vacuum.replace('<table>', tablename));
  await connection.query(checkpoint);
  node!.env = { FLEETLOOM_SECRET: `${NODE_SECRET} another one` };
  await expect(node!.start()).rejects.toThrow('FLEETLOOM_SECRET');
  await connection.query(forgetSecret);
  await node!.start();
  expect(await caller.call('GET', `/v1/sessions/${id}`)).toMatchObject({ id });
});

/** The paths that are read. */
function pathsOf(text: string): string[] {
  const paths = [...text.matchAll(/(POST |DELETE |)(\/(?:healthz|readyz|metrics|v1\/[a-z_/{}]+))(?=[`\s"?])/g)];
  return paths.filter(([, method]) => method === '').map(([, , path]) => path!);
}

function sqlOf(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => /-c '(.*)'$/.exec(code!)?.[1] ?? code!);
  return quoted.filter((code) => /^(SELECT .|DELETE FROM|VACUUM|CHECKPOINT)/.test(code));
}

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}
