import { storeLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import {
  bytesOf,
  decodeSegment,
  encodeSegment,
  hasEvents,
  hideDeltas,
  pruneEntries,
  selectEntries,
  toGroups,
  toRange,
} from '../entries.ts';
import type { Entry } from '../frame.ts';
import { found } from '../guards.ts';
import type { ReadRequest, SeqRange } from '../store.ts';
import { dropCheckpoints } from './checkpoints.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/** The logs: many frames per row, and after a while many rows per row. */
export class Segments {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async heads(sessionIds: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.#database.read<{ session_id: string; head: number }>(HEADS, [sessionIds]);
    const heads = new Map(rows.map(({ session_id: id, head }) => [id, head]));
    return new Map(sessionIds.flatMap((id) => (heads.has(id) ? [[id, heads.get(id)!]] : [])));
  }

  /** The size of the rows with events that end behind a frame. */
  async logBytes(sessionId: string, after: number): Promise<number> {
    const { rows } = await this.#database.read<{ bytes: number }>(LOG_BYTES, [sessionId, after]);
    return rows[0]?.bytes ?? 0;
  }

  async read(request: ReadRequest): Promise<Entry[]> {
    const { sessionId, after, entriesMax, bytesMax, skipsDeltas = false } = request;
    if (skipsDeltas) return await this.#readEvents(request);
    const entries: Entry[] = [];
    let bytes = 0;
    for (let from = after + 1; ; ) {
      const { rows } = await this.#database.read<SegmentRow>(READ, [sessionId, from, bytesMax - bytes]);
      found(rows[0], sessionId);
      // An existing session has a row even if there is nothing to read.
      const segments = rows.filter((row) => row.data !== null);
      for (const { first_seq: firstSeq, data } of segments) {
        for (const entry of decodeSegment(sessionId, firstSeq, data!)) {
          if (entry.lastSeq <= after) continue;
          entries.push(entry);
          bytes += bytesOf(entry);
        }
      }
      if (segments.length === 0 || bytes >= bytesMax || entries.length >= entriesMax) break;
      from = (entries.at(-1)?.lastSeq ?? after) + 1;
    }
    return selectEntries(pruneEntries(entries, []), { after, entriesMax, bytesMax });
  }

  /** Reads only rows with events. The frames between them become ranges. */
  async #readEvents({ sessionId, after, entriesMax, bytesMax }: ReadRequest): Promise<Entry[]> {
    const entries: Entry[] = [];
    let bytes = 0;
    let cursor = after;
    while (bytes < bytesMax && entries.length < entriesMax) {
      const values = [sessionId, cursor + 1, bytesMax - bytes];
      const { rows } = await this.#database.read<SegmentRow & { last_seq: number; head: number }>(READ_EVENTS, values);
      const { head } = found(rows[0], sessionId);
      const segments = rows.filter((row) => row.data !== null);
      for (const { first_seq: firstSeq, last_seq: lastSeq, data } of segments) {
        if (firstSeq > cursor + 1) entries.push(toRange(sessionId, cursor + 1, firstSeq - 1));
        for (const entry of decodeSegment(sessionId, firstSeq, data!)) {
          if (entry.lastSeq <= after) continue;
          entries.push(entry);
          bytes += entry.kind === 'frame' && entry.isDelta ? 0 : bytesOf(entry);
        }
        cursor = lastSeq;
      }
      if (segments.length > 0) continue;
      if (cursor < head) entries.push(toRange(sessionId, cursor + 1, head));
      break;
    }
    return selectEntries(hideDeltas(entries), { after, entriesMax, bytesMax });
  }

  /** Prunes a log and joins segments that have become small, a few at a time: a log may be larger than memory. */
  async prune(sessionId: string, ranges: readonly SeqRange[]): Promise<void> {
    const [first, last] = [ranges[0], ranges.at(-1)];
    await this.#database.transaction(async (connection) => {
      const { session_key: key } = await lock(connection, sessionId);
      if (first === undefined || last === undefined) return;
      await dropCheckpoints(connection, key, first.firstSeq);
      for (let from: number | undefined = first.firstSeq; from !== undefined && from <= last.lastSeq; ) {
        from = await pruneSome(connection, { key, sessionId, from, lastSeq: last.lastSeq }, ranges);
        await yieldToEventLoop();
      }
    });
  }

  /** Merges the small rows of appends, but never rows of different owners. */
  async mergeRows(sessionId: string): Promise<void> {
    await this.#database.transaction(async (connection) => {
      const { session_key: key, tail_seq: from, head } = await lock(connection, sessionId);
      const { rows } = await connection.query<SizeRow>(SIZES, [key, from]);
      const joined = toJoined(rows).filter((group) => group.rows > 1);
      await connection.queries([
        ...joined.map(({ first, last }) => ({ sql: JOIN, values: [key, first, last] })),
        { sql: 'UPDATE ~logs SET tail_seq = $2, tail_rows = 0 WHERE session_key = $1', values: [key, head + 1] },
      ]);
    });
  }
}

