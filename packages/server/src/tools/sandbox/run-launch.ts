import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Launch } from './sandbox.ts';
import { startLaunch } from './start-launch.ts';

export interface RunLaunchOptions {
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Bytes of the end of the output that are kept. */
  readonly outputBytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a launch ended. */
export interface EndedLaunch {
  /** The exit code; null if a signal ended the launch, such as the one after the timeout. */
  readonly code: number | null;
  /** The end of both outputs. */
  readonly output: string;
  readonly isCut: boolean;
}

/** Runs a launch to its end, or kills it after the timeout. Rejects when it cannot be started. */
export async function runLaunch(launch: Launch, options: RunLaunchOptions): Promise<EndedLaunch> {
  const { cwd, timeoutMs, outputBytesMax, signal } = options;
  return await new Promise((resolve, reject) => {
    const child = startLaunch(launch, { cwd, stdio: ['ignore', 'pipe', 'pipe', 'ignore'] }, reject);
    if (child?.stdout == null || child.stderr == null) return;
    const tail = new Tail(outputBytesMax);
    for (const stream of [child.stdout, child.stderr]) tail.read(stream);
    const stop = () => killGroup(child);
    const timer = setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve({ code, ...tail.end() });
    });
    if (signal?.aborted) stop();
  });
}

/** Collects the end of an output. */
class Tail {
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  read(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      while (this.#bytes - this.#chunks[0]!.length >= this.#bytesMax) {
        this.#bytes -= this.#chunks.shift()!.length;
        this.#isCut = true;
      }
    });
  }

  end(): { readonly output: string; readonly isCut: boolean } {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(Math.max(0, all.length - this.#bytesMax));
    return { output: kept.toString(), isCut: this.#isCut || kept.length < all.length };
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has ended in the meantime.
  }
  // Processes that it has started may hold its pipes open.
  for (const pipe of child.stdio) pipe?.destroy();
}
