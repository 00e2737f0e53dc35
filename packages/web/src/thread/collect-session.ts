import type { ShownRow } from '../model/summary.ts';
import { limits } from '../limits.ts';
import { ThreadEvents } from './thread-events.ts';
import type { Block } from './transcript.ts';

/** A thread with everything that happened in it. */
export interface WholeThread {
  readonly row: ShownRow;
  readonly blocks: readonly Block[];
}

/** The transcripts of all these threads, a few at a time, each told when it is read. */
export async function collectThreads(
  rows: readonly ShownRow[],
  onRead: (thread: WholeThread) => void = () => {},
): Promise<readonly WholeThread[]> {
  const waiting = rows.filter(({ threadId }) => threadId !== null);
  const read = new Map<ShownRow, WholeThread>();
  const next = async (): Promise<void> => {
    const row = waiting.shift();
    if (row === undefined) return;
    const events = new ThreadEvents(row.sessionId, row.threadId!);
    await events.refresh();
    if (events.problem !== '') throw new Error(events.problem);
    const whole = { row, blocks: events.blocks };
    read.set(row, whole);
    onRead(whole);
    await next();
  };
  await Promise.all(Array.from({ length: limits.logReadsMax }, next));
  return rows.flatMap((row) => read.get(row) ?? []);
}
