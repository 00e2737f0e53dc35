import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { cutTextStart } from '@fleetloom/protocol/fleet';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { inBackground } from '../../../base/in-background.ts';
import { programLimits } from '../limits.ts';
import type { Schedule } from '../../../base/schedule.ts';
import { startProcess } from '../../../base/process/start-process.ts';
import type { ProgramVitals } from '../program.ts';
import { contain } from './contain.ts';
import { endMarked, MARK } from './end-marked.ts';
import { killGroup } from './kill-group.ts';
import { TERMINATE } from '../launch/relay.ts';
import type { ProgramLaunch } from '../launch/to-launch.ts';
import { PacedOutput } from './paced-output.ts';
import type { ProcessRegister } from './process-register.ts';

/** Options of a program's process. */
export interface ProcessOptions {
  readonly launch: ProgramLaunch;
  readonly directory: string;
  readonly register: ProcessRegister;
  readonly schedule: Schedule;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Called after some pieces of output, before other events are handled, with the number of their bytes. */
  readonly onPassed?: ((bytes: number) => void) | undefined;
  /** Called when all output was passed on and no process of the program is left. */
  readonly onExit: (exit: ProcessExit) => void;
}

/** How a process ended. */
export interface ProcessExit {
  /** A message for people: how the process ended, and the end of its stderr. */
  readonly message: string;
  /** The process ended because this server closed it. */
  readonly isWanted: boolean;
}

/** How a process is closed. */
export interface CloseOptions {
  readonly isResting: boolean;
  /** The program did not stop in time after an interrupt. */
  readonly isOverdue?: boolean | undefined;
}

/**
 * A program in a process group of its own and with a mark of its own, so that all processes of its tools can be
 * ended with it. It is registered at once: after a crash, the server finds it at its next start.
 */
