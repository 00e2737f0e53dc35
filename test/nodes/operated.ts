import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { mountSmallDisk, type SmallDisk } from '../hostile/small-disk.ts';
import { ownPostgres } from '../support/postgres.ts';
import { installed, withBalancer } from './balancers.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { openConnection } from './database.ts';

/** Three nodes on a database of their own, with all that faults are applied to. */
export interface Operated {
  readonly cluster: Cluster;
  readonly postgres: Postgres;
  /** The address of the database for nodes. */
  readonly database: string;
  /** The role of the nodes in the database: limits of connections do not apply to a superuser. */
  readonly role: string;
  /** The disk of all nodes; undefined where none of their own can be mounted. */
  readonly disk: SmallDisk | undefined;
  /** Changes the clock of all nodes, in milliseconds. */
  readonly setClock: (ms: number) => Promise<void>;
  /** Runs with the URL of the documented nginx in front of the nodes; where it is not installed, of a plain load balancer. */
  readonly behindBalancer: (run: (url: string) => Promise<void>) => Promise<void>;
  close(): Promise<void>;
}

export async function openOperated(args: readonly string[] = []): Promise<Operated> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-operated-'));
  const clockFile = join(directory, 'clock');
  const preload = join(directory, 'clock.mjs');
  await writeFile(clockFile, '0');
  await writeFile(preload, SHIFT_CLOCK);
  const postgres = await ownPostgres();
  const disk = mountSmallDisk(DISK_MB);
  const nodes = disk?.directory ?? join(directory, 'nodes');
  await mkdir(nodes, { recursive: true });
  const database = await createRole(postgres.url);
  const cluster = await openCluster(database, 3, {
    args,
    directory: nodes,
    env: { NODE_OPTIONS: `--import ${preload}`, CLOCK_FILE: clockFile },
  });
  return {
    cluster,
    postgres,
    database,
    role: ROLE,
    disk,
    setClock: (ms) => writeFile(clockFile, String(ms)),
    behindBalancer: async (run) => {
      const nginx = installed.find(({ program }) => program === 'nginx');
      if (nginx === undefined) await run(cluster.url);
      else await withBalancer(nginx, cluster, directory, run);
    },
    close: async () => {
      await cluster.close();
      disk?.unmount();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const DISK_MB = 64;
const ROLE = 'fleetloom_nodes';

/** The address of the database for nodes. */
async function createRole(database: string): Promise<string> {
  const connection = await openConnection(database);
  await connection.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}'`);
  const url = Object.assign(new URL(database), { username: ROLE, password: ROLE });
  await connection.query(`GRANT CREATE ON DATABASE "${url.pathname.slice(1)}" TO ${ROLE}`);
  await connection.end();
  return url.href;
}

const SHIFT_CLOCK = `
  import { readFileSync } from 'node:fs';
  const now = Date.now;
  let offset = 0;
  setInterval(() => (offset = Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) || 0), 200).unref();
  Date.now = () => now() + offset;
`;
