import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { holdTable, openConnection } from './database.ts';
import type { Operated } from './operated.ts';
import { pause } from './work-through.ts';

export type FaultName = keyof typeof faults;

/** The thirteen faults of an operator. Each resolves when it is over; those that last do so for the given time. */
export const faults = {
  'rolling SIGTERM': async ({ cluster, ms }) => {
    for (const node of cluster.nodes) {
      expect(await node.stop()).toBe(0);
      await node.start();
      await pause(ms);
    }
  },
  'kill -9': async ({ node }) => {
    await node.kill();
    await node.start();
  },
  'a frozen node': async ({ node, ms }) => {
    node.signal('SIGSTOP');
    await pause(ms);
    node.signal('SIGCONT');
  },
  'a node cut from its database': ({ node, ms }) => cut([node], ms),
  'the database is down': async ({ postgres, ms }) => {
    await postgres.halt();
    await pause(ms);
    await postgres.resume();
  },
  'the database restarts': ({ postgres }) => postgres.restart('fast'),
  'the database crashes': ({ postgres }) => postgres.restart('immediate'),
  'terminated backends': ({ postgres }) => query(postgres.url, TERMINATE),
  'a locked table': async ({ postgres, table, ms }) => {
    const held = await holdTable(postgres.url, table);
    await pause(ms);
    await held.letGo();
  },
  // As if other clients of the database had taken all connections.
  'no free connection of the database': async ({ postgres, role, ms }) => {
    await query(postgres.url, `ALTER ROLE ${role} CONNECTION LIMIT 0`, TERMINATE);
    await pause(ms);
    await query(postgres.url, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
  },
  'the clock of the nodes jumps ahead': (scene) => shiftClock(scene, CLOCK_MS),
  'the clock of the nodes jumps back': (scene) => shiftClock(scene, -CLOCK_MS),
  'a full disk': async ({ disk, ms }) => {
    if (disk === undefined) return;
    const filler = fillDisk(disk.directory);
    await pause(ms);
    filler.end();
  },
} satisfies Readonly<Record<string, (scene: Scene) => Promise<void>>>;

/** What a fault is applied to, and for how long. */
export interface Scene extends Operated {
  readonly node: Cluster['nodes'][number];
  readonly table: string;
  readonly ms: number;
}

const CLOCK_MS = 600_000;
const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

export async function cut(nodes: Cluster['nodes'], ms: number): Promise<void> {
  for (const { cable } of nodes) cable.cut();
  await pause(ms);
  for (const { cable } of nodes) cable.heal();
}

async function query(url: string, ...statements: readonly string[]): Promise<void> {
  const connection = await openConnection(url);
  for (const statement of statements) await connection.query(statement);
  await connection.end();
}

async function shiftClock({ setClock, ms }: Scene, byMs: number): Promise<void> {
  await setClock(byMs);
  await pause(ms);
  await setClock(0);
}

/** Fills a disk until nothing fits any more. */
export function fillDisk(directory: string): { end(): void } {
  const file = openSync(join(directory, 'filler'), 'w');
  const block = Buffer.alloc(65_536, 1);
  for (let written = block.length; written > 0; ) {
    try {
      written = writeSync(file, block);
    } catch {
      written = 0;
    }
  }
  return {
    end: () => {
      ftruncateSync(file, 0);
      closeSync(file);
    },
  };
}
