import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants as osConstants } from 'node:os';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { killAll, MARKER_PREFIX } from '../../kill-all.ts';
import { startProgram } from '../../start-program.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { type OutputPipe, openOutputPipe } from './output-pipe.ts';
import { OutputTail } from './output-tail.ts';

/** The program and directory of a shell, and the limits of its output. */
export interface ShellOptions {
  /** The path of bash. */
  readonly program: string;
  readonly workspace: string;
  /** Environment variables in addition to the variables of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly outputBytesMax: number;
  readonly drainMs: number;
}

export interface ShellCommand {
  readonly command: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a command ended. After any other type than `exited` the shell is gone. */
export type ShellOutcome = { readonly output: string } & (
  | { readonly type: 'exited'; readonly status: number }
  /** The command ended the shell: `exit`, `exec`, or a signal. */
  | { readonly type: 'ended'; readonly status: number }
  | { readonly type: 'timed_out' }
  | { readonly type: 'interrupted' }
);

/**
 * A bash process that keeps directory, variables and functions between commands. Runs one command at a time.
 *
 * Commands are sent through a descriptor of their own and evaluated, so that neither an unclosed quote nor a command
 * that reads its input consumes the next one. After each command the shell writes a mark to its output, which shows where
 * the output ends although children in the background still hold it open.
 */
export class Shell {
  readonly #child: ChildProcess;
  readonly #pipe: OutputPipe;
  readonly #tail: OutputTail;
  readonly #marker: string;
  /** Settles when the shell and all processes that it started are gone, and their output was read. */
  readonly #gone: Promise<number>;
  #isGone = false;
  #onOutput = (): void => {};

  static async start(options: ShellOptions): Promise<Shell> {
    const pipe = await openOutputPipe();
    try {
      const marker = randomUUID();
      return new Shell(await startBash(options, pipe, marker), pipe, marker, options);
    } catch (error) {
      pipe.reader.destroy();
      throw error;
    } finally {
      pipe.closeWriter();
    }
  }

  private constructor(
    child: ChildProcess,
    pipe: OutputPipe,
    marker: string,
    { outputBytesMax, drainMs }: ShellOptions,
  ) {
    this.#child = child;
    this.#pipe = pipe;
    this.#tail = new OutputTail(outputBytesMax);
    this.#marker = marker;
    pipe.reader.on('data', (chunk: Buffer) => {
      this.#tail.add(chunk);
      this.#onOutput();
    });
    // Errors are ignored: they occur when the other side is gone, which the exit of the child reports.
    pipe.reader.on('error', () => {});
    this.#gone = this.#watch(drainMs);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  async run({ command, timeoutMs, signal }: ShellCommand): Promise<ShellOutcome> {
    const name = randomUUID();
    const stop = new AbortController();
    const timeout = wait(timeoutMs, 'timed_out' as const, { signal: stop.signal });
    const interruption = untilAborted(signal, stop.signal);
    try {
      // The cast is safe because `startBash` opens this descriptor as a pipe.
      (this.#child.stdio[COMMAND_FD] as Writable).write(`${name}\0${command}\0`);
      const marked = this.#untilMark(name, stop.signal);
      const first = await Promise.race([marked, this.#gone, timeout, interruption]);
      if (typeof first === 'object') return { type: 'exited', output: first.text, status: Number(first.value) };
      if (typeof first === 'number') return { type: 'ended', output: this.#takeLast(name), status: first };
      await this.close();
      return { type: first, output: this.#takeLast(name) };
    } finally {
      stop.abort();
      // Both promises reject because of the abort above, which is not an error.
      timeout.catch(() => {});
      interruption.catch(() => {});
    }
  }

  /** Kills the shell with all processes that it started. */
  async close(): Promise<void> {
    if (!this.#isGone) await killAll(this.#child.pid, this.#marker);
    await this.#gone;
  }

  /** Takes the last output. It may contain the mark, if the command ended while its shell was being killed. */
  #takeLast(name: string): string {
    return this.#tail.takeUntilMark(name)?.text ?? this.#tail.take();
  }

  async #untilMark(name: string, signal: AbortSignal): Promise<{ text: string; value: string }> {
    return await new Promise((resolve) => {
      this.#onOutput = () => {
        const found = signal.aborted ? undefined : this.#tail.takeUntilMark(name);
        if (found !== undefined) resolve(found);
      };
    });
  }

  async #watch(drainMs: number): Promise<number> {
    const { reader } = this.#pipe;
    const closed = new Promise<void>((resolve) => {
      reader.on('close', () => resolve());
    });
    const status = await new Promise<number>((resolve) => {
      this.#child.on('exit', (code, signal) => resolve(code ?? toStatus(signal)));
    });
    await killAll(this.#child.pid, this.#marker);
    const patience = new AbortController();
    await Promise.race([closed, wait(drainMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    reader.destroy();
    this.#isGone = true;
    return status;
  }
}

async function startBash(
  { program, workspace, environment }: ShellOptions,
  { writeFd }: OutputPipe,
  marker: string,
): Promise<ChildProcess> {
  try {
    return await startProgram(program, SHELL_ARGS, {
      cwd: workspace,
      env: { ...process.env, ...environment, [SHELL_VARIABLE]: marker },
      // Gets a process group of its own, which is killed as a whole.
      detached: true,
      stdio: ['ignore', writeFd, writeFd, 'pipe'],
    });
  } catch (error) {
    throw new ToolFailure(`bash could not be started (${String(error)}): end some processes, or call again later`, {
      cause: error,
    });
  }
}

const COMMAND_FD = 3;

/** The variable that marks all processes of a shell, so that they are found in any process group. */
const SHELL_VARIABLE = `${MARKER_PREFIX}SHELL`;

/**
 * The loop of the shell: read a command, evaluate it, print its exit status. First it closes the descriptors that it inherited from the
 * parent of this process. The mark is written to a descriptor of its own, because a command may redirect the output permanently (`exec > file`); commands
 * have neither descriptor. Uses `builtin`, because commands can redefine these names.
 */
const LOOP = `
for _fd in /proc/self/fd/*; do
  case "\${_fd##*/}" in 0|1|2|3|255|'*') ;; *) eval "exec \${_fd##*/}>&-" ;; esac
done
unset _fd
exec 4>&1
while IFS= builtin read -r -d '' -u 3 _name && IFS= builtin read -r -d '' -u 3 _command; do
  builtin eval "$_command" 3<&- 4>&-
  builtin printf '\\0%s:%d\\0' "$_name" "$?" >&4
done
`;

const SHELL_ARGS: readonly string[] = ['--noprofile', '--norc', '-c', LOOP];

async function untilAborted(signal: AbortSignal, stop: AbortSignal): Promise<'interrupted'> {
  return await new Promise((resolve) => {
    if (signal.aborted) resolve('interrupted');
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true, signal: stop });
  });
}

function toStatus(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : (osConstants.signals[signal] ?? 0));
}
