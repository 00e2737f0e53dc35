import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Schema } from '../sql/schema.ts';
import type { Database } from './database.ts';

/** Builds queries and runs none: they run at once, within the transaction that is open, which a promise could not. */
export const build = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** Reads each row when it is asked for. To be used up or left before anything else is done. */
export function eachRow<Row>(database: Database, query: Compilable<Row>): IterableIterator<Row> {
  const { sql, parameters } = query.compile();
  return database.prepare<Row>(sql).iterate(...parameters);
}

export function firstRow<Row>(database: Database, query: Compilable<Row>): Row | undefined {
  const { sql, parameters } = query.compile();
  return database.prepare<Row>(sql).get(...parameters);
}

/** The number of rows that changed. */
export function runQuery(database: Database, query: Compilable): number {
  const { sql, parameters } = query.compile();
  return database.prepare(sql).run(...parameters);
}
