import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import { calledBy } from '../lines/called-by.ts';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';

/** Options of finding custom tool calls that are in no line. */
export interface LateCallsOptions {
  readonly schedule: Schedule;
  readonly isKnown: (callId: string) => boolean;
  /** Reads the transcripts that may contain the call by now. */
  readonly look: (callId: string) => void;
  /** Called when no transcript contains the call within the time limit. */
  readonly onMissing: (callId: string) => void;
}

/**
 * Finds custom tool calls of sub-agents whose lines the program does not print. The program requests their results and waits, without a
 * line that would be a reason to read the transcript: the transcripts are read again until one contains the call.
 */
export class LateCalls {
  readonly #options: LateCallsOptions;
  readonly #waiting = new Map<string, Cancel>();

  constructor(options: LateCallsOptions) {
    this.#options = options;
  }

  /** Begins the search if the line requests the result of an unknown call. */
  take(line: StreamJsonMessage): void {
    const callId = calledBy(line);
    if (callId === undefined || this.#options.isKnown(callId) || this.#waiting.has(callId)) return;
    this.#wait(callId, programLimits.transcriptCallMs / programLimits.transcriptCallPollMs);
  }

  /** Cancels all timers. */
  close(): void {
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  #wait(callId: string, looks: number): void {
    const next = () => {
      this.#waiting.delete(callId);
      if (this.#options.isKnown(callId)) return;
      if (looks === 0) return this.#options.onMissing(callId);
      this.#options.look(callId);
      this.#wait(callId, looks - 1);
    };
    this.#waiting.set(callId, this.#options.schedule(next, programLimits.transcriptCallPollMs));
  }
}
