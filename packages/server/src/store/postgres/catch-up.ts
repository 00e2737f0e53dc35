import { storeLimits } from '../limits.ts';
import type { Signal } from '../store.ts';
import type { Database } from './database.ts';

/** A margin for commits in progress and for a clock that is set back. */
const MARGIN_MS = 60_000;

/** At least the signals that were missed since a time, possibly more: signals are hints. Deletions leave no trace. */
export async function catchUp(database: Database, since: number): Promise<Signal[]> {
  const values = [storeLimits.databaseCatchUpMax];
  const [frames, inputs, works] = await Promise.all([
    database.read<{ sessionId: string; head: number }>(FRAMES, [...values, since - MARGIN_MS]),
    database.read<{ sessionId: string }>(INPUTS, values),
    database.read<{ sessionId: string }>(WORKS, values),
  ]);
  return [
    ...frames.rows.map((row) => ({ type: 'frames' as const, ...row })),
    ...inputs.rows.map((row) => ({ type: 'inputs' as const, ...row })),
    ...works.rows.map((row) => ({ type: 'works' as const, ...row })),
  ];
}

// Without an index, which each append would have to update: this query is rare. The newest changes come first.
const FRAMES = `
  SELECT session_id AS "sessionId", head FROM ~logs WHERE touched_at >= $2 ORDER BY touched_at DESC LIMIT $1`;
const INPUTS = `
  SELECT l.session_id AS "sessionId" FROM ~logs l WHERE l.session_key IN (SELECT session_key FROM ~inputs) LIMIT $1`;
const WORKS = `SELECT DISTINCT session_id AS "sessionId" FROM ~works WHERE state = 'queued' LIMIT $1`;
