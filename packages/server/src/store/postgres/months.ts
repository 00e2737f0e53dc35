import type { Database } from './database.ts';
import { lockOf } from './migrate.ts';

/** Number of keys for the sessions of one month. */
const KEYS_PER_MONTH = 2 ** 32;

/**
 * The logs of the sessions of each month are in a table of their own, so that old logs are removed by dropping the table,
 * once the last session of the month is deleted. A session's key determines its table.
 */
export class Months {
  readonly #database: Database;
  readonly #known = new Set<number>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The first key for sessions of this month. The table exists when this resolves. */
  async firstKey(time: number): Promise<number> {
    const month = monthOf(time);
    if (!this.#known.has(month)) await this.#create(month);
    this.#known.add(month);
    return month * KEYS_PER_MONTH;
  }

  /** Drops the tables of months without sessions, except the last two: clocks differ, and a session may be created. */
  async dropEmpty(time: number): Promise<string[]> {
    const { rows } = await this.#database.read<{ name: string }>(TABLES, [this.#database.schema]);
    const old = rows.filter(({ name }) => toMonth(name) < monthOf(time) - 1);
    const dropped: string[] = [];
    for (const { name } of old) if (await this.#drop(name)) dropped.push(name);
    return dropped;
  }

  /** Created separately and then attached, so that readers and writers do not wait. */
  async #create(month: number): Promise<void> {
    const [from, to] = rangeOf(month);
    const name = nameOf(month);
    await this.#database.transaction(async (connection) => {
      await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lockOf(this.#database.schema)]);
      const there = await connection.query<{ there: boolean }>(`SELECT to_regclass('~${name}') IS NOT NULL AS there`);
      if (there.rows[0]!.there) return;
      await connection.query(`CREATE TABLE ~${name} (LIKE ~segments INCLUDING ALL)`);
      await connection.query(`ALTER TABLE ~segments ATTACH PARTITION ~${name} FOR VALUES FROM (${from}) TO (${to})`);
    });
  }

  async #drop(name: string): Promise<boolean> {
    const month = toMonth(name);
    const isEmpty = await this.#database.transaction(async (connection) => {
      const left = await connection.query(
        'SELECT 1 FROM ~sessions WHERE key >= $1 AND key < $2 LIMIT 1',
        rangeOf(month),
      );
      if (left.count > 0) return false;
      // This briefly blocks all reads and appends. If a transaction takes long, it is retried later.
      await connection.query(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}`);
      await connection.query(`DROP TABLE ~${name}`);
      return true;
    });
    if (isEmpty) this.#known.delete(month);
    return isEmpty;
  }
}

const DROP_WAIT_MS = 500;

const TABLES = `
  SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass($1 || '.segments') ORDER BY 1`;

/** Months since the year 0. */
function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function rangeOf(month: number): [number, number] {
  return [month * KEYS_PER_MONTH, (month + 1) * KEYS_PER_MONTH];
}

function nameOf(month: number): string {
  return `segments_${Math.floor(month / 12)}_${String((month % 12) + 1).padStart(2, '0')}`;
}

function toMonth(name: string): number {
  const [year, month] = name.split('_').slice(1).map(Number);
  return year! * 12 + month! - 1;
}
