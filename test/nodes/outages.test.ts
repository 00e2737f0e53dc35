import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { ownPostgres } from '../support/postgres.ts';
import { isLong } from '../support/seed.ts';
import { installed, withBalancer } from './balancers.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { holdTable, openConnection } from './database.ts';
import { probe, type Seen } from './probe.ts';
import { pause } from './work-through.ts';

let postgres: Postgres;
let cluster: Cluster;
let directory: string;
/** Nodes add what is in this file to their clock. */
let clockFile: string;
beforeAll(async () => {
  if (!isLong) return;
  buildProgram();
  directory = await mkdtemp(join(tmpdir(), 'fleetloom-outages-'));
  clockFile = join(directory, 'clock');
  const preload = join(directory, 'clock.mjs');
  await writeFile(clockFile, '0');
  await writeFile(preload, SHIFT_CLOCK);
  postgres = await ownPostgres();
  cluster = await openCluster(await createRole(), 3, {
    env: { NODE_OPTIONS: `--import ${preload}`, CLOCK_FILE: clockFile },
  });
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
});

interface Fault {
  readonly name: string;
  readonly apply: () => Promise<void>;
  /** The longest outage of reads and of writes, in milliseconds. */
  readonly reads: number;
  readonly writes: number;
  /** Whether rejections are fast and name a time for the next attempt. */
  readonly isRejected?: boolean;
}

const first = () => cluster.nodes[0]!;
/** Until nodes have noticed, and until they have noticed the end. */
const NOTICE_MS = 3_000;
const faults: readonly Fault[] = [
  { name: 'rolling SIGTERM', reads: 500, writes: 500, apply: () => restartAll() },
  {
    name: 'kill -9',
    reads: 500,
    writes: 1_000,
    apply: () =>
      first()
        .kill()
        .then(() => first().start()),
  },
  // A write is not sent to another node: it hangs until the client gives up, or the node continues.
  { name: 'a frozen node', reads: 6_000, writes: 25_000, apply: () => freeze(20_000) },
  // A write that was in progress waits for its outcome.
  { name: 'a node cut from its database', reads: 6_000, writes: 12_000, apply: () => cut([first()], 17_000) },
  { name: 'the database is down', reads: 25_000, writes: 25_000, isRejected: true, apply: () => halt(15_000) },
  {
    name: 'all nodes cut from the database',
    reads: 25_000,
    writes: 25_000,
    isRejected: true,
    apply: () => cut(cluster.nodes, 15_000),
  },
  { name: 'the database restarts', reads: 6_000, writes: 6_000, apply: () => postgres.restart('fast') },
  { name: 'the database crashes', reads: 8_000, writes: 12_000, apply: () => postgres.restart('immediate') },
  { name: 'terminated backends', reads: 1_500, writes: 1_500, apply: () => terminate() },
  { name: 'a locked table', reads: 1_500, writes: 18_000, apply: () => lock(16_000) },
  {
    name: 'no free connection of the database',
    reads: 25_000,
    writes: 25_000,
    isRejected: true,
    apply: () => refuseConnections(12_000),
  },
  { name: 'the clock of the nodes jumps ahead', reads: 1_500, writes: 1_500, apply: () => shiftClock(600_000) },
  { name: 'the clock of the nodes jumps back', reads: 1_500, writes: 1_500, apply: () => shiftClock(-600_000) },
];

