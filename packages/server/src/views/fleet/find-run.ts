import type { Store } from '../../store/store.ts';
import { readBackward } from '../read-frames.ts';

type Readable = Pick<Store, 'read' | 'heads'>;

/**
 * The frame behind which a view has to begin to know everything that is told behind `seen`: that before the run of this
 * frame, or any between two runs.
 */
export async function findFold(store: Readable, sessionId: string, seen: number): Promise<number> {
  if (!(seen > 0)) return 0;
  for await (const { type, seq } of readBackward(store, sessionId, seen + 1)) {
    if (type === 'run.started') return seq - 1;
    // Between runs there is nothing to know. The end itself is told in several events, of which it may have the first.
    if (type === 'run.ended' && seq < seen) return seq;
  }
  return 0;
}

/** The frame before the first run that began at this time or later; undefined if there is none. */
export async function findRunSince(store: Readable, sessionId: string, time: number): Promise<number | undefined> {
  let found: number | undefined;
  for await (const frame of readBackward(store, sessionId, null)) {
    if (frame.type !== 'run.started') continue;
    if (frame.time < time) break;
    found = frame.seq - 1;
  }
  return found;
}
