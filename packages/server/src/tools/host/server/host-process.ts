import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { ignoringFailure } from '../../../base/in-background.ts';
import { killAll, MARKER_PREFIX } from '../../kill-all.ts';
import type { Launch } from '../../sandbox/sandbox.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { settlesWithin } from '../../settles-within.ts';
import { MessageReader } from '../contract/wire.ts';
import { startLaunch } from './start-launch.ts';

export interface HostProcessOptions {
  readonly launch: Launch;
  readonly workspace: string;
  readonly limits: ToolLimits;
}

export interface HostProcessEvents {
  readonly onMessage: (message: Buffer) => void;
  /** Called when the process has exited or violated the protocol, possibly several times. The receiver must kill it. */
  readonly onProblem: (reason: string) => void;
}

/**
 * The process of a tool host, with its pipes. An agent may control it: its messages are bounded before they are held,
 * and all processes that it started are killed with it.
 */
export class HostProcess {
  /** Settles when the process and all processes that it started are gone. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #marker: string;
  /** Messages are sent one after the other, so that a host that does not read cannot fill the memory of the server. */
  #sending: Promise<unknown> = Promise.resolve();
  /** Settles when all processes of the host are killed. */
  #killed: Promise<void> | undefined;
  /** The end of the process's stderr. */
  #complaint = '';

  /** Starts a process. Throws if the machine cannot start it. */
  static async start(options: HostProcessOptions, events: HostProcessEvents): Promise<HostProcess> {
    const { launch, workspace, limits } = options;
    const marker = randomUUID();
    const child = await startLaunch(launch, { cwd: workspace, env: { [HOST_VARIABLE]: marker } });
    return new HostProcess(child, marker, limits, events);
  }

  private constructor(child: ChildProcess, marker: string, limits: ToolLimits, events: HostProcessEvents) {
    this.#child = child;
    this.#marker = marker;
    this.#readMessages(limits.toolHostAnswerBytesMax, events);
    this.#readComplaints(limits.toolHostStderrBytesMax, events);
    this.gone = this.#watch(events);
  }

  /** Creates and sends a message after the earlier ones were sent. Rejects if `make` throws. */
  async send(make: () => Buffer): Promise<void> {
    const turn = this.#sending.then(async () => {
      await untilDrained(this.#stdin);
      this.#stdin.write(make());
    });
    this.#sending = turn.catch(() => undefined);
    await turn;
  }

  kill(): void {
    for (const pipe of this.#child.stdio) pipe?.destroy();
    this.#killed ??= killAll(this.#child.pid, this.#marker);
    ignoringFailure(this.#killed);
  }

  #readMessages(bytesMax: number, { onMessage, onProblem }: HostProcessEvents): void {
    const reader = new MessageReader(bytesMax);
    this.#stdout.on('data', (chunk: Buffer) => {
      try {
        for (const message of reader.push(chunk)) onMessage(message);
      } catch (error) {
        onProblem(`it sent what is not an answer: ${toMessage(error)}`);
      }
    });
  }

  #readComplaints(bytesMax: number, { onProblem }: HostProcessEvents): void {
    let bytes = 0;
    this.#stderr.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      this.#complaint = (this.#complaint + chunk.toString()).slice(-COMPLAINT_CHARS);
      if (bytes > bytesMax) onProblem(`it wrote more than ${bytesMax} bytes to stderr`);
    });
  }

  async #watch({ onProblem }: HostProcessEvents): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#child.on('close', () => resolve());
    });
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.#child.on('exit', (...exit) => resolve(exit));
    });
    // The last answers may still be in the pipes.
    await settlesWithin(closed, DRAIN_MS);
    onProblem(explainExit(code, signal, this.#complaint));
    // Kills again: without a sandbox, processes that have left the group would survive.
    this.kill();
    await this.#killed;
  }

  // All three were opened as pipes, so they are there and have these types.
  get #stdin(): Writable {
    return this.#child.stdin as Writable;
  }

  get #stdout(): Readable {
    return this.#child.stdout as Readable;
  }

  get #stderr(): Readable {
    return this.#child.stderr as Readable;
  }
}

/** The variable that marks all processes of a host, so that they are found in any process group. */
const HOST_VARIABLE = `${MARKER_PREFIX}HOST`;
const DRAIN_MS = 500;
const COMPLAINT_CHARS = 4_000;

async function untilDrained(stream: Writable): Promise<void> {
  if (!stream.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

/** Describes an exit. The sandbox returns the exit code of its program, in which a signal is a number above 128. */
function explainExit(code: number | null, signal: NodeJS.Signals | null, complaint: string): string {
  if (complaint.includes('heap out of memory')) return 'out of memory';
  if (signal === 'SIGKILL' || code === KILLED) return 'it was killed';
  const last = complaint.trim().split('\n').at(-1) ?? '';
  return `${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last.slice(0, LAST_LINE_CHARS)}`}`;
}

const KILLED = 128 + 9;
const LAST_LINE_CHARS = 300;

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
