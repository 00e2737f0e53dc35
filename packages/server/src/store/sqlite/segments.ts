import { limits } from '../../base/limits.ts';
import { bytesOf, decodeSegment, encodeSegment, pruneEntries, selectEntries, toGroups } from '../entries.ts';
import type { EncodedFrame, Entry } from '../frame.ts';
import { found } from '../guards.ts';
import type { ReadRequest, SeqRange } from '../store.ts';
import type { Database } from './database.ts';

/** What a write has to know about its session, in one look. */
export interface Place {
  readonly key: number;
  readonly workspaceId: string;
  readonly archivedAt: number | null;
  readonly fence: number;
  readonly owner: string | null;
  readonly expiresAt: number;
  /** The last segment, if there is one. */
  readonly segmentId: number | null;
  readonly segmentBytes: number;
  readonly head: number;
}

/** The logs on disk: many frames per row. Everything here runs within the caller's transaction. */
export class Segments {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  place(sessionId: string): Place | undefined {
    return this.#database.prepare<Place>(PLACE).get(sessionId);
  }

  /**
   * Adds frames behind the last one. A few bytes go into the last segment: its page on the disk is written as a whole
   * in any case, and one row per delta would cost an index entry each.
   */
  append(place: Place, frames: readonly EncodedFrame[]): void {
    const bytes = frames.reduce((sum, frame) => sum + bytesOf(frame), 0);
    if (place.segmentId !== null && place.segmentBytes + bytes <= limits.segmentGrowBytesMax) {
      const lastSeq = place.head + frames.length;
      this.#database.prepare(GROW).run(encodeSegment(frames), lastSeq, place.segmentId);
      return;
    }
    let firstSeq = place.head + 1;
    for (const group of toGroups(frames)) {
      const lastSeq = firstSeq + group.length - 1;
      this.#database.prepare(INSERT).run(place.key, firstSeq, lastSeq, encodeSegment(group));
      firstSeq = lastSeq + 1;
    }
  }

  read({ sessionId, after, entriesMax, bytesMax }: ReadRequest): Entry[] {
    const { key } = found(this.place(sessionId), sessionId);
    const entries: Entry[] = [];
    let bytes = 0;
    // One by one, because a single segment can be as large as the largest frame.
    let row = this.#database.prepare<SegmentRow>(FIND).get(key, after + 1);
    while (row !== undefined) {
      for (const entry of decodeSegment(sessionId, row.firstSeq, row.data)) {
        if (entry.lastSeq <= after) continue;
        entries.push(entry);
        bytes += bytesOf(entry);
      }
      if (bytes >= bytesMax || entries.length >= entriesMax) break;
      row = this.#database.prepare<SegmentRow>(NEXT).get(key, row.firstSeq);
    }
    return selectEntries(pruneEntries(entries, []), { after, entriesMax, bytesMax });
  }

  /** Segments that have become small are put together. */
  prune(sessionId: string, ranges: readonly SeqRange[]): void {
    const [first, last] = [ranges[0], ranges.at(-1)];
    const { key } = found(this.place(sessionId), sessionId);
    if (first === undefined || last === undefined) return;
    let group: { id: number; entries: Entry[]; bytes: number } | undefined;
    let row = this.#database.prepare<SegmentRow>(FIND).get(key, first.firstSeq);
    while (row !== undefined && row.firstSeq <= last.lastSeq) {
      const entries = pruneEntries(decodeSegment(sessionId, row.firstSeq, row.data), ranges);
      const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
      if (group !== undefined && group.bytes + bytes <= limits.segmentBytesMax) {
        group = { id: group.id, entries: [...group.entries, ...entries], bytes: group.bytes + bytes };
        this.#database.prepare(REMOVE).run(row.id);
      } else {
        if (group !== undefined) this.#replace(group);
        group = { id: row.id, entries, bytes };
      }
      row = this.#database.prepare<SegmentRow>(NEXT).get(key, row.firstSeq);
    }
    if (group !== undefined) this.#replace(group);
  }

  #replace({ id, entries }: { id: number; entries: Entry[] }): void {
    const joined = pruneEntries(entries, []);
    this.#database.prepare(REPLACE).run(encodeSegment(joined), joined.at(-1)!.lastSeq, id);
  }
}

interface SegmentRow {
  id: number;
  firstSeq: number;
  data: Uint8Array;
}

const PLACE = `
  SELECT s.key, s.workspace_id AS workspaceId, s.archived_at AS archivedAt,
    o.fence, o.owner, o.expires_at AS expiresAt,
    g.id AS segmentId, coalesce(length(g.data), 0) AS segmentBytes, coalesce(g.last_seq, 0) AS head
  FROM sessions s
  JOIN owners o ON o.session_key = s.key
  LEFT JOIN segments g
    ON g.id = (SELECT id FROM segments WHERE session_key = s.key ORDER BY first_seq DESC LIMIT 1)
  WHERE s.id = ?`;
const INSERT = 'INSERT INTO segments (session_key, first_seq, last_seq, data) VALUES (?, ?, ?, ?)';
// Joining makes a text of bytes, hence the cast. They are UTF-8 without zeros, so nothing changes on the way.
const GROW = 'UPDATE segments SET data = CAST(data || ? AS BLOB), last_seq = ? WHERE id = ?';
const REPLACE = 'UPDATE segments SET data = ?, last_seq = ? WHERE id = ?';
const REMOVE = 'DELETE FROM segments WHERE id = ?';
const FIND = `
  SELECT id, first_seq AS firstSeq, data FROM segments
  WHERE session_key = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1`;
const NEXT = `
  SELECT id, first_seq AS firstSeq, data FROM segments
  WHERE session_key = ? AND first_seq > ? ORDER BY first_seq LIMIT 1`;
