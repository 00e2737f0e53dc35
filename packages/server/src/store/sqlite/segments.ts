import { storeLimits } from '../limits.ts';
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
import type { EncodedFrame, Entry } from '../frame.ts';
import { found } from '../guards.ts';
import type { ReadRequest, SeqRange } from '../store.ts';
import type { Database } from './database.ts';

/** The data about a session that a write needs, read with one query. */
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

type AppendPlace = Pick<Place, 'key' | 'segmentId' | 'segmentBytes' | 'head'>;

/** The logs on disk: many frames per row. Everything here runs within the caller's transaction. */
export class Segments {
  readonly #database: Database;
  /** Caches whether segments contain more than deltas, by id. */
  readonly #kinds = new Map<number, boolean>();

  constructor(database: Database) {
    this.#database = database;
  }

  place(sessionId: string): Place | undefined {
    return this.#database.prepare<Place>(PLACE).get(sessionId);
  }

  /**
   * Appends frames. A few bytes are added to the last segment: its page on the disk is written as a whole
   * in any case, and one row per delta would cost an index entry each. Deltas and other frames are kept in separate segments,
   * because most reads skip deltas.
   */
  append(place: AppendPlace, frames: readonly EncodedFrame[]): void {
    const bytes = frames.reduce((sum, frame) => sum + bytesOf(frame), 0);
    const isSmall = place.segmentBytes + bytes <= storeLimits.segmentGrowBytesMax;
    if (place.segmentId !== null && isSmall && hasEvents(frames) === this.#hasEvents(place.segmentId)) {
      const lastSeq = place.head + frames.length;
      this.#database.prepare(GROW).run(encodeSegment(frames), lastSeq, place.segmentId);
      return;
    }
    let firstSeq = place.head + 1;
    for (const group of toGroups(frames)) {
      const lastSeq = firstSeq + group.length - 1;
      this.#database.prepare(INSERT).run(place.key, firstSeq, lastSeq, encodeSegment(group));
      if (hasEvents(group)) this.#database.prepare(INSERT_EVENTS).run(place.key, firstSeq);
      firstSeq = lastSeq + 1;
    }
  }

  /** Whether a segment contains more than deltas. Nearly every append checks this for the segment of the previous append. */
  #hasEvents(segmentId: number): boolean {
    const known = this.#kinds.get(segmentId);
    if (known !== undefined) return known;
    const events = this.#database.prepare(HAS_EVENTS).get(segmentId) !== undefined;
    if (this.#kinds.size >= storeLimits.segmentKindsMax) this.#kinds.clear();
    this.#kinds.set(segmentId, events);
    return events;
  }

  /** Must be called when segments are removed or a transaction fails: their ids may be reused. */
  forgetKinds(): void {
    this.#kinds.clear();
  }

  read(request: ReadRequest): Entry[] {
    const { sessionId, after, entriesMax, bytesMax, skipsDeltas = false } = request;
    const { key, head } = found(this.place(sessionId), sessionId);
    if (skipsDeltas && this.isIndexed(key)) return this.#readEvents(key, head, request);
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
    const joined = skipsDeltas ? hideDeltas(entries) : pruneEntries(entries, []);
    return selectEntries(joined, { after, entriesMax, bytesMax });
  }

  /** The size of the segments with events that end behind a frame. */
  logBytes(sessionId: string, after: number): number {
    const key = this.place(sessionId)?.key;
    if (key === undefined) return 0;
    const statement = this.isIndexed(key) ? EVENT_BYTES : ALL_BYTES;
    return this.#database.prepare<{ bytes: number }>(statement).get(key, after)?.bytes ?? 0;
  }

