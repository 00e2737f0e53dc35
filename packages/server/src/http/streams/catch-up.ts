import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';

/**
 * Official clients send first and open the stream second. A fast agent may have finished by then, and a stream of only later
 * events would be silent forever. So the first stream soon after a send begins at the position of the send, unless a reader has
 * already seen the result in another way: then a new stream waits for later events.
 */
export interface CatchUp {
  /** Called before events are sent to a session whose log ends at `head`. */
  sent(sessionId: string, head: number): void | Promise<void>;
  /** Returns the position at which a new stream begins; undefined: at the end of the log. */
  take(sessionId: string): number | undefined | Promise<number | undefined>;
  /** Called when a reader has seen an idle session up to this frame. Later sends are not affected. */
  seen(sessionId: string, upTo: number): void | Promise<void>;
}

/** A catch-up in the memory of one process. */
export interface LocalCatchUp extends CatchUp {
  sent(sessionId: string, head: number): void;
  take(sessionId: string): number | undefined;
  seen(sessionId: string, upTo: number): void;
}

/** Creates the catch-up of a single process. */
export function createCatchUp(clock: Pick<Clock, 'steady'>): LocalCatchUp {
  const sends = new Map<string, Unwatched>();
  return {
    sent: (sessionId, head) => {
      forgetOld();
      // The first of several sends counts, if no stream has covered them.
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
      // Replaced in place, so that the map stays in the order of sends.
      else sends.set(sessionId, { ...known, first: Math.max(known.first, upTo) });
    },
  };

  /** Removes expired entries. The map is in the order of sends, so they come first. */
  function forgetOld(): void {
    const latest = clock.steady() - httpLimits.catchUpMs;
    for (const [sessionId, { at }] of sends) {
      if (at > latest) return;
      sends.delete(sessionId);
    }
  }
}

interface Unwatched {
  /** The end of the log at the first and at the last send. */
  readonly first: number;
  readonly last: number;
  readonly at: number;
}
