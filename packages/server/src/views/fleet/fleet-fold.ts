import { logLimits } from '../../log/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import type { Entry } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { readFirst } from '../read-frames.ts';
import { type EncodedEvent, encodeEvents } from './encoded-event.ts';
import { findFold } from './find-run.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';
import { afterFrame, isAfter, type FleetCursor } from './fleet-cursor.ts';
import { toSavedView } from './view-checkpoint.ts';

/** The log to fold, and for which view. */
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
    if (seen - seq > 2 * logLimits.checkpointFrames) onLong?.(sessionId, seen);
    const view = new FleetView(options, checkpoint && toSavedView(checkpoint, options.gate));
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
      for (const event of encodeEvents(frame, telling)) events.push(event);
    }
    return events;
  }
}

/** What lies behind a cursor, read by one reader for itself, batch by batch. */
export class OwnFold {
  readonly #request: FoldRequest;
  readonly #fold: FleetFold;
  readonly #after: FleetCursor;
  /** Up to here everything was given. */
  cursor: FleetCursor;

  private constructor(request: FoldRequest, fold: FleetFold, after: FleetCursor) {
    this.#request = request;
    this.#fold = fold;
    this.#after = after;
    this.cursor = after;
  }

  static async begin(request: FoldRequest, after: FleetCursor): Promise<OwnFold> {
    return new OwnFold(request, await FleetFold.begin(request, after.seq), after);
  }

  /** Undefined at the end of the log. */
  async next(): Promise<EncodedEvent[] | undefined> {
    const { store, sessionId } = this.#request;
    const { logBatchEntriesMax: entriesMax } = storeLimits;
    const { fleetBatchBytesMax: bytesMax } = viewLimits;
    const entries = await store.read({ sessionId, after: this.#fold.seq, entriesMax, bytesMax });
    if (entries.length === 0) return undefined;
    const events = this.#fold.take(entries, this.#after.seq).filter((event) => isAfter(event, this.#after));
    const reached = afterFrame(this.#fold.seq);
    if (isAfter(reached, this.cursor)) this.cursor = reached;
    // A long log is read for one reader: others have their turn in between.
    await yieldToEventLoop();
    return events;
  }
}
