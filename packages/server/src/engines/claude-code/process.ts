import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { ProgramVitals } from '../program.ts';
import { endMarked, MARK } from './end-marked.ts';
import { killGroup } from './kill-group.ts';
import type { ProcessRegister } from './process-register.ts';

export interface ProcessOptions {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly register: ProcessRegister;
  readonly schedule: Schedule;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Everything it said has been handed over, and nothing of it is left. */
  readonly onExit: (exit: ProcessExit) => void;
}

export interface ProcessExit {
  /** For people: how it ended, and the end of what it complained about. */
  readonly message: string;
  /** We closed it. */
  readonly isWanted: boolean;
}

/**
 * The program in a process group of its own and under a mark of its own, so that whatever its tools have started can be
 * ended with it. It is written down at once: a server that dies finds it again at its next start.
 */
export class ProgramProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  #stderr = '';
  #isClosing = false;
  #isGone = false;
  #gone: Promise<void>;
  #inputBytes = 0;
  #lastByteAt: number | null = null;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const { path, args, directory, onOutput } = options;
    const mark = randomUUID();
    const env = { ...options.env, [MARK]: mark };
    // Detached is what gives it a group of its own.
    this.#child = spawn(path, args, { cwd: directory, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr, pid } = this.#child;
    if (pid !== undefined) options.register.add(pid, mark);
    stdout?.on('data', (bytes: Buffer) => {
      this.#hear();
      onOutput(bytes);
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#hear();
      this.#stderr = (this.#stderr + text).slice(-limits.programStderrChars);
    });
    // A program that is gone takes nothing; its exit says so.
    stdin?.on('error', () => {});
    this.#gone = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#end(`it cannot be started: ${error.message}`, resolve));
      let ending: Promise<unknown> = Promise.resolve();
      this.#child.once('exit', () => {
        killGroup(pid);
        ending = endMarked(mark);
      });
      this.#child.once('close', (code, signal) => {
        void ending.finally(() => this.#end(toReason(code, signal), resolve));
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** One that has ended may still have children that hold its pipes: it is dead all the same. */
  get vitals(): ProgramVitals {
    const { pid = null, exitCode, signalCode } = this.#child;
    const isAlive = pid !== null && exitCode === null && signalCode === null;
    return { pid, isAlive, lastByteAt: this.#lastByteAt };
  }

  write(line: string): void {
    const { stdin } = this.#child;
    if (stdin === null || !stdin.writable) return;
    this.#inputBytes += line.length;
    // It has stopped to read, and what it is told would fill our memory.
    if (this.#inputBytes > limits.programInputCharsMax) return this.kill();
    stdin.write(line, () => (this.#inputBytes -= line.length));
  }

  /** Lets it wait: what it says stays in the pipe. */
  pause(): void {
    this.#child.stdout?.pause();
  }

  resume(): void {
    this.#child.stdout?.resume();
  }

  /** With nothing more to come it ends by itself; if not, it is told to, and then made to. */
  async close({ isResting }: { readonly isResting: boolean }): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      const { schedule } = this.#options;
      this.resume();
      this.#child.stdin?.end();
      const terminate = () => killGroup(this.pid, 'SIGTERM');
      const cancels = [
        schedule(terminate, isResting ? limits.programEndMs : 0),
        schedule(() => this.kill(), limits.programEndMs + limits.programTermMs),
      ];
      void this.#gone.then(() => cancels.forEach((cancel) => cancel()));
    }
    await this.#gone;
  }

  kill(): void {
    if (!this.#isGone) killGroup(this.pid);
  }

  #hear(): void {
    const { clock = systemClock } = this.#options;
    this.#lastByteAt = clock.now();
  }

  #end(reason: string, resolve: () => void): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.pid !== undefined) this.#options.register.remove(this.pid);
    const complaint = this.#stderr.trim();
    const message = complaint === '' ? reason : `${reason}: ${complaint}`;
    this.#options.onExit({ message, isWanted: this.#isClosing });
    resolve();
  }
}

function toReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}