  /** Reads only segments with events. The frames between them become ranges. */
  #readEvents(key: number, head: number, { sessionId, after, entriesMax, bytesMax }: ReadRequest): Entry[] {
    const entries: Entry[] = [];
    let bytes = 0;
    let cursor = after;
    const containing = this.#database.prepare<SegmentRow>(FIND_EVENTS).get(key, after + 1);
    const isBehind = containing === undefined || containing.lastSeq <= after;
    let row = isBehind ? this.#database.prepare<SegmentRow>(NEXT_EVENTS).get(key, after + 1) : containing;
    while (row !== undefined && bytes < bytesMax && entries.length < entriesMax) {
      if (row.firstSeq > cursor + 1) entries.push(toRange(sessionId, cursor + 1, row.firstSeq - 1));
      for (const entry of decodeSegment(sessionId, row.firstSeq, row.data)) {
        if (entry.lastSeq <= after) continue;
        entries.push(entry);
        bytes += entry.kind === 'frame' && entry.isDelta ? 0 : bytesOf(entry);
      }
      cursor = row.lastSeq;
      row = this.#database.prepare<SegmentRow>(NEXT_EVENTS).get(key, row.firstSeq);
    }
    if (row === undefined && cursor < head) entries.push(toRange(sessionId, cursor + 1, head));
    return selectEntries(hideDeltas(entries), { after, entriesMax, bytesMax });
  }

  /**
   * Prunes as many segments as one transaction may have, and joins those that have become small. Returns the frame to continue
   * with, or undefined at the end. The last segment may be pruned again, so that the next ones are joined with it.
   */
  prune(sessionId: string, from: number, ranges: readonly SeqRange[]): number | undefined {
    const key = this.place(sessionId)?.key;
    const { lastSeq } = ranges.at(-1)!;
    this.forgetKinds();
    if (key === undefined) return undefined;
    let group: Group | undefined;
    let bytes = 0;
    let row = this.#database.prepare<SegmentRow>(FIND).get(key, from);
    while (row !== undefined && row.firstSeq <= lastSeq) {
      if (bytes >= storeLimits.storeSliceBytesMax) break;
      bytes += row.data.length;
      const entries = pruneEntries(decodeSegment(sessionId, row.firstSeq, row.data), ranges);
      group = this.#join(key, group, { id: row.id, firstSeq: row.firstSeq, entries, bytes: sumBytes(entries) });
      row = this.#database.prepare<SegmentRow>(NEXT).get(key, row.firstSeq);
    }
    if (group !== undefined) this.#replace(key, group);
    if (row === undefined || row.firstSeq > lastSeq) return undefined;
    // A group that is nearly full would not be joined with another segment.
    return group !== undefined && group.bytes < storeLimits.segmentBytesMax / 2 && group.firstSeq > from
      ? group.firstSeq
      : row.firstSeq;
  }

  /** Adds the next segment to the group, or writes the group and begins the next one. */
  #join(key: number, group: Group | undefined, next: Group): Group {
    if (group === undefined) return next;
    if (group.bytes + next.bytes > storeLimits.segmentBytesMax) {
      this.#replace(key, group);
      return next;
    }
    for (const entry of next.entries) group.entries.push(entry);
    this.#database.prepare(REMOVE).run(next.id);
    this.#database.prepare(REMOVE_EVENTS).run(key, next.firstSeq);
    return { ...group, bytes: group.bytes + next.bytes };
  }

  #replace(key: number, { id, firstSeq, entries }: Group): void {
    const joined = pruneEntries(entries, []);
    this.#database.prepare(REPLACE).run(encodeSegment(joined), joined.at(-1)!.lastSeq, id);
    this.#database.prepare(hasEvents(joined) ? INSERT_EVENTS : REMOVE_EVENTS).run(key, firstSeq);
  }

  /** False for a session that is older than the indexes and has not been indexed yet. */
  isIndexed(key: number): boolean {
    return this.#database.prepare('SELECT 1 FROM unindexed WHERE session_key = ?').get(key) === undefined;
  }

  /** Some segments behind a frame. */
  readSegments(sessionId: string, after: number): readonly { firstSeq: number; lastSeq: number; entries: Entry[] }[] {
    const key = this.place(sessionId)?.key;
    const segments: { firstSeq: number; lastSeq: number; entries: Entry[] }[] = [];
    let bytes = 0;
    // Frames may have been added to the segment that contains the frame.
    const containing = key === undefined ? undefined : this.#database.prepare<SegmentRow>(FIND).get(key, after + 1);
    let row = (containing?.lastSeq ?? 0) > after ? containing : undefined;
    while (row !== undefined && bytes < storeLimits.storeSliceBytesMax) {
      const { firstSeq, lastSeq, data } = row;
      segments.push({ firstSeq, lastSeq, entries: decodeSegment(sessionId, firstSeq, data) });
      bytes += data.length;
      row = this.#database.prepare<SegmentRow>(NEXT).get(key, firstSeq);
    }
    return segments;
  }

  noteEvents(key: number, firstSeq: number): void {
    this.forgetKinds();
    this.#database.prepare(INSERT_EVENTS).run(key, firstSeq);
  }
}

/** Segments that are being joined. */
interface Group {
  readonly id: number;
  readonly firstSeq: number;
  readonly entries: Entry[];
  readonly bytes: number;
}

function sumBytes(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
}

interface SegmentRow {
  id: number;
  firstSeq: number;
  lastSeq: number;
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
// Concatenation turns bytes into text, hence the cast. They are UTF-8 without NUL, so they do not change.
const GROW = 'UPDATE segments SET data = CAST(data || ? AS BLOB), last_seq = ? WHERE id = ?';
const REPLACE = 'UPDATE segments SET data = ?, last_seq = ? WHERE id = ?';
const REMOVE = 'DELETE FROM segments WHERE id = ?';
const COLUMNS = 'g.id, g.first_seq AS firstSeq, g.last_seq AS lastSeq, g.data';
const FIND = `
  SELECT ${COLUMNS} FROM segments g
  WHERE g.session_key = ? AND g.first_seq <= ? ORDER BY g.first_seq DESC LIMIT 1`;
const NEXT = `
  SELECT ${COLUMNS} FROM segments g
  WHERE g.session_key = ? AND g.first_seq > ? ORDER BY g.first_seq LIMIT 1`;
const INSERT_EVENTS = 'INSERT OR IGNORE INTO event_segments (session_key, first_seq) VALUES (?, ?)';
const HAS_EVENTS = `
  SELECT 1 FROM segments g JOIN event_segments e ON e.session_key = g.session_key AND e.first_seq = g.first_seq
  WHERE g.id = ?`;
const REMOVE_EVENTS = 'DELETE FROM event_segments WHERE session_key = ? AND first_seq = ?';
const EVENTS = `
  SELECT ${COLUMNS} FROM event_segments e
  JOIN segments g ON g.session_key = e.session_key AND g.first_seq = e.first_seq WHERE e.session_key = ?`;
const FIND_EVENTS = `${EVENTS} AND e.first_seq <= ? ORDER BY e.first_seq DESC LIMIT 1`;
const NEXT_EVENTS = `${EVENTS} AND e.first_seq > ? ORDER BY e.first_seq LIMIT 1`;
const BYTES = 'SELECT coalesce(sum(length(g.data)), 0) AS bytes';
const EVENT_BYTES = `
  ${BYTES} FROM event_segments e JOIN segments g ON g.session_key = e.session_key AND g.first_seq = e.first_seq
  WHERE e.session_key = ?1 AND g.last_seq > ?2
    AND e.first_seq >= coalesce((SELECT max(first_seq) FROM segments WHERE session_key = ?1 AND first_seq <= ?2), 0)`;
const ALL_BYTES = `${BYTES} FROM segments g WHERE g.session_key = ?1 AND g.last_seq > ?2`;