interface SegmentRow {
  readonly first_seq: number;
  readonly data: Uint8Array | null;
}

interface LogRow {
  readonly session_key: number;
  readonly tail_seq: number;
  readonly head: number;
}

/** A change of rows of a log locks its row in `logs`, as an append does. */
async function lock(connection: Connection, sessionId: string): Promise<LogRow> {
  const sql = 'SELECT session_key, tail_seq, head FROM ~logs WHERE session_id = $1 FOR UPDATE';
  const { rows } = await connection.query<LogRow>(sql, [sessionId]);
  return found(rows[0], sessionId);
}

interface SizeRow {
  readonly first_seq: number;
  readonly fence: number;
  readonly has_events: boolean;
  readonly bytes: number;
}

/** Groups of rows to merge: neighbours with the same fence, up to the size of a segment. Rows of deltas stay separate. */
function toJoined(rows: readonly SizeRow[]) {
  const groups: (Pick<SizeRow, 'fence' | 'has_events' | 'bytes'> & { first: number; last: number; rows: number })[] =
    [];
  for (const { first_seq: seq, fence, has_events, bytes } of rows) {
    const group = groups.at(-1);
    const isAlike = group?.fence === fence && group.has_events === has_events;
    if (group === undefined || !isAlike || group.bytes + bytes > storeLimits.segmentBytesMax) {
      groups.push({ first: seq, last: seq, fence, has_events, bytes, rows: 1 });
    } else Object.assign(group, { last: seq, bytes: group.bytes + bytes, rows: group.rows + 1 });
  }
  return groups;
}

/** Prunes as much as one commit may contain. Returns where to continue; undefined at the end. */
async function pruneSome(
  connection: Connection,
  { key, sessionId, from, lastSeq }: { key: number; sessionId: string; from: number; lastSeq: number },
  ranges: readonly SeqRange[],
): Promise<number | undefined> {
  const { rows } = await connection.query<PrunedRow>(SOME, [key, from, lastSeq, storeLimits.storeSliceBytesMax]);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  await connection.queries([
    { sql: REMOVE, values: [key, first.first_seq, last.first_seq] },
    ...toRuns(rows).flatMap((run) => {
      const entries = run.flatMap(({ first_seq: seq, data }) => decodeSegment(sessionId, seq, data));
      return toGroups(pruneEntries(entries, ranges)).map((group) => ({
        sql: INSERT,
        values: [key, group[0]!.seq, group.at(-1)!.lastSeq, run[0]!.fence, hasEvents(group), encodeSegment(group)],
      }));
    }),
  ]);
  return last.last_seq + 1;
}

interface PrunedRow {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly fence: number;
  readonly data: Uint8Array;
}

