import { bytesOf, findBehind, findFirst, toRange } from '../entries.ts';
import type { Entry } from '../frame.ts';
import type { ReadRequest } from '../store.ts';
import type { MemoryLog } from './state.ts';

/** The result of a read that skips deltas: deltas and pruned frames are ranges. */
export function selectEvents(
  sessionId: string,
  { entries, eventSeqs, head }: MemoryLog,
  { after, entriesMax, bytesMax }: Omit<ReadRequest, 'sessionId'>,
): Entry[] {
  const selected: Entry[] = [];
  let cursor = after;
  let bytes = 0;
  const add = (entry: Entry): boolean => {
    bytes += bytesOf(entry);
    if (selected.length > 0 && (bytes > bytesMax || selected.length >= entriesMax)) return false;
    selected.push(entry);
    cursor = entry.lastSeq;
    return true;
  };
  for (let index = findFirst(eventSeqs, (seq) => seq > after); index < eventSeqs.length; index++) {
    const seq = eventSeqs[index]!;
    if (seq > cursor + 1 && !add(toRange(sessionId, cursor + 1, seq - 1))) return selected;
    if (!add(entries[findBehind(entries, seq - 1)]!)) return selected;
  }
  if (cursor < head) add(toRange(sessionId, cursor + 1, head));
  return selected;
}
