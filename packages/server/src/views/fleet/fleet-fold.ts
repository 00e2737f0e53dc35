import { limits } from '../../base/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import type { Entry } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { readFirst } from '../read-frames.ts';
import { type EncodedEvent, encodeTelling } from './encoded-event.ts';
import { findFold } from './find-run.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';
import { behindFrame, isBehind, type Place } from './place.ts';
import { toSavedView } from './view-checkpoint.ts';

export interface FoldRequest {
  readonly store: Pick<Store, 'read' | 'heads' | 'runs' | 'checkpoints'>;
  readonly sessionId: string;
  readonly options: FleetViewOptions;
  /** Many frames lie between the frame and the nearest checkpoint. */
  readonly onLong?: ((sessionId: string, seen: number) => void) | undefined;
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

  /** A fold that is ready to emit the events behind a frame. It begins at a checkpoint or the start of the run. */
  static async begin({ store, sessionId, options, onLong }: FoldRequest, seen: number): Promise<FleetFold> {
    const { seq, checkpoint } = await findFold(store, sessionId, seen);
    if (seen - seq > 2 * limits.checkpointFrames) onLong?.(sessionId, seen);
    const view = new FleetView(options, toSavedView(checkpoint, options.gate));
    if (seq > 0 && checkpoint === undefined) view.take(await readFirst(store, sessionId));
    return new FleetFold(view, seq);
  }

  /** The events of frames from a number on. Earlier frames are folded only: encoding events is most of the work. */
  take(entries: readonly Entry[], from = 0): EncodedEvent[] {
    const events: EncodedEvent[] = [];
    for (const entry of entries) {
      this.seq = entry.lastSeq;
      if (entry.kind === 'pruned') {
        this.#view.skip();
        continue;
      }
      const frame = toSessionFrame(entry.value);
      const telling = this.#view.take(frame);
      if (entry.seq < from) continue;
      for (const event of encodeTelling(frame, telling)) events.push(event);
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
    const events = this.#fold.take(entries, this.#after.seq).filter((event) => isBehind(event, this.#after));
    const reached = behindFrame(this.#fold.seq);
    if (isBehind(reached, this.place)) this.place = reached;
    // A long log is read for one reader: others have their turn in between.
    await yieldToEventLoop();
    return events;
  }
}
