import { limits } from '../../base/limits.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import type { Entry } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { readForward } from '../read-frames.ts';
import { type EncodedEvent, encodeTelling } from './encoded-event.ts';
import { findFold } from './find-run.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';
import { behindFrame, isBehind, type Place } from './place.ts';

export interface FoldRequest {
  readonly store: Pick<Store, 'read' | 'heads'>;
  readonly sessionId: string;
  readonly options: FleetViewOptions;
}

/** A view on its way through a log. */
export class FleetFold {
  readonly #view: FleetView;
  /** The last frame that it has taken. */
  seq: number;

  private constructor(view: FleetView, seq: number) {
    this.#view = view;
    this.seq = seq;
  }

  /** Ready to tell what comes behind a frame: it begins with its run, and what the session is. */
  static async begin({ store, sessionId, options }: FoldRequest, seen: number): Promise<FleetFold> {
    const start = await findFold(store, sessionId, seen);
    const view = new FleetView(options);
    if (start > 0) for await (const frame of readForward(store, sessionId, 0, 1)) view.take(frame);
    return new FleetFold(view, start);
  }

  take(entries: readonly Entry[]): EncodedEvent[] {
    const events: EncodedEvent[] = [];
    for (const entry of entries) {
      this.seq = entry.lastSeq;
      if (entry.kind === 'pruned') this.#view.skip();
      else {
        const frame = toSessionFrame(entry.value);
        events.push(...encodeTelling(frame, this.#view.take(frame)));
      }
    }
    return events;
  }
}

/** What lies behind a place, read by one reader for itself, batch by batch. */
export class OwnFold {
  readonly #request: FoldRequest;
  readonly #fold: FleetFold;
  readonly #after: Place;
  /** Up to here everything was given. */
  place: Place;

  private constructor(request: FoldRequest, fold: FleetFold, after: Place) {
    this.#request = request;
    this.#fold = fold;
    this.#after = after;
    this.place = after;
  }

  static async begin(request: FoldRequest, after: Place): Promise<OwnFold> {
    return new OwnFold(request, await FleetFold.begin(request, after.seq), after);
  }

  /** Undefined at the end of the log. */
  async next(): Promise<EncodedEvent[] | undefined> {
    const { store, sessionId } = this.#request;
    const { logBatchEntriesMax: entriesMax, fleetBatchBytesMax: bytesMax } = limits;
    const entries = await store.read({ sessionId, after: this.#fold.seq, entriesMax, bytesMax });
    if (entries.length === 0) return undefined;
    const events = this.#fold.take(entries).filter((event) => isBehind(event, this.#after));
    const reached = behindFrame(this.#fold.seq);
    if (isBehind(reached, this.place)) this.place = reached;
    // A long log is read for one reader: others have their turn in between.
    await new Promise((resolve) => setImmediate(resolve));
    return events;
  }
}
