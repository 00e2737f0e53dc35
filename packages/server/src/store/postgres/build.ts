import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Compilable,
} from 'kysely';
import type { Schema } from '../sql/schema.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/** Builds queries and runs none. */
export type Build = Kysely<Schema>;

export function createBuild(schema: string): Build {
  const dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  return new Kysely<Schema>({ dialect }).withSchema(schema);
}

/** Within a transaction, or on its own: then it may be repeated, so it must only read. */
export async function allRows<Row>(on: Connection | Database, query: Compilable<Row>): Promise<Row[]> {
  const { sql, parameters } = query.compile();
  const { rows } = 'read' in on ? await on.read<Row>(sql, parameters) : await on.query<Row>(sql, parameters);
  return rows;
}

export async function firstRow<Row>(on: Connection | Database, query: Compilable<Row>): Promise<Row | undefined> {
  return (await allRows(on, query))[0];
}
