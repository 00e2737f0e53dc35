import { SseDecoder } from '@fleetloom/protocol/sse';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { programLimits } from '../../limits.ts';
import { contain } from '../../process/contain.ts';
import { isOversizedLine } from '../../process/oversized-line.ts';
import { PacedOutput } from '../../process/paced-output.ts';
import { type ProcessOptions, ProgramProcess } from '../../process/process.ts';
import type { ProgramVitals } from '../../program.ts';
import type { Dialer } from './dialer.ts';
import { createClient, type OpencodeAnswer, type OpencodeClient } from './client.ts';

/** Options of one `opencode serve` process. */
export interface OpencodeServerOptions extends Pick<ProcessOptions, 'launch' | 'directory' | 'register' | 'onExit'> {
  readonly password: string;
  readonly schedule: Schedule;
  /** Opens connections into the sandbox; null: opencode listens on a port of this machine. */
  readonly dialer: Dialer | null;
  /** Called when the stream of events is open: for the first time, or again after a break. */
  readonly onConnected: (isAgain: boolean) => void;
  /** Called with events of the stream, and the number of bytes that they were read from. */
  readonly onEvents: (values: readonly unknown[], bytes: number) => void;
}

/** A process of opencode with one connection for its events. It reconnects while the process lives. */
export class OpencodeServer {
  readonly #options: OpencodeServerOptions;
  readonly #process: ProgramProcess;
  #stdout = '';
  #client: OpencodeClient | undefined;
  #isConnected = false;
  #isHeld = false;
  #events: PacedOutput | undefined;
  #attempts = 0;
  #cancelStart: Cancel;
  #isOver = false;

  constructor(options: OpencodeServerOptions) {
    this.#options = options;
    this.#process = new ProgramProcess({
      ...options,
      onOutput: (bytes) => this.#readAddress(bytes),
      onExit: (exit) => {
        this.#isOver = true;
        this.#cancelStart();
        this.#client?.close();
        options.dialer?.close();
        options.onExit(exit);
      },
    });
    const { opencodeStartMs } = programLimits;
    this.#cancelStart = options.schedule(
      () => this.#process.fail(`it was not ready within ${opencodeStartMs / 1000} s`),
      opencodeStartMs,
    );
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get gone(): Promise<void> {
    return this.#process.gone;
  }

  get vitals(): ProgramVitals {
    return this.#process.vitals;
  }

  /** Whether requests can be sent. */
  get isReady(): boolean {
    return this.#isConnected && !this.#isOver;
  }

  /** Sends a request. Rejects without a response or a process. */
  async send(method: string, path: string, body?: unknown): Promise<OpencodeAnswer> {
    if (this.#client === undefined || this.#isOver) throw new Error('opencode has ended');
    return await this.#client.send(method, path, body);
  }

  /** Stops or continues reading events: in the meantime the system and opencode keep the events. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) this.#events?.hold();
    else this.#events?.release();
  }

  /** Kills the process for the given reason. */
  fail(reason: string): void {
    this.#process.fail(reason);
  }

  async close(options: { readonly isOverdue: boolean }): Promise<void> {
    this.hold(false);
    await this.#process.close({ isResting: false, ...options });
  }

  /** Waits for the first line with an address, which opencode prints when it listens. */
  #readAddress(bytes: Uint8Array): void {
    if (this.#client !== undefined) return;
    this.#stdout = (this.#stdout + Buffer.from(bytes).toString('latin1')).slice(-programLimits.programStderrChars);
    const port = Number(/listening on http:\/\/[\w.]+:(\d+)/.exec(this.#stdout)?.[1]);
    if (!Number.isInteger(port)) return;
    const { directory, password, dialer } = this.#options;
    const connect = () => dialer!.connect((line) => this.#process.order(line));
    this.#client = createClient({ directory, password, target: dialer === null ? { port } : { connect } });
    this.#listen();
  }

  #listen(): void {
    const decoder = new SseDecoder({ eventBytesMax: programLimits.programLineBytesMax });
    const isAgain = this.#attempts > 0;
    this.#attempts++;
    let response: { pause(): unknown; resume(): unknown } | undefined;
    let values: unknown[] = [];
    // Events are paced like the output of a process: endless small events must not block other sessions.
    const paced = new PacedOutput({
      onOutput: (bytes) => {
        for (const item of decoder.push(bytes)) if (item.type === 'event') values.push(...toValue(item.data));
      },
      onPassed: (bytes) => {
        const taken = values;
        values = [];
        if (taken.length > 0) this.#contain(() => this.#options.onEvents(taken, bytes));
      },
      pause: () => response?.pause(),
      resume: () => response?.resume(),
    });
    this.#client?.stream('/event', {
      onBytes: (bytes, from) => {
        if (response === undefined) {
          response = from;
          this.#events = paced;
          if (this.#isHeld) paced.hold();
          this.#isConnected = true;
          this.#cancelStart();
          this.#options.onConnected(isAgain);
        }
        paced.push(bytes);
      },
      onEnd: () => {
        if (this.#events === paced) this.#events = undefined;
        this.#isConnected = false;
        if (!this.#isOver) this.#options.schedule(() => this.#isOver || this.#listen(), RECONNECT_MS);
      },
    });
  }

  /** Contains errors of handling events, which are untrusted: an error ends the program, not the server. */
  #contain(run: () => void): void {
    const problem = contain(run);
    if (problem !== undefined) this.fail(`its events could not be handled (${problem})`);
  }
}

const RECONNECT_MS = 200;

function toValue(data: string): unknown[] {
  const bytes = Buffer.from(data);
  if (isOversizedLine(bytes, 0, bytes.length)) return [];
  try {
    return [JSON.parse(data)];
  } catch {
    // An event that cannot be parsed is skipped, and reading continues with the next one.
    return [];
  }
}
