import { programLimits } from '../limits.ts';
import type { ProgramEvent } from '../program.ts';
import { EventQueue } from './event-queue.ts';
import { ProgramBounds } from './program-bounds.ts';

/** How the process behind the events is made to wait, and ended. */
export interface ProgramEventsOptions {
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** Ends the process. Its end is then the only event that is still passed on. */
  readonly fail: (reason: string) => void;
}

/** The events of one process of a program, for one reader. A process that has too much open is ended. */
export class ProgramEvents extends EventQueue<ProgramEvent> {
  readonly #bounds = new ProgramBounds();
  readonly #fail: (reason: string) => void;
  #isFailed = false;

  constructor({ onFull, onRoom, fail }: ProgramEventsOptions) {
    const { programQueueBytesMax: sizeMax, programTakeBytesMax: takeMax } = programLimits;
    super({ sizeMax, takeMax, onFull, onRoom });
    this.#fail = fail;
  }

  override push(events: readonly ProgramEvent[], size: number): void {
    if (this.#isFailed) return super.push(events.filter(isExit), size);
    const problem = this.#bounds.take(events);
    if (problem === undefined) return this.#pushInParts(events, size);
    this.#isFailed = true;
    super.push(events.filter(isExit), size);
    this.#fail(problem);
  }

  /** What is pushed together is decided in one turn of the event loop, which many of these would hold for too long. */
  #pushInParts(events: readonly ProgramEvent[], size: number): void {
    const { programHeavyEventsMax: max, programTakeBytesMax: takeMax } = programLimits;
    let start = 0;
    let heavy = 0;
    for (const [at, { type }] of events.entries()) {
      if (!HEAVY.has(type) || ++heavy < max) continue;
      super.push(events.slice(start, at + 1), takeMax);
      [start, heavy] = [at + 1, 0];
    }
    super.push(start === 0 ? events : events.slice(start), size);
  }
}

/** Each is several frames, and a decision about the whole session. */
const HEAVY: ReadonlySet<ProgramEvent['type']> = new Set([
  'ask',
  'call',
  'result',
  'thread_opened',
  'thread_started',
  'thread_ended',
]);

function isExit({ type }: ProgramEvent): boolean {
  return type === 'exited';
}
