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

/** Where the shell runs, and how much output it may have. */
export interface ShellOptions {
  /** Where bash is. */
  readonly program: string;
  readonly workspace: string;
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly outputBytesMax: number;
  readonly drainMs: number;
}

export interface ShellCommand {
  readonly command: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** After anything but `exited` the shell is gone. */
export type ShellOutcome = { readonly output: string } & (
  | { readonly type: 'exited'; readonly status: number }
  /** The command ended the shell: `exit`, `exec`, or a signal. */
  | { readonly type: 'ended'; readonly status: number }
  | { readonly type: 'timed_out' }
  | { readonly type: 'interrupted' }
);

/**
 * A bash that stays: directory, variables and functions of one command are there for the next. One command at a time.
 *
 * Commands go in through their own channel and are evaluated, so that neither a quote that is left open nor a command
 * that reads its input swallows the next one. After each the shell sets a mark in its output, which shows where
 * the output ends although children in the background still hold it open.
 */
export class Shell {
  readonly #child: ChildProcess;
  readonly #pipe: OutputPipe;
  readonly #tail: OutputTail;
  readonly #marker: string;
  /** Settles when the shell is gone, everything that it started with it, and all that it said was read. */
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
    // A pipe whose other side is gone: the exit of the child reports more.
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
      // Opened as a pipe below, and a pipe that we may write to has no other type.
      (this.#child.stdio[COMMAND_FD] as Writable).write(`${name}\0${command}\0`);
      const marked = this.#untilMark(name, stop.signal);
      const first = await Promise.race([marked, this.#gone, timeout, interruption]);
      if (typeof first === 'object') return { type: 'exited', output: first.text, status: Number(first.value) };
      if (typeof first === 'number') return { type: 'ended', output: this.#takeLast(name), status: first };
      await this.close();
      return { type: first, output: this.#takeLast(name) };
    } finally {
      stop.abort();
      // These two end by the line above, with an error that means nothing.
      timeout.catch(() => {});
      interruption.catch(() => {});
    }
  }

  /** Kills it with everything that it started. */
  async close(): Promise<void> {
    if (!this.#isGone) await killAll(this.#child.pid, this.#marker);
    await this.#gone;
  }

  /** The mark may be among the last words: of a command that ended while its shell was killed. */
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
      // Its own process group, which is killed as a whole.
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

/** Marks all processes that a shell started, so that they are found in any process group. */
const SHELL_VARIABLE = `${MARKER_PREFIX}SHELL`;

/**
 * What the shell does: take a command, evaluate it, say how it ended. First it closes the descriptors that it inherited from the
 * parent of this process. The mark has its own way out, because a command may send the output elsewhere for good (`exec > file`); commands
 * see neither channel. `builtin`, because commands can redefine words.
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
