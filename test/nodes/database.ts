import { createRequire } from 'node:module';
import { join } from 'node:path';
import { vi } from 'vitest';
import { repositoryRoot } from '../support/root.ts';

/** The used part of the driver, which is a dependency of the server package. */
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

/** A locked table: reads pass, and writes wait. */
export interface HeldTable {
  countWaiting(): Promise<number>;
  /** Terminates the connections that wait for the lock. */
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

/** A connection of its own, for settings and backups. */
export async function openConnection(url: string) {
  const client = new Client(url);
  await client.connect();
  return { query: async (sql: string) => (await client.query(sql)).rows, end: () => client.end() };
}

/** A connection that reads single numbers. */
export async function openNumbers(url: string): Promise<{ read(sql: string): Promise<number>; end(): Promise<void> }> {
  const client = new Client(url);
  await client.connect();
  return {
    read: async (sql) => Number(Object.values((await client.query(sql)).rows[0] as object)[0]),
    end: () => client.end(),
  };
}

/** Counts the queries of this process. */
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
