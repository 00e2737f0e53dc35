import { found } from '../guards.ts';
import type { Checkpoint, Checkpoints } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

export function createCheckpoints(database: Database): Checkpoints {
  const find = async (sql: string, { sessionId, kind, upTo }: { sessionId: string; kind: string; upTo: number }) => {
    const { rows } = await database.read<Found>(sql, [sessionId, kind, Math.min(upTo, Number.MAX_SAFE_INTEGER)]);
    const { seq, bytes, data } = found(rows[0], sessionId);
    return seq === null ? undefined : { seq, bytes: bytes!, data: data! };
  };
  return {
    find: (request) => find(FIND, request),
    findSeq: async (request) => {
      const checkpoint = await find(FIND_SEQ, request);
      return checkpoint && { seq: checkpoint.seq, bytes: checkpoint.bytes };
    },
    epoch: async (sessionId) => {
      const { rows } = await database.read<{ epoch: number }>(EPOCH, [sessionId]);
      return found(rows[0], sessionId).epoch;
    },
    put: ({ sessionId, kind, seq, data, epoch, dependsOnDeltas, replacesOlder }) =>
      database.transaction(async (connection) => {
        // Two statements: the epoch has to be read after the lock, when no prune is in progress any more.
        await connection.query('SELECT FROM ~logs WHERE session_id = $1 FOR UPDATE', [sessionId]);
        const { rows } = await connection.query<{ epoch: number; key: number }>(EPOCH, [sessionId]);
        const key = rows[0]?.epoch === epoch ? rows[0].key : undefined;
        if (key === undefined) return;
        await connection.queries([
          ...(replacesOlder ? [{ sql: REMOVE_OLDER, values: [key, kind, seq] }] : []),
          { sql: PUT, values: [key, kind, seq, dependsOnDeltas, data] },
        ]);
      }),
  };
}

/** Must run in a transaction that holds the lock of the log. Frames from this number on are being pruned. */
export async function dropCheckpoints(connection: Connection, key: number, from: number): Promise<void> {
  await connection.queries([
    { sql: REMOVE_FROM, values: [key, from] },
    { sql: RAISE, values: [key] },
  ]);
}

interface Found {
  readonly seq: number | null;
  readonly bytes: number | null;
  readonly data: Checkpoint['data'] | null;
}

const newest = (columns: string) => `
  SELECT c.* FROM ~logs l LEFT JOIN LATERAL (
    SELECT seq, octet_length(data) AS bytes, ${columns} AS data FROM ~checkpoints
    WHERE session_key = l.session_key AND kind = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1
  ) AS c ON true WHERE l.session_id = $1`;
const FIND = newest('data');
const FIND_SEQ = newest('NULL::bytea');
const EPOCH = `
  SELECT l.session_key AS key, coalesce(p.epoch, 0) AS epoch FROM ~logs l LEFT JOIN ~prunes p USING (session_key)
  WHERE l.session_id = $1`;
const PUT = `
  INSERT INTO ~checkpoints (session_key, kind, seq, has_deltas, data) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (session_key, kind, seq) DO UPDATE SET has_deltas = excluded.has_deltas, data = excluded.data`;
const REMOVE_OLDER = 'DELETE FROM ~checkpoints WHERE session_key = $1 AND kind = $2 AND seq < $3';
const REMOVE_FROM = 'DELETE FROM ~checkpoints WHERE session_key = $1 AND seq >= $2 AND has_deltas';
const RAISE = `
  INSERT INTO ~prunes AS p (session_key, epoch) VALUES ($1, 1) ON CONFLICT (session_key) DO UPDATE SET epoch = p.epoch + 1`;
