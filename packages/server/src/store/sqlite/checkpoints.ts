import { found } from '../guards.ts';
import type { Checkpoint, Checkpoints, CheckpointSize } from '../store.ts';
import type { Database } from './database.ts';
import type { Segments } from './segments.ts';

export function createCheckpoints(database: Database, segments: Segments): Checkpoints {
  const keyOf = (sessionId: string) => found(segments.place(sessionId), sessionId).key;
  return {
    find: async ({ sessionId, kind, upTo }) => database.prepare<Checkpoint>(FIND).get(keyOf(sessionId), kind, upTo),
    findSeq: async ({ sessionId, kind, upTo }) =>
      database.prepare<CheckpointSize>(FIND_SEQ).get(keyOf(sessionId), kind, upTo),
    epoch: async (sessionId) => epochOf(database, keyOf(sessionId)),
    put: async ({ sessionId, kind, seq, data, epoch, dependsOnDeltas, replacesOlder }) =>
      database.transaction(() => {
        const key = segments.place(sessionId)?.key;
        if (key === undefined || epochOf(database, key) !== epoch) return;
        if (replacesOlder) database.prepare(REMOVE_OLDER).run(key, kind, seq);
        database.prepare(PUT).run(key, kind, seq, dependsOnDeltas ? 1 : 0, data);
      }),
  };
}

/** Must run in a transaction. Frames from this number on are about to be pruned, or were pruned. */
export function dropCheckpoints(database: Database, key: number, from: number): void {
  database.prepare(REMOVE_FROM).run(key, from);
  database.prepare(RAISE).run(key);
}

function epochOf(database: Database, key: number): number {
  return database.prepare<{ epoch: number }>('SELECT epoch FROM prunes WHERE session_key = ?').get(key)?.epoch ?? 0;
}

const NEWEST = 'FROM checkpoints WHERE session_key = ? AND kind = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';
const FIND = `SELECT seq, length(data) AS bytes, data ${NEWEST}`;
const FIND_SEQ = `SELECT seq, length(data) AS bytes ${NEWEST}`;
const PUT = 'INSERT OR REPLACE INTO checkpoints (session_key, kind, seq, has_deltas, data) VALUES (?, ?, ?, ?, ?)';
const REMOVE_OLDER = 'DELETE FROM checkpoints WHERE session_key = ? AND kind = ? AND seq < ?';
const REMOVE_FROM = 'DELETE FROM checkpoints WHERE session_key = ? AND seq >= ? AND has_deltas = 1';
const RAISE = `
  INSERT INTO prunes (session_key, epoch) VALUES (?, 1) ON CONFLICT (session_key) DO UPDATE SET epoch = epoch + 1`;
