import { bytesOf, encodeSegment, hasEvents, toGroups } from '../../entries.ts';
import type { EncodedFrame } from '../../frame.ts';
import type { Statement } from '../connection.ts';

/** The frames that a commit has for one session. */
export interface Append {
  readonly sessionId: string;
  readonly fence: number;
  readonly frames: readonly EncodedFrame[];
}

/** The result of an append. Null: the fence is not that of the owner, or the session does not exist, and nothing was written. */
export interface AppendedRow {
  readonly head: number | null;
  /** The fence of the owner if the append was rejected; null if the session does not exist. */
  readonly fence: number | null;
  readonly tail_rows: number | null;
}

/** The error code of the database function when the process has committed something else since. */
export const TOKEN_LOST = 'FL001';

/** Every process locks rows in this order, so that two processes never wait for each other. */
export function inOrder(a: { sessionId: string }, b: { sessionId: string }): number {
  return a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : 0;
}

/** Appends frames of any number of sessions, which must be sorted. The result rows are in the same order. */
export function toAppend(appends: readonly Append[], commit?: CommitToken): Statement {
  const { node = null, before = null, token = null } = commit ?? {};
  return { sql: APPEND, values: [...toValues(appends), node, before, token] };
}

/** With a token the append is a whole commit in one round trip. */
export interface CommitToken {
  readonly node: string;
  readonly before: string;
  readonly token: string;
}

const APPEND =
  'SELECT head, tail_rows, fence FROM ~append_frames($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, @now, $11, $12, $13)';

function toValues(appends: readonly Append[]): unknown[] {
  const parts = {
    of: [] as number[],
    first: [] as number[],
    last: [] as number[],
    at: [] as number[],
    bytes: [] as number[],
    events: [] as boolean[],
  };
  // Counted from 1, as SQL counts.
  let at = 1;
  for (const [index, { frames }] of appends.entries()) {
    let count = 0;
    for (const group of toGroups(frames)) {
      const bytes = group.reduce((sum, frame) => sum + bytesOf(frame), 0);
      parts.of.push(index + 1);
      parts.first.push(count + 1);
      parts.last.push((count += group.length));
      parts.at.push(at);
      parts.bytes.push(bytes);
      parts.events.push(hasEvents(group));
      at += bytes;
    }
  }
  return [
    appends.map(({ sessionId }) => sessionId),
    // A value that is not a number cannot be the fence of an owner, and the database could not compare it.
    appends.map(({ fence }) => (Number.isSafeInteger(fence) ? fence : -1)),
    appends.map(({ frames }) => frames.length),
    parts.of,
    parts.first,
    parts.last,
    parts.at,
    parts.bytes,
    parts.events,
    // All frames in one piece of bytes: a list would be sent as text of twice the length.
    encodeSegment(appends.flatMap(({ frames }) => frames)),
  ];
}
