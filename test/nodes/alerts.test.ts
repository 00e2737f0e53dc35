import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, open, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type Step, toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { buildProgram, cleanEnv, MAIN } from '../../packages/cli/test-support/processes.ts';
import { metricCatalog, type MetricDescription } from '../../packages/server/src/metrics/catalog.ts';
import { type Postgres, startPostgres } from '../../scripts/support/postgres.mjs';
import { AlertWatch, readAlertRules } from '../support/promql/alert-watch.ts';
import { parseText, SeriesStore } from '../support/promql/series-store.ts';
import { isLong } from '../support/seed.ts';
import { type Cluster, type Node, openCluster } from './cluster.ts';
import { holdTable } from './database.ts';
import { Caller, toMessage } from './work.ts';
import { pause } from './work-through.ts';

/** Durations of the rules are divided by this: a minute of them takes 1 s here, and a scrape is due every 0.25 s. */
const SCALE = 60;
const SCRAPE_MS = 250;
const SCRAPE_TIMEOUT_MS = 1_000;
const QUIET_MS = 6_000;
const QUIET_ATTEMPTS_MAX = isLong ? 5 : 2;
/** So late is a timer, and so long takes a write to the disk, only on a machine that is much too busy. */
const STILL_MS = 150;
/** Alerts that nodes answer late, or not in time for a scrape or a lease. */
const LATE: ReadonlySet<string> = new Set([
  'FleetloomNodeDown',
  'FleetloomEventLoopLate',
  'FleetloomCommitsStuck',
  'FleetloomCommitsSlow',
  'FleetloomConnectionsExhausted',
  'FleetloomOverloaded',
  'FleetloomLeasesLost',
  'FleetloomSessionsTakenOver',
]);
/** A threshold that is a time of minutes, and a range that has to be longer than a node is down on a busy machine. */
const changes: Readonly<Record<string, readonly [string, string]>> = {
  FleetloomWebhookBehind: ['> 300', '> 4'],
  FleetloomNodeRestarted: ['[15m]', '[120m]'],
};
const rules = readAlertRules((name, expr) => expr.replace(...(changes[name] ?? ['', ''])));

const catalog: Readonly<Record<string, MetricDescription | undefined>> = metricCatalog;

/** A webhook that can fail, and a model endpoint that is always busy. */
const others = { isReceiving: true };
const receiver = createServer((_, response) => response.writeHead(others.isReceiving ? 200 : 500).end());
const endpoint = createServer((_, response) => response.writeHead(429, { 'retry-after': '600' }).end('{}'));

