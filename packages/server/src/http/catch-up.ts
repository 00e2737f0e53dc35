import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

/**
 * Official clients send first and open the stream second. A fast agent has answered by then, and a stream that shows only
 * what is to come would wait for ever. So the first stream soon after a send begins where the send was, unless somebody
 * has seen what came of it in another way: who opens a stream then waits for what is next.
 */
export interface CatchUp {
  /** Something is about to be sent to a session whose log ends here. */
  sent(sessionId: string, head: number): void | Promise<void>;
  /** Where a stream that is opened now begins; undefined: at the end. */
  take(sessionId: string): number | undefined | Promise<number | undefined>;
  /** Somebody has read a session at rest, up to this frame. What was sent later is not meant. */
  seen(sessionId: string, upTo: number): void | Promise<void>;
}

/** One that asks nobody. */
export interface LocalCatchUp extends CatchUp {
  sent(sessionId: string, head: number): void;
  take(sessionId: string): number | undefined;
  seen(sessionId: string, upTo: number): void;
}

export function createCatchUp(clock: Pick<Clock, 'steady'>): LocalCatchUp {
  const sends = new Map<string, Unwatched>();
  return {
    sent: (sessionId, head) => {
      forgetOld();
      // Of several sends that nobody has watched the first one counts.
      const first = sends.get(sessionId)?.first ?? head;
      sends.delete(sessionId);
      sends.set(sessionId, { first, last: head, at: clock.steady() });
    },
    take: (sessionId) => {
      forgetOld();
      const known = sends.get(sessionId);
      sends.delete(sessionId);
      return known?.first;
    },
    seen: (sessionId, upTo) => {
      const known = sends.get(sessionId);
      if (known === undefined) return;
      if (known.last < upTo) sends.delete(sessionId);
      // In its place, so that they stay in the order of their sends.
      else sends.set(sessionId, { ...known, first: Math.max(known.first, upTo) });
    },
  };

  /** They stand in the order of their sends, so the old ones come first. */
  function forgetOld(): void {
    const latest = clock.steady() - limits.catchUpMs;
    for (const [sessionId, { at }] of sends) {
      if (at > latest) return;
      sends.delete(sessionId);
    }
  }
}

interface Unwatched {
  /** Where the log ended at the first and at the last send. */
  readonly first: number;
  readonly last: number;
  readonly at: number;
}
