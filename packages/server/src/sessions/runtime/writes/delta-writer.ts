import type { Clock } from '../../../base/clock.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { QueueState } from '../../../engines/model/engine.ts';
import { DeltaCoalescer } from '../../../log/delta-coalescer.ts';
import type { Turn } from '../../../store/frame.ts';
import type { Schedule } from '../../../base/schedule.ts';
import type { FramePayloads, NewSessionFrame } from '../../../frames/frames.ts';

/** What writing the deltas of one model request needs. */
export interface DeltaWriterOptions {
  readonly threadId: string;
  readonly turn: Turn | null;
  readonly signal: AbortSignal;
  readonly nextEventId: () => string;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly writeDelta: (frame: NewSessionFrame) => Promise<unknown>;
}

type DeltaType = 'delta.queued' | 'delta.admitted' | 'delta.started' | GrowingType;
type GrowingType = 'delta.text' | 'delta.thinking' | 'delta.output';

/** Writes the deltas of a model response, with the event ids of its blocks, or of the output of a tool call. */
export class DeltaWriter {
  readonly #types = new Map<string, GrowingType>();
  readonly #options: DeltaWriterOptions;
  readonly #coalescer: DeltaCoalescer;
  #pending = 0;
  #written: Promise<unknown> = Promise.resolve();
  readonly #onWritten = () => this.#pending--;

  constructor(options: DeltaWriterOptions) {
    this.#options = options;
    const { clock, schedule } = options;
    const onDelta = (id: string, text: string) => this.#write(this.#types.get(id)!, { id, text });
    this.#coalescer = new DeltaCoalescer({ onDelta, clock, schedule });
  }

  /** Writes that the request waits in the queue of its engine. */
  queue({ reason, ahead, waitMs }: QueueState): void {
    this.#write('delta.queued', { reason, ahead, until: waitMs === null ? null : this.#options.clock.now() + waitMs });
  }

  admit(): void {
    this.#write('delta.admitted', {});
  }

  /** Returns the id that the event of the block will have. */
  begin(block: 'text' | 'thinking'): string {
    const id = this.#options.nextEventId();
    this.#types.set(id, block === 'text' ? 'delta.text' : 'delta.thinking');
    this.#coalescer.flush();
    this.#write('delta.started', { id, block });
    return id;
  }

  /** Waits when the disk is behind, so that a fast model does not fill the memory. */
  async grow(id: string, text: string): Promise<void> {
    this.#coalescer.push(id, text);
    if (this.#pending >= sessionLimits.pendingDeltasMax) await this.#written;
  }

  /** Writes new output of a running tool call, whose event is in the log. */
  async show(toolUseId: string, text: string): Promise<void> {
    this.#types.set(toolUseId, 'delta.output');
    await this.grow(toolUseId, text);
  }

  flush(): void {
    this.#coalescer.flush();
  }

  #write<Type extends DeltaType>(type: Type, payload: FramePayloads[Type]): void {
    const { threadId, turn, signal, clock, writeDelta } = this.#options;
    // The end of the request is in the log by then, and no delta may follow it.
    if (signal.aborted) return;
    const place = turn === null ? null : { streamId: turn.streamId, depth: turn.depth, run: turn.run };
    this.#pending++;
    // The payload matches the type, which the compiler cannot see through the generic.
    const frame = { threadId, turn: place, time: clock.now(), type, payload } as NewSessionFrame;
    this.#written = writeDelta(frame).then(this.#onWritten, this.#onWritten);
  }
}
