import { storeLimits } from './limits.ts';
import type { EncodedFrame, Entry, PrunedRange } from './frame.ts';
import { StoredFrame } from './frame.ts';
import type { ReadRequest, SeqRange } from './store.ts';

// Entries as lists and as segments. A segment is many entries in one piece of bytes: a line for each frame, and a line
// with nothing but a number for so many that were pruned. JSON text has no line breaks, so lines need no lengths.

/** Encodes frames as a segment. Segments can be concatenated. */
export function encodeSegment(lines: readonly (EncodedFrame | Entry)[]): Buffer {
  const parts = lines.map((line) => ('bytes' in line ? line.bytes : Buffer.from(String(line.lastSeq - line.seq + 1))));
  const segment = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length + 1, 0));
  let at = 0;
  for (const part of parts) {
    segment.set(part, at);
    at += part.length + 1;
    segment[at - 1] = LINE_END;
  }
  return segment;
}

/** The entries share the memory of the segment; nothing is copied or parsed. */
export function decodeSegment(sessionId: string, firstSeq: number, segment: Uint8Array): Entry[] {
  const entries: Entry[] = [];
  let seq = firstSeq;
  for (let start = 0; start < segment.length; ) {
    const end = segment.indexOf(LINE_END, start);
    const bytes = segment.subarray(start, end);
    const entry = bytes[0] === FRAME_START ? new StoredFrame(sessionId, seq, bytes) : toPruned(sessionId, seq, bytes);
    entries.push(entry);
    seq = entry.lastSeq + 1;
    start = end + 1;
  }
  return entries;
}

/** The entries of a read: those behind the cursor up to the limits, at least one. */
export function selectEntries(
  entries: readonly Entry[],
  { after, entriesMax, bytesMax }: Omit<ReadRequest, 'sessionId'>,
): Entry[] {
  const selected: Entry[] = [];
  let bytes = 0;
  for (let index = findBehind(entries, after); index < entries.length && selected.length < entriesMax; index++) {
    const entry = entries[index]!;
    bytes += bytesOf(entry);
    if (bytes > bytesMax && selected.length > 0) break;
    // A cursor may lie within a range: a reader received it before the range was pruned.
    selected.push(entry.seq > after ? entry : { ...toPlain(entry), seq: after + 1 });
  }
  return selected;
}

/** Replaces the frames of these sorted ranges with pruned ranges. Adjacent ranges are joined. */
export function pruneEntries(entries: readonly Entry[], ranges: readonly SeqRange[]): Entry[] {
  const kept: Entry[] = [];
  let at = findRange(ranges, entries[0]?.seq ?? 0);
  for (const entry of entries) {
    while (at < ranges.length && ranges[at]!.lastSeq < entry.seq) at++;
    const isPruned = entry.kind === 'pruned' || (ranges[at]?.firstSeq ?? Infinity) <= entry.seq;
    const previous = kept.at(-1);
    if (!isPruned) kept.push(entry);
    else if (previous?.kind === 'pruned') kept[kept.length - 1] = { ...previous, lastSeq: entry.lastSeq };
    else kept.push({ ...toPlain(entry) });
  }
  return kept;
}

/** Deltas as ranges, as if they were pruned. */
export function hideDeltas(entries: readonly Entry[]): Entry[] {
  return pruneEntries(
    entries.map((entry) => (entry.kind === 'frame' && entry.isDelta ? toPlain(entry) : entry)),
    [],
  );
}

/** A range of frames that were pruned or are skipped. */
export function toRange(sessionId: string, seq: number, lastSeq: number): PrunedRange {
  return { kind: 'pruned', sessionId, seq, lastSeq };
}

/** Whether reads that skip deltas need a segment of these lines. */
export function hasEvents(lines: readonly (EncodedFrame | Entry)[]): boolean {
  return lines.some((line) => 'bytes' in line && line.mark !== 'delta');
}

/** Groups lines into segments: as many as fit, and a larger line alone. */
export function toGroups<Line extends EncodedFrame | Entry>(lines: readonly Line[]): Line[][] {
  const groups: Line[][] = [];
  let bytes = Infinity;
  for (const line of lines) {
    bytes += bytesOf(line);
    if (bytes <= storeLimits.segmentBytesMax) {
      groups.at(-1)!.push(line);
      continue;
    }
    groups.push([line]);
    bytes = bytesOf(line);
  }
  return groups;
}

/** The bytes of an entry in memory. */
export function bytesOf(entry: EncodedFrame | Entry): number {
  return ('bytes' in entry ? entry.bytes.length : 0) + 1;
}

const LINE_END = '\n'.charCodeAt(0);
const FRAME_START = '['.charCodeAt(0);

function toPruned(sessionId: string, seq: number, bytes: Uint8Array): Entry {
  const count = Number(Buffer.from(bytes).toString());
  return { kind: 'pruned', sessionId, seq, lastSeq: seq + count - 1 };
}

function toPlain({ sessionId, seq, lastSeq }: Entry): PrunedRange {
  return toRange(sessionId, seq, lastSeq);
}

/** The index of the first entry that is not completely before the cursor. */
export function findBehind(entries: readonly { readonly lastSeq: number }[], after: number): number {
  return findFirst(entries, ({ lastSeq }) => lastSeq > after);
}

function findRange(ranges: readonly SeqRange[], from: number): number {
  return findFirst(ranges, ({ lastSeq }) => lastSeq >= from);
}

/** The index of the first item for which `isIt` holds, by binary search. `isIt` must hold for all later items. */
export function findFirst<Item>(items: readonly Item[], isIt: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isIt(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
