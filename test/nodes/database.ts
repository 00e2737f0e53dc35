import { createRequire } from 'node:module';
import { join } from 'node:path';
import { vi } from 'vitest';
import { repositoryRoot } from '../support/root.ts';

/** What is used of the driver, which belongs to the package of the server. */
interface Driver {
  readonly Client: new (
    url: string,
  ) => {
    connect(): Promise<void>;
    query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
    end(): Promise<void>;
  };
}

const load = createRequire(join(repositoryRoot, 'packages', 'server', 'package.json'));
const { Client } = load('pg') as Driver;

/** Others may read it meanwhile, and who writes to it waits. */
export interface HeldTable {
  countWaiting(): Promise<number>;
  /** Ends the connections of those who wait, as when they break. */
  endWaiting(): Promise<void>;
  letGo(): Promise<void>;
}

export async function holdTable(url: string, table: string): Promise<HeldTable> {
  const client = new Client(url);
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE fleetloom.${table} IN EXCLUSIVE MODE`);
  const waiting = `FROM pg_locks WHERE NOT granted AND relation = 'fleetloom.${table}'::regclass`;
  return {
    countWaiting: async () => (await client.query(`SELECT 1 ${waiting}`)).rows.length,
    endWaiting: async () => void (await client.query(`SELECT pg_terminate_backend(pid) ${waiting}`)),
    letGo: async () => {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

/** Counts what this process asks any database. */
export function countQueries(): { end(): { total: number; ofResources: number } } {
  const spy = vi.spyOn(Client.prototype, 'query');
  return {
    end: () => {
      const { calls } = spy.mock;
      const ofResources = calls.filter(([, values]) => Array.isArray(values) && values.includes('session_resources'));
      const counted = { total: calls.length, ofResources: ofResources.length };
      spy.mockRestore();
      return counted;
    },
  };
}
