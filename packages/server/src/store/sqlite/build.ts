import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Schema } from '../sql/schema.ts';
import type { Database } from './database.ts';

/** Builds queries without running them: they run synchronously within the open transaction. */
export const build = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** Reads rows lazily. The iterator must be finished or returned before the database is used again. */
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

/**
 * A query that is built and compiled once for the process: both take longer than running it. `make` is called with stand-ins for the
 * arguments, which it passes on as values; the SQL must not depend on them.
 *
 * @example
 * const find = builtOnce((id: string) => build.selectFrom('sessions').selectAll().where('id', '=', id));
 * firstRow(database, find('sesn_1'));
 */
export function builtOnce<Arguments extends readonly (string | number | null)[], Row>(
  make: (...values: Arguments) => Compilable<Row>,
): (...values: Arguments) => Compilable<Row> {
  let built: CompiledQuery<Row> | undefined;
  const standIns = Array.from({ length: make.length }, (_, at) => Symbol(`argument ${at}`));
  return (...values) => ({
    compile: () => {
      // The cast: a query passes its values on unchanged.
      built ??= make(...(standIns as unknown as Arguments)).compile();
      const parameters = built.parameters.map((value) => {
        const at = standIns.indexOf(value as symbol);
        return at === -1 ? value : values[at];
      });
      return { ...built, parameters };
    },
  });
}
