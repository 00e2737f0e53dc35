import { storeLimits } from '../limits.ts';
import type { Signal } from '../store.ts';
import type { Database } from './database.ts';

/** Clocks of one machine do not go back much, and a commit takes its time. */
const MARGIN_MS = 60_000;

/** The signals that were missed since then, and more of them than that: they are hints. Deletions leave no trace. */
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

// Without an index: it would have to be kept with each append, and this is rare. Those that changed last come first.
const FRAMES = `
  SELECT session_id AS "sessionId", head FROM ~logs WHERE touched_at >= $2 ORDER BY touched_at DESC LIMIT $1`;
const INPUTS = `
  SELECT l.session_id AS "sessionId" FROM ~logs l WHERE l.session_key IN (SELECT session_key FROM ~inputs) LIMIT $1`;
const WORKS = `SELECT DISTINCT session_id AS "sessionId" FROM ~works WHERE state = 'queued' LIMIT $1`;