let postgres: Postgres;
let cluster: Cluster;
let prometheus: Prometheus;
let caller: Caller;
let environmentId: string;
beforeAll(buildProgram, 300_000);
// New nodes for each attempt: the ranges of the rules reach back into an attempt before, which no quiet run outlasts.
beforeEach(async () => {
  postgres = await startPostgres();
  others.isReceiving = true;
  const [webhook, models] = await Promise.all([receiver, endpoint].map(listen));
  cluster = await openCluster(postgres.url, 2, {
    args: ['--webhook', webhook!, '--model-base-url', models!, '--max-sessions', '7', '--workspace-wait', '20'],
    env: { ANTHROPIC_API_KEY: 'any' },
  });
  caller = new Caller(cluster.url, cluster.key);
  environmentId = (await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' })).id;
  prometheus = new Prometheus(cluster.nodes.map(({ url }) => url));
}, 300_000);
afterEach(async () => {
  await prometheus?.close();
  await cluster?.close();
  await postgres?.stop();
  for (const server of [receiver, endpoint]) {
    server.close();
    server.closeAllConnections();
  }
});

it('[P120, P121] nodes have the metrics of the catalog; a quiet run raises no alert, and each fault raises its alerts', {
  timeout: 300_000,
}, async () => {
  await checkMetrics();
  await checkQuiet();
  prometheus.alerts.fired.clear();
  if (!isLong) return await killAndCut();
  await failOthers();
  await killWithFiles();
  await freezeAndCut();
  await lockTables();
  expect([...prometheus.alerts.fired].toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
});

/** The metrics of a node are those of the catalog, with its types and labels. */
async function checkMetrics(): Promise<void> {
  const read = () => prometheus.read(cluster.nodes[0]!.url);
  const text = await vi.waitUntil(read, { timeout: 60_000, interval: 200 });
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
  expect(Object.fromEntries(types)).toEqual(
    Object.fromEntries(Object.entries(metricCatalog).map(([name, { type }]) => [name, type])),
  );
  for (const { labels } of parseText(text)) {
    const { __name__: name = '', le: _, ...own } = labels;
    const described = catalog[name] ?? catalog[name.replace(/_(bucket|sum|count)$/, '')];
    expect(Object.keys(own), name).toEqual(described?.labels ?? []);
  }
}

/** The short form: a node is killed with sessions at work, then it loses its database while clients still ask it. */
async function killAndCut(): Promise<void> {
  const [first] = cluster.nodes as [Node];
  await begin([[{ sleep_ms: 7_000 }]], new Caller(first.url, cluster.key), 4);
  await first.kill();
  await raised('FleetloomNodeDown', 'FleetloomSessionsTakenOver');
  await first.start();
  first.cable.cut();
  const asked = askOn(first);
  await raised('FleetloomNodeRestarted', 'FleetloomDatabaseUnreachable', 'FleetloomRequestsFail');
  first.cable.heal();
  await asked.end();
}

/** A webhook fails, models fail or are busy, there are more sessions than the nodes may run, and the disk of a server is full. */
async function failOthers(): Promise<void> {
  const [first] = cluster.nodes as [Node];
  const here = new Caller(first.url, cluster.key);
  others.isReceiving = false;
  const failing: Step[] = [{ fail: { status: 529, times: 4, retry_after_s: 0.1 } }, { say: 'late' }];
  const model = await agentOf('claude-a', []);
  await start(model, here);
  await Promise.all(Array.from({ length: 8 }, () => begin([failing])));
  // The endpoint has asked for a pause by then, and the next request waits.
  const limited = /fleetloom_model_requests_total\{outcome="rate_limited"\} [1-9]/;
  await expect.poll(() => prometheus.read(first.url), { timeout: 30_000 }).toMatch(limited);
  await start(model, here);
  await Promise.all([
    raised('FleetloomModelRetries', 'FleetloomModelRequestsWait', 'FleetloomWebhookBehind'),
    fillDisk().then(() => raised('FleetloomDiskFull')),
    begin([[{ sleep_ms: 4_000 }]], caller, 20).then(() => raised('FleetloomSessionsWithoutOwner')),
  ]);
  others.isReceiving = true;
  await idle();
}

/** A node is killed with sessions at work, one of them with files on its disk. */
async function killWithFiles(): Promise<void> {
  const [first] = cluster.nodes as [Node];
  const here = new Caller(first.url, cluster.key);
  const files = [{ type: 'agent_toolset_20260401' }];
  const write: Step = { call: 'write', input: { file_path: '/mnt/session/outputs/x.txt', content: 'x' } };
  await start(await agentOf('scripted/echo', [[write], [{ sleep_ms: 20_000 }]], files), here);
  await begin([[{ sleep_ms: 7_000 }]], here, 4);
  await pause(1_500);
  await first.kill();
  await raised('FleetloomNodeDown', 'FleetloomSessionsTakenOver', 'FleetloomSessionsWaitForNode');
  await first.start();
}

/** A node stands still for longer than a lease, and the other one loses its database while clients still ask it. */
async function freezeAndCut(): Promise<void> {
  const [first, second] = cluster.nodes as [Node, Node];
  await begin([[{ sleep_ms: 10_000 }]], new Caller(second.url, cluster.key));
  second.signal('SIGSTOP');
  first.cable.cut();
  const asked = askOn(first);
  await Promise.all([
    pause(6_500).then(() => second.signal('SIGCONT')),
    raised(
      'FleetloomNodeRestarted',
      'FleetloomDatabaseUnreachable',
      'FleetloomDatabaseErrors',
      'FleetloomRequestsFail',
    ),
  ]);
  first.cable.heal();
  await asked.end();
  await raised('FleetloomEventLoopLate', 'FleetloomLeasesLost');
}

/** Tables are locked: reads pass, and writes wait until they fail; then they only take long. A session writes all the time. */
async function lockTables(): Promise<void> {
  const [first] = cluster.nodes as [Node];
  await begin([[{ say: 'word '.repeat(4_000), chunks: 4_000, every_ms: 50 }]], new Caller(first.url, cluster.key));
  const creating = createOn(first);
  const lock = () => Promise.all(['logs', 'documents'].map((table) => holdTable(postgres.url, table)));
  const unlock = (held: Awaited<ReturnType<typeof lock>>) => Promise.all(held.map((table) => table.letGo()));
  const held = await lock();
  await raised('FleetloomCommitsStuck', 'FleetloomOverloaded', 'FleetloomConnectionsExhausted', 'FleetloomCommitsFail');
  await unlock(held);
  const slow = raised('FleetloomCommitsSlow');
  for (let isSlow = true; isSlow; ) {
    const again = await lock();
    isSlow = await Promise.race([slow.then(() => false), pause(1_500).then(() => true)]);
    await unlock(again);
    await pause(300);
  }
  await creating.end();
}

/** A run with ordinary work raises no alert. */
async function checkQuiet(): Promise<void> {
  const { fired } = prometheus.alerts;
  let wasStill = await workQuietly();
  for (let attempt = 1; wasStill && fired.size > 0 && attempt < QUIET_ATTEMPTS_MAX; attempt++) {
    // The ranges of the rules reach back into this attempt.
    await pause(QUIET_MS);
    fired.clear();
    wasStill = await workQuietly();
  }
  // On a machine that stands still itself, nodes are late, and an alert that says so is right.
  expect([...fired].filter((name) => !wasStill || !LATE.has(name))).toEqual([]);
}

/**
 * As long as the longest range of a rule but that of restarts. True if this process or the disk stood still in that time: so did
 * the nodes.
 */
async function workQuietly(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-quiet-'));
  const file = await open(join(directory, 'file'), 'w');
  let latestMs = 0;
  for (const until = performance.now() + QUIET_MS; performance.now() < until; ) {
    await begin([[{ say: 'Hello there', chunks: 5, every_ms: 20 }]]);
    const since = performance.now();
    await pause(200);
    latestMs = Math.max(latestMs, performance.now() - since - 200);
    const writtenAt = performance.now();
    await file.appendFile('x');
    await file.sync();
    latestMs = Math.max(latestMs, performance.now() - writtenAt);
  }
  await file.close();
  await rm(directory, { recursive: true });
  return latestMs >= STILL_MS;
}

/** A server whose disk takes no more, and clients that write to it. */
async function fillDisk(): Promise<void> {
  const { url, key } = await startWithFileLimit(8_000);
  prometheus.add(url, key);
  await pause(2 * SCRAPE_MS);
  const body = JSON.stringify({ name: 'a', model: 'scripted/echo', system: 'x'.repeat(90_000) });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const post = async () => (await fetch(`${url}/v1/agents`, { method: 'POST', headers, body })).status;
  await expect.poll(post, { timeout: 30_000, interval: 5 }).toBe(507);
}

/** Waits until these alerts have been raised by what happened since the quiet run. */
async function raised(...names: readonly string[]): Promise<void> {
  const missing = () => names.filter((name) => !prometheus.alerts.fired.has(name));
  await expect.poll(missing, { timeout: 100_000, interval: 100 }).toEqual([]);
}

async function agentOf(model: string, turns: readonly (readonly Step[])[], tools: readonly object[] = []) {
  const agent = { name: 'a', model, tools, ...(turns.length === 0 ? {} : { system: toScript(turns) }) };
  return (await caller.call<{ id: string }>('POST', '/v1/agents', agent)).id;
}

async function start(agent: string, through = caller): Promise<void> {
  const { id } = await through.call<{ id: string }>('POST', '/v1/sessions', { agent, environment_id: environmentId });
  await through.call('POST', `/v1/sessions/${id}/events`, toMessage('Go'));
}

/** Starts sessions that play these turns. */
async function begin(turns: readonly (readonly Step[])[], through = caller, count = 1): Promise<void> {
  const agent = await agentOf('scripted/echo', turns);
  await Promise.all(Array.from({ length: count }, () => start(agent, through)));
}

/** Until no session of a script is at work; the two whose endpoint is busy wait on. */
async function idle(): Promise<void> {
  const running = async () => {
    const { data } = await caller.call<{ data: { status: string }[] }>('GET', '/v1/sessions?limit=100');
    return data.filter(({ status }) => status === 'running').length;
  };
  await expect.poll(running, { timeout: 60_000, interval: 200 }).toBeLessThanOrEqual(2);
}

/** Reads of a node, whatever they give. */
function askOn({ url }: Node) {
  return repeat(4, async () => {
    await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': cluster.key } }).then((response) => response.text());
  });
}

/** New work for a node from more clients than it lets in at a time, whatever comes of it. */
function createOn({ url }: Node) {
  const headers = { 'x-api-key': cluster.key, 'content-type': 'application/json' };
  const body = JSON.stringify({ agent: 'agent_none', environment_id: environmentId });
  return repeat(60, async () => {
    await Promise.all([
      fetch(`${url}/v1/environments`, { method: 'POST', headers, body: JSON.stringify({ name: 'e' }) }),
      fetch(`${url}/v1/sessions`, { method: 'POST', headers, body }),
    ]);
  });
}

function repeat(clients: number, run: () => Promise<void>) {
  const over = new AbortController();
  const loop = async () => {
    for (; !over.signal.aborted; await pause(50)) await run().catch(() => {});
  };
  const loops = Promise.all(Array.from({ length: clients }, loop));
  return {
    end: async () => {
      over.abort();
      await loops;
    },
  };
}

/** A server whose files may have so many blocks of 1,024 bytes: to it that is a full disk. */
async function startWithFileLimit(blocks: number): Promise<{ url: string; key: string }> {
  const data = await mkdtemp(join(tmpdir(), 'fleetloom-full-'));
  const command = `ulimit -f ${blocks}; exec "$0" "$@"`;
  const args = ['-c', command, process.execPath, MAIN, 'serve', '--json', '--port', '0', '--data', data];
  const child = spawn('bash', args, { env: cleanEnv(), stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(data, { recursive: true, force: true });
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return JSON.parse(line) as { url: string; key: string };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Scrapes nodes and evaluates the rules, as a Prometheus does. */
class Prometheus {
  readonly #store = new SeriesStore();
  readonly alerts = new AlertWatch(this.#store, rules, SCALE);
  readonly #targets: { url: string; key: string }[];
  readonly #loop: Promise<void>;
  #isClosed = false;

  constructor(urls: readonly string[]) {
    this.#targets = urls.map((url) => ({ url, key: cluster.key }));
    this.#loop = this.#run();
  }

  add(url: string, key: string): void {
    this.#targets.push({ url, key });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loop;
  }

  /** Undefined if the node does not answer in time. */
  async read(url: string, key = cluster.key): Promise<string | undefined> {
    const signal = AbortSignal.timeout(SCRAPE_TIMEOUT_MS);
    const response = await fetch(`${url}/metrics`, { headers: { 'x-api-key': key }, signal }).catch(() => undefined);
    return response?.ok === true ? await response.text().catch(() => undefined) : undefined;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await Promise.all(
        this.#targets.map(async ({ url, key }) => {
          const text = await this.read(url, key);
          this.#store.scrape({ instance: url, job: 'fleetloom' }, Date.now(), text);
        }),
      );
      this.alerts.evaluate(Date.now());
      await pause(SCRAPE_MS);
    }
  }
}
