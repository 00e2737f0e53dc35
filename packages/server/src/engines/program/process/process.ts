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
  /** Everything it said has been handed over, and nothing of it is left. */
  readonly onExit: (exit: ProcessExit) => void;
}

/** How a process ended. */
export interface ProcessExit {
  /** For people: how it ended, and the end of what it complained about. */
  readonly message: string;
  /** We closed it. */
  readonly isWanted: boolean;
}

/** How a process is closed. */
export interface CloseOptions {
  readonly isResting: boolean;
  /** It did not stop in time when it was interrupted. */
  readonly isOverdue?: boolean | undefined;
}

/**
 * The program in a process group of its own and under a mark of its own, so that whatever its tools have started can be
 * ended with it. It is written down at once: a server that dies finds it again at its next start.
 */
export class ProgramProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess | undefined;
  #stderr = '';
  #startError: Error | undefined;
  /** Why we have ended it. */
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
        // Not before the constructor is done: a listener for the end uses the object.
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

  /** Resolves when none of its processes is left. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** A program that has ended may still have children that hold its pipes: it counts as dead. */
  get vitals(): ProgramVitals {
    const { pid = null, exitCode = null, signalCode = null } = this.#child ?? {};
    const isAlive = pid !== null && exitCode === null && signalCode === null;
    return { pid, isAlive, lastByteAt: this.#lastByteAt };
  }

  write(line: string): void {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) return;
    this.#inputBytes += line.length;
    // The program has stopped reading, and its unread input would fill our memory.
    if (this.#inputBytes > programLimits.programInputCharsMax) return this.kill();
    stdin.write(line, () => (this.#inputBytes -= line.length));
  }

  /** Writes a line to the relay before the program, if there is one. */
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
   * When idle it ends on its own at the end of its input; otherwise, or if it does not, it receives SIGTERM, and then SIGKILL.
   * One that is overdue had its time before: it receives SIGTERM at once.
   */
  async close({ isResting, isOverdue = false }: CloseOptions): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      const { schedule } = this.#options;
      const endMs = isOverdue ? 0 : programLimits.programEndMs;
      this.resume();
      // In a turn the program would take the end of its input for a denial of its open requests, and continue.
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

  /** Ends it for what it does. */
  fail(reason: string): void {
    this.#fault ??= reason;
    this.kill();
  }

  /** What the program writes is foreign: an error while it is handled ends the program, and not the server. */
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
        // Detached is what gives it a group of its own.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', hasRelay ? 'pipe' : 'ignore', ...data.map(() => 'pipe' as const)],
      },
      (error) => (this.#startError ??= error),
    );
    for (const [at, bytes] of data.entries()) pipeOf(child, DATA_FD + at)?.end(bytes);
    return child;
  }

  /** A program that could not be found after a crash must not run. */
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

  /** A sandbox lets no signal through but the last one, so the order goes to the relay. */
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
    // What it wrote last is handled there: an error must not keep the session from learning of the end.
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

/** A sandbox reports a signal as shells do, as 128 plus its number. */
function toReason(code: number | null, signal: NodeJS.Signals | null, { hasRelay }: ProgramLaunch): string {
  const inside = hasRelay && code !== null && code > 128 ? signalOf(code - 128) : undefined;
  const by = signal ?? inside;
  return by === null || by === undefined ? `it ended with exit code ${code}` : `it was ended by ${by}`;
}

function signalOf(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
