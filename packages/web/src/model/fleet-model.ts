import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { SessionModel } from './session-model.ts';

type LoadState = 'unloaded' | 'loading' | 'loaded';

/** A session and how far its log is loaded. */
export interface KnownSession {
  readonly model: SessionModel;
  load: LoadState;
  /** Events that arrived while the log was being read; folded after the log. Events that the log contained are recognized by their cursors. */
  waiting: FleetEvent[];
}

/** All sessions that this tab knows. */
export class FleetModel {
  readonly sessions = new Map<string, KnownSession>();
  /** The number of the newest event of any session. */
  seq = 0;
  events = 0;
  /** Gaps reported by the stream itself. */
  gaps = 0;

  /** Folds the event or queues it. Returns the session whose log has to be read first, if any. */
  take(event: FleetEvent): string | undefined {
    const { session_id: sessionId } = event;
    if (sessionId === undefined) {
      if (event.type === 'gap') this.gaps += 1;
      return undefined;
    }
    if (event.type === 'over') {
      this.sessions.delete(sessionId);
      return undefined;
    }
    const known = this.know(sessionId);
    if (known.load === 'loaded') {
      this.#fold(known, event);
      return undefined;
    }
    known.waiting.push(event);
    return known.load === 'unloaded' ? sessionId : undefined;
  }

  /** Returns the session, adding it if it is new. */
  know(sessionId: string): KnownSession {
    const found = this.sessions.get(sessionId);
    if (found !== undefined) return found;
    const added: KnownSession = { model: new SessionModel(sessionId), load: 'unloaded', waiting: [] };
    this.sessions.set(sessionId, added);
    return added;
  }

  /** Folds a part of a log that is being read. */
  takeLog(sessionId: string, events: readonly FleetEvent[]): void {
    const known = this.sessions.get(sessionId);
    if (known !== undefined) for (const event of events) this.#fold(known, event);
  }

  /** Marks the log as read to its end, and folds the events that arrived in the meantime. */
  endLog(sessionId: string): void {
    const known = this.sessions.get(sessionId);
    if (known === undefined) return;
    known.load = 'loaded';
    const { waiting } = known;
    known.waiting = [];
    for (const event of waiting) this.#fold(known, event);
  }

  get gapCount(): number {
    let count = this.gaps;
    for (const { model } of this.sessions.values()) count += model.slots.gapCount;
    return count;
  }

  #fold({ model }: KnownSession, event: FleetEvent): void {
    if (!model.fold(event)) return;
    this.events += 1;
    if (event.seq !== null) this.seq = event.seq;
  }
}
