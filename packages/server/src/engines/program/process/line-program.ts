import { type LineSink, StreamJsonReader } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../limits.ts';
import { MAIN, type ProgramEvent } from '../program.ts';
import { contain } from './contain.ts';
import { isOversizedLine } from './oversized-line.ts';
import { type ProcessOptions, ProgramProcess } from './process.ts';
import { ProgramEvents } from './program-events.ts';

/** Options of a program that writes one JSON object per line. */
export interface LineProgramOptions extends Pick<ProcessOptions, 'launch' | 'directory' | 'register' | 'schedule'> {
  /** Called with each object. A line that cannot be parsed is skipped, and reading continues with the next one. */
  readonly onMessage: (message: Readonly<Record<string, unknown>>) => void;
  /** Called when the program has written everything. */
  readonly onEnd: () => void;
}

/** A process whose lines become events, for one reader. */
export class LineProgram {
  readonly process: ProgramProcess;
  readonly events: ProgramEvents;
  #waiting: ProgramEvent[] = [];
  #noiseBytes = 0;

  constructor(options: LineProgramOptions) {
    this.events = new ProgramEvents({
      onFull: () => this.process.pause(),
      onRoom: () => this.process.resume(),
      fail: (reason) => this.process.fail(reason),
    });
    const sink: LineSink = { message: options.onMessage, issue: () => {}, bytes: isOversizedLine };
    const reader = new StreamJsonReader({ lineBytesMax: programLimits.programLineBytesMax });
    this.process = new ProgramProcess({
      ...options,
      onOutput: (bytes) => {
        reader.read(bytes, sink);
        this.#noiseBytes = this.#waiting.length > 0 ? 0 : this.#noiseBytes + bytes.length;
        if (this.#noiseBytes > programLimits.programNoiseBytesMax) this.process.fail(NOISE);
      },
      // Flushes here, not after each piece: the log commits the events of one flush together.
      onPassed: (bytes) => this.flush(bytes),
      onExit: (exit) => {
        contain(() => reader.readEnd(sink));
        options.onEnd();
        this.push([{ type: 'exited', key: MAIN, ...exit }]);
        this.flush(0);
        this.events.end();
      },
    });
  }

  /** Adds events to the next flush. */
  push(events: readonly ProgramEvent[]): void {
    // A loop, because the number of arguments of a spread is limited.
    for (const event of events) this.#waiting.push(event);
  }

  /** Passes on the pushed events; `size` is the number of output bytes that they came from. */
  flush(size: number): void {
    const taken = this.#waiting;
    this.#waiting = [];
    this.events.push(taken, size);
  }
}

/** The reason for ending a program that writes much output without any event. */
export const NOISE = `it wrote more than ${programLimits.programNoiseBytesMax} bytes without any event`;
