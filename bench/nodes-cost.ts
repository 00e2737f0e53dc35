import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createIdleSessions, runLoad } from './nodes-load.ts';
import { startDatabase, startServers } from './nodes-servers.ts';

interface Driver {
  readonly Client: new (
    url: string,
  ) => { connect(): Promise<void>; query(sql: string): Promise<{ rows: unknown[] }>; end(): Promise<void> };
}

const IDLE_SESSIONS = 5_000;
const IDLE_MS = 30_000;
/** How late counters of the database may be. */
const STATISTICS_MS = 11_000;
const LOAD = { sessions: 10, chunks: 400, everyMs: 10 };

/** Measures the CPU time that an event costs one node and its database: other processes of the machine do not count. */
export async function measureEventCost() {
  return await withNode(async (url, look) => {
    await runLoad([url], LOAD);
    const before = await look();
    const { events } = await runLoad([url], LOAD);
    const after = await look();
    return {
      nodeUs: ((after.nodeMs - before.nodeMs) / events) * 1_000,
      databaseUs: ((after.databaseMs - before.databaseMs) / events) * 1_000,
      walBytes: (after.walBytes - before.walBytes) / events,
    };
  });
}

/** Measures the cost of 5,000 idle sessions for their node, as a share of one core and in transactions per second. */
export async function measureIdleCost() {
  return await withNode(async (url, look) => {
    await createIdleSessions(url, IDLE_SESSIONS);
    await rest(STATISTICS_MS);
    const before = await look();
    await rest(IDLE_MS);
    const after = await look();
    return {
      cpuPercent: ((after.nodeMs - before.nodeMs) / IDLE_MS) * 100,
      transactionsPerSecond: ((after.transactions - before.transactions) / IDLE_MS) * 1_000,
    };
  });
}

interface Look {
  readonly nodeMs: number;
  readonly databaseMs: number;
  readonly walBytes: number;
  readonly transactions: number;
}

async function withNode<Result>(run: (url: string, look: () => Promise<Look>) => Promise<Result>): Promise<Result> {
  const database = await startDatabase();
  const servers = await startServers(1, database.url);
  const numbers = await openNumbers(database.url);
  try {
    const look = async () => ({ nodeMs: (await servers.look()).cpuMs, ...(await numbers.look()) });
    return await run(servers.urls[0]!, look);
  } finally {
    await numbers.end();
    await servers.close();
    await database.stop();
  }
}

async function openNumbers(url: string) {
  const { Client } = createRequire(join(process.cwd(), 'packages', 'server', 'package.json'))('pg') as Driver;
  const client = new Client(url);
  await client.connect();
  const one = async (sql: string) => Object.values((await client.query(sql)).rows[0] as object)[0] as string;
  const directory = await one('SHOW data_directory');
  const parent = Number((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return {
    look: async () => ({
      databaseMs: await readCpuMs(parent),
      walBytes: Number(await one("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")),
      transactions: Number(await one('SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database')),
    }),
    end: () => client.end(),
  };
}

/** The CPU time of a process and its children, also of those that have ended. */
async function readCpuMs(parent: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const times = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
      const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
      const own = Number(fields[11]) + Number(fields[12]);
      if (Number(pid) === parent) return own + Number(fields[13]) + Number(fields[14]);
      return Number(fields[1]) === parent ? own : 0;
    }),
  );
  return times.reduce((sum, time) => sum + time, 0) * 10;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
