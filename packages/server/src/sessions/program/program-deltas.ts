import { inBackground, reportAsWarning } from '../../base/in-background.ts';
import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { ProgramEvent } from '../../engines/program.ts';
import type { NewSessionFrame } from '../../frames/frames.ts';
import { DeltaWriter } from '../delta-writer.ts';
import type { SessionState } from '../state.ts';
import { findThread } from './find-thread.ts';

export interface ProgramDeltasOptions {
  readonly state: SessionState;
  readonly nextEventId: () => string;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly writeDelta: (frame: NewSessionFrame) => Promise<unknown>;
}

interface Growing {
  readonly startId: string;
  readonly writer: DeltaWriter;
  readonly stop: AbortController;
  /** What was told of each block. */
  readonly told: Map<string, { readonly index: number; text: string }>;
}

/** What agents of a program say while they say it, one writer for each request that is under way. */
export class ProgramDeltas {
  readonly #options: ProgramDeltasOptions;
  readonly #growing = new Map<string, Growing>();

  constructor(options: ProgramDeltasOptions) {
    this.#options = options;
  }

  start({ key, block, kind }: Extract<ProgramEvent, { type: 'block_started' }>): void {
    const growing = this.#open(key);
    if (growing === undefined) return;
    const index = growing.told.size;
    growing.told.set(block, { index, text: '' });
    growing.writer.begin(index, kind);
  }

  async grow({ key, block, text }: Extract<ProgramEvent, { type: 'block_delta' }>): Promise<void> {
    const growing = this.#growing.get(key);
    const told = growing?.told.get(block);
    if (growing === undefined || told === undefined) return;
    told.text += text;
    await growing.writer.grow(told.index, text);
  }

  /** The id that the whole block has, if it is what was seen to grow. */
  end({ key, block, content }: Extract<ProgramEvent, { type: 'block_ended' }>): string | undefined {
    const growing = this.#growing.get(key);
    const told = growing?.told.get(block);
    if (growing === undefined || told === undefined) return undefined;
    growing.told.delete(block);
    const text = content.type === 'text' ? content.text : content.type === 'thinking' ? content.thinking : '';
    const isTrue = text.startsWith(told.text);
    // What nobody saw growing, so that deltas always add up to the whole.
    if (isTrue && text.length > told.text.length)
      inBackground(growing.writer.grow(told.index, text.slice(told.text.length)), reportAsWarning);
    growing.writer.flush();
    return isTrue ? growing.writer.eventIds.get(told.index) : undefined;
  }

  /** Nothing may come behind the end of its request. */
  stopUnwanted(): void {
    for (const [key, { startId, stop }] of this.#growing) {
      if (this.#startIdOf(key) === startId) continue;
      stop.abort();
      this.#growing.delete(key);
    }
  }

  #open(key: string): Growing | undefined {
    const { state, ...options } = this.#options;
    const startId = this.#startIdOf(key);
    const known = this.#growing.get(key);
    if (known?.startId === startId) return known;
    const thread = findThread(state, key);
    if (startId === undefined || thread === undefined) return undefined;
    const stop = new AbortController();
    const writer = new DeltaWriter({ ...options, threadId: thread.id, turn: thread.turn, signal: stop.signal });
    const growing = { startId, writer, stop, told: new Map() };
    this.#growing.set(key, growing);
    return growing;
  }

  #startIdOf(key: string): string | undefined {
    const phase = findThread(this.#options.state, key)?.turn?.phase;
    return phase?.type === 'program' && phase.startId !== null ? phase.startId : undefined;
  }
}
