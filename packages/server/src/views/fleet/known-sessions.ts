import { limits } from '../../base/limits.ts';
import type { EncodedEvent } from './encoded-event.ts';
import type { FleetToken } from './fleet-token.ts';
import { behindFrame, type Place } from './place.ts';

/** What a reader of all sessions has of one of them. */
export interface KnownSession {
  place: Place;
  /** The newest run that it was told of. */
  runId: string | undefined;
  runStartedAt: number;
  /** Of the last event. */
  lastAt: number;
  isOpen: boolean;
  isWatched: boolean;
}

/** The sessions that one reader of all of them was told of: those at work, and of the others the newest. */
export class KnownSessions {
  /** The one that was told of last comes last. */
  readonly #all = new Map<string, KnownSession>();

  get(sessionId: string): KnownSession | undefined {
    return this.#all.get(sessionId);
  }

  /** One that is told of from now on. */
  add(sessionId: string, session: KnownSession): KnownSession {
    this.#all.delete(sessionId);
    this.#all.set(sessionId, session);
    this.#forgetOldest();
    return session;
  }

  delete(sessionId: string): boolean {
    return this.#all.delete(sessionId);
  }

  /** Where the reader is. What does not fit is told again from the beginning of its run. */
  toToken(now: number): FleetToken {
    const horizon = now - limits.fleetMarginMs;
    const recent = [...this.#all].toReversed().filter(([, { isOpen, lastAt }]) => isOpen || lastAt >= horizon);
    const named = recent.slice(0, limits.fleetTokenSessionsMax);
    const others = recent.slice(named.length).map(([, { runStartedAt }]) => runStartedAt);
    return {
      since: Math.max(0, Math.min(horizon, ...others)),
      places: new Map(named.map(([sessionId, { place }]) => [sessionId, place])),
    };
  }

  #forgetOldest(): void {
    if (this.#all.size <= limits.fleetKnownSessionsMax) return;
    for (const [sessionId, { isWatched, isOpen }] of this.#all) {
      if (isWatched || isOpen) continue;
      this.#all.delete(sessionId);
      return;
    }
  }
}

/** The reader was given one more event. */
export function noteEvent(session: KnownSession, event: EncodedEvent): void {
  const { seq, index, type, requestId, time } = event;
  // Nothing else comes of the frame of an end.
  session.place = type === 'done' ? behindFrame(seq) : { seq, index };
  session.lastAt = time;
  if (type === 'request_received') {
    session.runId = requestId;
    session.runStartedAt = time;
    session.isOpen = true;
  } else if (type === 'done') {
    session.runId = requestId;
    session.isOpen = false;
  }
}
