import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest, Position, Seek } from '../page.ts';

// Parts of all lists. Names of columns never come from a caller.

/** The condition for rows behind the cursor, in the requested order. Both databases compare pairs lexicographically. */
export function seekBehind(time: string, id: string | RawBuilder<string>, { after, order }: Seek): Expression<SqlBool> {
  if (after === undefined) return sql<SqlBool>`1 = 1`;
  const pair = sql`(${sql.ref(time)}, ${typeof id === 'string' ? sql.ref(id) : id})`;
  const bound = sql`(${after.time}, ${after.id})`;
  return order === 'asc' ? sql<SqlBool>`${pair} > ${bound}` : sql<SqlBool>`${pair} < ${bound}`;
}

/** The condition that a record was created in the range. */
export function createdBetween(time: string, { createdFrom, createdTo }: PageRequest): Expression<SqlBool> {
  const from = createdFrom === undefined ? sql`1 = 1` : sql`${sql.ref(time)} >= ${createdFrom}`;
  const to = createdTo === undefined ? sql`1 = 1` : sql`${sql.ref(time)} <= ${createdTo}`;
  return sql<SqlBool>`${from} AND ${to}`;
}

/** The position of a record in a list that is sorted by creation. */
export function byCreation({ createdAt, id }: { createdAt: number; id: string }): Position {
  return { time: createdAt, id };
}