/** Groups of neighbours with the same fence, whose pruned segments may be joined. */
function toRuns(rows: readonly PrunedRow[]): PrunedRow[][] {
  const runs: PrunedRow[][] = [];
  for (const row of rows) {
    if (runs.at(-1)?.[0]!.fence === row.fence) runs.at(-1)!.push(row);
    else runs.push([row]);
  }
  return runs;
}

const HEADS = 'SELECT session_id, head FROM ~logs WHERE session_id = ANY ($1)';

/** The start of the segment that contains this number, or the number itself. */
const startOf = (key: string) =>
  `coalesce((SELECT max(first_seq) FROM ~segments WHERE session_key = ${key} AND first_seq <= $2), $2)`;

/** Selects by size without reading the bytes. One segment is always returned, even if it exceeds the limit. */
const counted = (segments: string, bytesMax: string) => `
  SELECT first_seq, last_seq, fence, data FROM (
    SELECT *, sum(octet_length(data)) OVER (ORDER BY first_seq) - octet_length(data) AS before FROM (${segments}) AS rows_
  ) AS counted
  WHERE before = 0 OR before < ${bytesMax} ORDER BY first_seq`;

const KEY = '(SELECT session_key FROM l)';
const ROWS_MAX = 256;
const READ = `
  WITH l AS MATERIALIZED (SELECT session_key FROM ~logs WHERE session_id = $1)
  SELECT g.first_seq, g.data FROM l LEFT JOIN (${counted(
    `SELECT * FROM ~segments WHERE session_key = ${KEY} AND first_seq >= ${startOf(KEY)} AND last_seq >= $2
     ORDER BY first_seq LIMIT ${ROWS_MAX}`,
    '$3',
  )}) AS g ON true
  ORDER BY g.first_seq`;
const READ_EVENTS = `
  WITH l AS MATERIALIZED (SELECT session_key, head FROM ~logs WHERE session_id = $1)
  SELECT l.head, g.first_seq, g.last_seq, g.data FROM l LEFT JOIN (${counted(
    `SELECT * FROM ~segments
     WHERE session_key = ${KEY} AND first_seq >= ${startOf(KEY)} AND last_seq >= $2 AND has_events
     ORDER BY first_seq LIMIT ${ROWS_MAX}`,
    '$3',
  )}) AS g ON true
  ORDER BY g.first_seq`;
const LOG_BYTES = `
  SELECT coalesce(sum(octet_length(data)), 0)::int8 AS bytes FROM ~segments
  WHERE session_key = (SELECT session_key FROM ~logs WHERE session_id = $1)
    AND first_seq >= ${startOf('(SELECT session_key FROM ~logs WHERE session_id = $1)')} AND last_seq > $2 AND has_events`;
const SOME = counted(
  `SELECT * FROM ~segments WHERE session_key = $1 AND first_seq <= $3 AND first_seq >= ${startOf('$1')}`,
  '$4',
);

const SIZES = `
  SELECT first_seq, fence, has_events, octet_length(data) AS bytes FROM ~segments
  WHERE session_key = $1 AND first_seq >= $2 ORDER BY first_seq`;
const REMOVE = 'DELETE FROM ~segments WHERE session_key = $1 AND first_seq BETWEEN $2 AND $3';
const INSERT =
  'INSERT INTO ~segments (session_key, first_seq, last_seq, fence, has_events, data) VALUES ($1, $2, $3, $4, $5, $6)';
const JOIN = `
  WITH gone AS (
    DELETE FROM ~segments WHERE session_key = $1 AND first_seq BETWEEN $2 AND $3
    RETURNING first_seq, last_seq, fence, has_events, data
  )
  INSERT INTO ~segments (session_key, first_seq, last_seq, fence, has_events, data)
  SELECT $1, min(first_seq), max(last_seq), fence, has_events, string_agg(data, ''::bytea ORDER BY first_seq) FROM gone
  GROUP BY fence, has_events`;
