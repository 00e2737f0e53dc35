import type { Entry } from '../../store/frame.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { Store } from '../../store/store.ts';

export interface ExportSession {
  readonly store: Pick<Store, 'read' | 'heads'>;
  readonly sessionId: string;
}

/**
 * A whole session as lines of JSON: a first line with the last sequence number, one line for each frame of the log in order,
 * and a last line that proves that nothing is missing. The same log gives the same bytes. `frames.ts` defines the fields of a
 * frame; fields are added there, never renamed or removed, so an old export stays readable.
 */
export async function* exportSession({ store, sessionId }: ExportSession): AsyncGenerator<string, void> {
  const head = (await store.heads([sessionId])).get(sessionId) ?? 0;
  yield toLine({ type: 'export.begin', version: 1, session_id: sessionId, last_seq: head });
  let frames = 0;
  let cursor = 0;
  for await (const batch of readBatches(store, sessionId)) {
    const entries = batch.filter(({ seq }) => seq <= head);
    frames += entries.filter(({ kind }) => kind === 'frame').length;
    cursor = entries.at(-1)?.lastSeq ?? head;
    yield entries.map(toEntryLine).join('');
    if (cursor >= head) break;
  }
  // The session was deleted during the export. Without the last line the export is incomplete.
  if (cursor < head) throw new Error(`the log of ${sessionId} ends at ${cursor}, and was to go to ${head}`);
  yield toLine({ type: 'export.end', frames, last_seq: head });
}

function toEntryLine(entry: Entry): string {
  // Removed deltas are listed, so that gaps in the numbers are explained.
  if (entry.kind === 'pruned') return toLine({ seq: entry.seq, type: 'pruned', last_seq: entry.lastSeq });
  const { seq, type, time, threadId, turn, payload } = entry.value;
  const place = turn === null ? null : { run: turn.run, stream_id: turn.streamId, depth: turn.depth };
  return toLine({ seq, type, time, thread_id: threadId, turn: place, payload });
}

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
