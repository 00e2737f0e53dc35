import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Compilable,
} from 'kysely';
import { storeLimits } from '../limits.ts';
import type { Schema } from '../sql/schema.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/** Builds queries without running them. */
export type Build = Kysely<Schema>;

/** Builds SQL for the tables of a schema; nothing is executed. */
export function createBuild(schema: string): Build {
  const dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  return new Kysely<Schema>({ dialect }).withSchema(schema);
}

/** Runs a query in a transaction, or on its own: then it may be repeated, so it must only read. */
export async function allRows<Row>(on: Connection | Database, query: Compilable<Row>): Promise<Row[]> {
  const { sql, parameters } = query.compile();
  const { rows } = 'read' in on ? await on.read<Row>(sql, parameters) : await on.query<Row>(sql, parameters);
  return rows;
}

/** Rows for one page, and one or two more: the database should not send rows that are not shown. */
export async function pageRows<Row>(
  on: Database,
  query: Compilable<Row>,
  bytesMax: number = storeLimits.pageBytesMax,
): Promise<Row[]> {
  const { sql, parameters } = query.compile();
  const { rows } = await on.read<Row>(
    `SELECT * FROM (
      SELECT found.*, sum(octet_length(data::text)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
      FROM (${sql}) AS found
    ) AS page WHERE bytes_before IS NULL OR bytes_before <= ${bytesMax}`,
    parameters,
  );
  return rows;
}

/** The first row of a query, if there is one. */
export async function firstRow<Row>(on: Connection | Database, query: Compilable<Row>): Promise<Row | undefined> {
  return (await allRows(on, query))[0];
}
