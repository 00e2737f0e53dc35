import type { ShownRow } from '../../model/summary.ts';
import { connectionLimits } from '../../stores/connection/limits.ts';
import { ThreadEvents } from './thread-events.ts';
import type { Block } from './blocks.ts';

/** A thread with its complete transcript. */
export interface WholeThread {
  readonly row: ShownRow;
  readonly blocks: readonly Block[];
}

/** Loads the transcripts of these threads, several at a time; `onRead` receives each one as it is loaded. */
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
  await Promise.all(Array.from({ length: connectionLimits.logReadsMax }, next));
  return rows.flatMap((row) => read.get(row) ?? []);
}
