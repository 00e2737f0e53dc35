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
    if (problem === undefined) return super.push(events, size);
    this.#isFailed = true;
    super.push(events.filter(isExit), size);
    this.#fail(problem);
  }
}

function isExit({ type }: ProgramEvent): boolean {
  return type === 'exited';
}