export class ProgramProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess | undefined;
  #stderr = '';
  #startError: Error | undefined;
  /** Why this server ended the program. */
  #fault: string | undefined;
  #isWrittenDown = false;
  #isClosing = false;
  #isGone = false;
  #gone: Promise<void>;
  #inputBytes = 0;
  readonly #output: PacedOutput;
  #lastByteAt: number | null = null;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const mark = randomUUID();
    this.#child = this.#start(mark);
    const { pid } = this;
    if (pid !== undefined) this.#writeDown(pid, mark);
    const stdout = this.#child?.stdout;
    this.#output = new PacedOutput({
      onOutput: (bytes) => this.#contain(() => options.onOutput(bytes)),
      onPassed: (bytes) => this.#contain(() => options.onPassed?.(bytes)),
      pause: () => stdout?.pause(),
      resume: () => stdout?.resume(),
    });
    this.#listen();
    this.#gone = new Promise((resolve) => {
      const child = this.#child;
      if (child === undefined || pid === undefined) {
        // Deferred until the constructor is done: a listener for the end uses the object.
        return setImmediate(() => this.#end(this.#whyNotStarted(), resolve));
      }
      let ending: Promise<unknown> = Promise.resolve();
      child.once('exit', () => {
        killGroup(pid);
        ending = endMarked(mark);
      });
      child.once('close', (code, signal) => {
        const reason = this.#isWrittenDown ? toReason(code, signal, options.launch) : this.#whyNotStarted();
        const end = () => this.#end(this.#fault ?? reason, resolve);
        inBackground(Promise.allSettled([ending, this.#output.empty()]).then(end), end);
      });
    });
  }

  /** Resolves when no process of the program is left. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The state of the process. A program that has ended counts as dead, even if its children still hold its pipes. */
  get vitals(): ProgramVitals {
    const { pid = null, exitCode = null, signalCode = null } = this.#child ?? {};
    const isAlive = pid !== null && exitCode === null && signalCode === null;
    return { pid, isAlive, lastByteAt: this.#lastByteAt };
  }

  write(line: string): void {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) return;
    this.#inputBytes += line.length;
    // The program has stopped reading, and its unread input would fill the server's memory.
    if (this.#inputBytes > programLimits.programInputCharsMax) return this.kill();
    stdin.write(line, () => (this.#inputBytes -= line.length));
  }

  /** Writes a line to the relay that runs the program, if the program has one. */
  order(line: string): void {
    const pipe = pipeOf(this.#child, ORDER_FD);
    if (pipe?.writable === true) pipe.write(line);
  }

  /** Makes the program wait: its output stays in the pipe. */
  pause(): void {
    this.#output.hold();
  }

  resume(): void {
    this.#output.release();
  }

  /**
   * Ends the program. An idle program exits at the end of its input; if it is not idle or does not exit, it receives SIGTERM, and then SIGKILL.
   * An overdue program has had its time to exit: it receives SIGTERM at once.
   */
  async close({ isResting, isOverdue = false }: CloseOptions): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      const { schedule } = this.#options;
      const endMs = isOverdue ? 0 : programLimits.programEndMs;
      this.resume();
      // In a turn the program would treat the end of its input as a denial of its open requests, and continue.
      if (isResting && !isOverdue) this.#child?.stdin?.end();
      const cancels = [
        schedule(() => this.#terminate(), isResting ? endMs : 0),
        schedule(() => this.kill(), endMs + programLimits.programTermMs),
      ];
      const cancelAll = () => cancels.forEach((cancel) => cancel());
      inBackground(this.#gone.then(cancelAll), cancelAll);
    }
    await this.#gone;
  }

  kill(): void {
    if (!this.#isGone) killGroup(this.pid);
  }

  /** Kills the program for the given reason. */
  fail(reason: string): void {
    this.#fault ??= reason;
    this.kill();
  }

  /** Contains errors of handling the program's output, which is untrusted: an error ends the program, not the server. */
  #contain(run: () => void): void {
    const problem = contain(run);
    if (problem !== undefined) this.fail(`its output could not be handled (${problem})`);
  }

  #start(mark: string): ChildProcess | undefined {
    const { launch, directory } = this.#options;
    const { file, args, data, hasRelay } = launch;
    const child = startProcess(
      file,
      args,
      {
        cwd: directory,
        env: { ...launch.env, [MARK]: mark },
        // `detached` gives the program a process group of its own.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', hasRelay ? 'pipe' : 'ignore', ...data.map(() => 'pipe' as const)],
      },
      (error) => (this.#startError ??= error),
    );
    for (const [at, bytes] of data.entries()) pipeOf(child, DATA_FD + at)?.end(bytes);
    return child;
  }

  /** Registers the program. A program that cannot be registered is killed, because it could not be found after a crash. */
  #writeDown(pid: number, mark: string): void {
    try {
      this.#options.register.add(pid, mark);
      this.#isWrittenDown = true;
    } catch (error) {
      this.#startError = error instanceof Error ? error : new Error(String(error));
      killGroup(pid);
    }
  }

  #listen(): void {
    const { stdout, stderr } = this.#child ?? {};
    stdout?.on('data', (bytes: Buffer) => {
      this.#hear();
      this.#output.push(bytes);
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#hear();
      this.#stderr = cutTextStart(this.#stderr + text, programLimits.programStderrChars);
    });
  }

  /** Sends SIGTERM. A sandbox passes on SIGKILL only, so the relay inside receives an order instead. */
  #terminate(): void {
    if (this.#options.launch.hasRelay) this.order(TERMINATE);
    else killGroup(this.pid, 'SIGTERM');
  }

  #hear(): void {
    const { clock = systemClock } = this.#options;
    this.#lastByteAt = clock.now();
  }

  #whyNotStarted(): string {
    return `it cannot be started: ${this.#startError?.message ?? 'the system gives no reason'}`;
  }

  #end(reason: string, resolve: () => void): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.pid !== undefined) this.#options.register.remove(this.pid);
    const complaint = this.#stderr.trim();
    const message = complaint === '' ? reason : `${reason}: ${complaint}`;
    // `onExit` handles the last output: an error in it must not keep `gone` from resolving.
    this.#contain(() => this.#options.onExit({ message, isWanted: this.#isClosing }));
    resolve();
  }
}

const ORDER_FD = 3;
const DATA_FD = 4;

function pipeOf(child: ChildProcess | undefined, fd: number): Writable | undefined {
  const pipe = child?.stdio[fd];
  return pipe !== null && pipe !== undefined && 'write' in pipe ? pipe : undefined;
}

/** The reason of an exit. A sandbox reports a signal like a shell, as 128 plus its number. */
function toReason(code: number | null, signal: NodeJS.Signals | null, { hasRelay }: ProgramLaunch): string {
  const inside = hasRelay && code !== null && code > 128 ? signalOf(code - 128) : undefined;
  const by = signal ?? inside;
  return by === null || by === undefined ? `it ended with exit code ${code}` : `it was ended by ${by}`;
}

function signalOf(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
