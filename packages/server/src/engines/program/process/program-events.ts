import { programLimits } from '../limits.ts';
import type { ProgramEvent } from '../program.ts';
import { EventQueue } from './event-queue.ts';
import { ProgramBounds } from './program-bounds.ts';

/** Callbacks that pause, resume and end the process behind the events. */
export interface ProgramEventsOptions {
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** Ends the process. From then on only its `exited` event is passed on. */
  readonly fail: (reason: string) => void;
}

/** The events of one process of a program, for one reader. A process that exceeds its bounds is ended. */
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

  /** Pushes events in parts, because events of one part are handled in one turn of the event loop, which many heavy events would block. */
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

/** Events that become several frames each, and change the state of the whole session. */
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