// One after the other, on the same nodes: each has to find them as good as new. The disk of the nodes is in full-disk.test.ts.
describe.runIf(isLong)('a fault', () => {
  it.each(faults)(
    '[P146] $name: a client without retries behind the documented load balancer has an outage of at most $reads ms of reads and $writes ms of writes',
    { timeout: 180_000 },
    async ({ name, apply, reads, writes, isRejected = false }) => {
      await behindBalancer(async (url) => {
        const headers = { 'x-api-key': cluster.key, 'content-type': 'application/json' };
        const body = JSON.stringify({ name: 'e' });
        const send = (options: RequestInit) => () =>
          fetch(`${url}/v1/environments`, { ...options, headers, signal: AbortSignal.timeout(30_000) });
        const start = () => ({ reads: probe(send({})), writes: probe(send({ method: 'POST', body })) });
        // As slow as the machine is at this moment.
        const before = start();
        await pause(3_000);
        const calm = [await before.reads.end(), await before.writes.end()];
        const slowMs = 2 * Math.max(...calm.map(({ outageMs }) => outageMs));
        const probes = start();
        await pause(1_000);
        await apply();
        await pause(2 * NOTICE_MS);
        const seen = { reads: await probes.reads.end(), writes: await probes.writes.end() };
        const figures = `${name}: calm ${Math.round(slowMs / 2)} ms; reads ${show(seen.reads)}; writes ${show(seen.writes)}`;
        console.log(figures);
        expect(seen.reads.outageMs, figures).toBeLessThan(reads + slowMs);
        expect(seen.writes.outageMs, figures).toBeLessThan(writes + slowMs);
        expect([seen.reads.failures.get(500), seen.writes.failures.get(500)], figures).toEqual([undefined, undefined]);
        if (name === 'rolling SIGTERM') expect([...seen.reads.failures, ...seen.writes.failures], figures).toEqual([]);
        if (!isRejected) return;
        expect(seen.reads.failures.get(503), figures).toBeGreaterThan(5);
        expect(seen.reads.slowestRejectionMs, figures).toBeLessThan(NOTICE_MS + 2_000 + slowMs);
        // Those that were sent before the nodes had noticed.
        expect(seen.reads.withoutRetryAfter + seen.writes.withoutRetryAfter, figures).toBeLessThan(10);
      });
    },
  );
});

function show({ outageMs, failures, withoutRetryAfter, slowestRejectionMs }: Seen): string {
  const rejections = `slowest rejection ${Math.round(slowestRejectionMs)} ms, ${withoutRetryAfter} failures without retry-after`;
  return `${Math.round(outageMs)} ms, failures ${JSON.stringify([...failures])}, ${rejections}`;
}

/** The documented nginx where it is installed, otherwise a plain balancer. */
async function behindBalancer(run: (url: string) => Promise<void>): Promise<void> {
  const [balancer] = installed;
  if (balancer === undefined) await run(cluster.url);
  else await withBalancer(balancer, cluster, directory, run);
}

async function restartAll(): Promise<void> {
  for (const node of cluster.nodes) {
    expect(await node.stop()).toBe(0);
    await node.start();
    await pause(2_500);
  }
}

async function freeze(ms: number): Promise<void> {
  first().signal('SIGSTOP');
  await pause(ms);
  first().signal('SIGCONT');
}

async function cut(nodes: Cluster['nodes'], ms: number): Promise<void> {
  for (const { cable } of nodes) cable.cut();
  await pause(ms);
  for (const { cable } of nodes) cable.heal();
}

async function halt(ms: number): Promise<void> {
  await postgres.halt();
  await pause(ms);
  await postgres.resume();
}

async function terminate(): Promise<void> {
  const connection = await openConnection(postgres.url);
  await connection.query(TERMINATE);
  await connection.end();
}

async function lock(ms: number): Promise<void> {
  const held = await holdTable(postgres.url, 'environments');
  await pause(ms);
  await held.letGo();
}

/** The database accepts no connection of the nodes, as if others had taken all. */
async function refuseConnections(ms: number): Promise<void> {
  const connection = await openConnection(postgres.url);
  await connection.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
  await connection.query(TERMINATE);
  await pause(ms);
  await connection.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
  await connection.end();
}

async function shiftClock(ms: number): Promise<void> {
  await writeFile(clockFile, String(ms));
  await pause(8_000);
  await writeFile(clockFile, '0');
}

/** The address of the database for nodes: limits of connections do not apply to a superuser. */
async function createRole(): Promise<string> {
  const connection = await openConnection(postgres.url);
  await connection.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}'`);
  const url = Object.assign(new URL(postgres.url), { username: ROLE, password: ROLE });
  await connection.query(`GRANT CREATE ON DATABASE "${url.pathname.slice(1)}" TO ${ROLE}`);
  await connection.end();
  return url.href;
}

const ROLE = 'fleetloom_nodes';
const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

const SHIFT_CLOCK = `
  import { readFileSync } from 'node:fs';
  const now = Date.now;
  let offset = 0;
  setInterval(() => (offset = Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) || 0), 200).unref();
  Date.now = () => now() + offset;
`;
