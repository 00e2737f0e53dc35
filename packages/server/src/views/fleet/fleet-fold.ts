import { logLimits } from '../../log/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { Entry } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { readFirst } from '../read-frames.ts';
import { cutBehind, type EncodedEvent, encodeEvents, TextBlock, toTextEvent } from './encoded-event.ts';
import { findFold } from './find-run.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';
import { afterFrame, isAfter, type FleetCursor } from './fleet-cursor.ts';
import { toSavedView } from './view-checkpoint.ts';

/** The log to fold, and the options of the view. */
export interface FoldRequest {
  readonly store: Pick<Store, 'read' | 'heads' | 'runs' | 'checkpoints'>;
  readonly sessionId: string;
  readonly options: FleetViewOptions;
  /** Many frames lie between the frame and the nearest checkpoint. */
  readonly onLong?: ((sessionId: string, seen: number) => void) | undefined;
}

/** Folds a log into fleet events, frame by frame. */
export class FleetFold {
  readonly #view: FleetView;
  /** The `seq` of the last folded frame. */
  seq: number;

  private constructor(view: FleetView, seq: number) {
    this.#view = view;
    this.seq = seq;
  }

  /** Creates a fold that is ready to emit the events behind a frame. Folding begins at a checkpoint or at the start of the run. */
  static async begin({ store, sessionId, options, onLong }: FoldRequest, seen: number): Promise<FleetFold> {
    const { seq, checkpoint } = await findFold(store, sessionId, seen);
    if (seen - seq > 2 * logLimits.checkpointFrames) onLong?.(sessionId, seen);
    const view = new FleetView(options, checkpoint && toSavedView(checkpoint, options.gate));
    if (seq > 0 && checkpoint === undefined) view.take(await readFirst(store, sessionId));
    return new FleetFold(view, seq);
  }

  /** Returns the events of frames with `seq >= from`. Earlier frames are only folded: encoding events is most of the work. */
  take(entries: readonly Entry[], from = 0): EncodedEvent[] {
    const events: EncodedEvent[] = [];
    const texts = new OpenBlock(events);
    for (const entry of entries) {
      this.seq = entry.lastSeq;
      if (entry.kind === 'pruned') {
        this.#view.skip();
        continue;
      }
      const frame = toSessionFrame(entry.value);
      const emitted = this.#view.take(frame);
      if (entry.seq < from) continue;
      const text = toTextEvent(frame, emitted);
      if (text !== undefined) {
        texts.push(frame, text);
        continue;
      }
      if (emitted.events.length === 0) continue;
      texts.end();
      for (const event of encodeEvents(frame, emitted)) events.push(event);
    }
    texts.end();
    return events;
  }
}

/** Collects text events of consecutive frames until another event follows, and encodes them in one piece. */
class OpenBlock {
  readonly #events: EncodedEvent[];
  #text = '';
  #first = 0;
  #last: Pick<SessionFrame, 'seq' | 'time'> | undefined;

  constructor(events: EncodedEvent[]) {
    this.#events = events;
  }

  push(frame: SessionFrame, text: string): void {
    if (this.#text === '') this.#first = frame.seq;
    this.#text += text;
    this.#last = frame;
    if (this.#text.length >= viewLimits.fleetBlockCharsMax) this.end();
  }

  end(): void {
    if (this.#text === '') return;
    const { seq, time } = this.#last!;
    this.#events.push(new TextBlock({ seq: this.#first, index: 0 }, seq, time, Buffer.from(this.#text)));
    this.#text = '';
  }
}

/** Reads and folds the log behind a cursor for a single reader, batch by batch. */
export class OwnFold {
  readonly #request: FoldRequest;
  readonly #fold: FleetFold;
  readonly #after: FleetCursor;
  /** All events up to this cursor were returned. */
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

  /** The next batch of events; undefined at the end of the log. `upTo`: the last frame to read. */
  async next(upTo = Number.POSITIVE_INFINITY): Promise<EncodedEvent[] | undefined> {
    const { store, sessionId } = this.#request;
    const { logBatchEntriesMax: entriesMax } = storeLimits;
    const { fleetBatchBytesMax: bytesMax } = viewLimits;
    const read = await store.read({ sessionId, after: this.#fold.seq, entriesMax, bytesMax });
    const entries = (read.at(-1)?.lastSeq ?? 0) <= upTo ? read : read.filter(({ lastSeq }) => lastSeq <= upTo);
    if (entries.length === 0) return undefined;
    const events = this.#fold.take(entries, this.#after.seq).flatMap((event) => cutBehind(event, this.#after) ?? []);
    const reached = afterFrame(this.#fold.seq);
    if (isAfter(reached, this.cursor)) this.cursor = reached;
    // A long log is read here for a single reader: other readers run in between.
    await yieldToEventLoop();
    return events;
  }
}
