import { viewLimits } from '../limits.ts';
import type { EncodedEvent } from './encoded-event.ts';
import type { FleetToken } from './fleet-token.ts';
import { afterFrame, type FleetCursor } from './fleet-cursor.ts';

/** How much of one session a reader of all sessions has received. It holds positions, never events. */
export interface KnownSession {
  cursor: FleetCursor;
  /** All events of the frames up to this one were sent. */
  seq: number;
  /** Start time of the run that was sent last, or of the first run that is to be sent. */
  runStartedAt: number;
  /** Time of the last event. */
  lastAt: number;
  isOpen: boolean;
  /** Events are waiting to be sent, now or when the session gets a slot. */
  isPending: boolean;
  isWatched: boolean;
}

/** The sessions that a reader of all sessions has received: the open ones, and of the others the most recent. */
export class KnownSessions {
  /** In the order of their last events. */
  readonly #all = new Map<string, KnownSession>();
  /** The latest time that the cursor of the reader may name: runs that began later may be unknown yet. */
  sinceMax = Number.POSITIVE_INFINITY;

  get(sessionId: string): KnownSession | undefined {
    return this.#all.get(sessionId);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Adds a session whose events are sent from now on. */
  add(sessionId: string, session: KnownSession): KnownSession {
    this.#all.delete(sessionId);
    this.#all.set(sessionId, session);
    return session;
  }

  delete(sessionId: string): boolean {
    return this.#all.delete(sessionId);
  }

  /** Open sessions that are not followed. */
  listOpen(): string[] {
    return [...this.#all].filter(([, { isOpen, isWatched }]) => isOpen && !isWatched).map(([sessionId]) => sessionId);
  }

  /** The cursor of the reader. Sessions that do not fit are sent again from the beginning of their run. */
  toToken(now: number): FleetToken {
    const horizon = now - viewLimits.fleetMarginMs;
    // One pass without copies: it runs often, and there may be thousands of sessions.
    const named: (readonly [string, KnownSession])[] = [];
    let [since, count] = [horizon, 0];
    for (const entry of this.#all) {
      if (!isNeeded(entry[1], horizon)) continue;
      const dropped = named[count % viewLimits.fleetTokenSessionsMax];
      if (dropped !== undefined) since = Math.min(since, dropped[1].runStartedAt);
      named[count++ % viewLimits.fleetTokenSessionsMax] = entry;
    }
    const start = count > named.length ? count % named.length : 0;
    const inOrder = [...named.slice(start), ...named.slice(0, start)].toReversed();
    return {
      since: Math.max(0, Math.min(since, this.sinceMax)),
      cursors: new Map(inOrder.map(([sessionId, { cursor }]) => [sessionId, cursor])),
    };
  }

  /**
   * Forgets the idle sessions that received an event longest ago, when there are too many. Returns the time of the last of
   * those events: a run that starts later is new to the reader, whichever session it belongs to.
   */
  forgetOldest(now: number): number {
    let lastAt = Number.NEGATIVE_INFINITY;
    let left = Math.min(this.#all.size - viewLimits.fleetKnownSessionsMax, LOOKED_AT_MAX);
    for (const [sessionId, session] of this.#all) {
      if (left-- <= 0) return lastAt;
      this.#all.delete(sessionId);
      if (!isNeeded(session, now - viewLimits.fleetMarginMs)) lastAt = Math.max(lastAt, session.lastAt);
      // Moved to the end, so that the next call looks at other sessions.
      else this.#all.set(sessionId, session);
    }
    return lastAt;
  }
}

/** More than one, so that sessions that could not be forgotten earlier are forgotten now. */
const LOOKED_AT_MAX = 2;

/** An ended run is kept for as long as clocks may differ: it may be found again, and must be recognised as sent. */
function isNeeded({ isOpen, isPending, isWatched, lastAt }: KnownSession, horizon: number): boolean {
  return isOpen || isPending || isWatched || lastAt >= horizon;
}

/** Notes an event that was sent. */
export function noteEvent(session: KnownSession, event: EncodedEvent): void {
  const { seq, index, type, time } = event;
  const isEnd = type === 'done';
  // The frame that ends a run has no further events.
  session.cursor = isEnd ? afterFrame(seq) : { seq, index };
  session.seq = isEnd ? seq : seq - 1;
  session.lastAt = time;
  if (isEnd) session.isOpen = false;
  else if (type === 'request_received') {
    session.runStartedAt = time;
    session.isOpen = true;
  }
}
