import type { SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { startProcess } from './start-process.ts';

/** The limits of a short program. */
export interface RunProgramOptions extends Pick<SpawnOptions, 'env' | 'cwd'> {
  readonly timeoutMs: number;
  /** Limit of each output stream. A program that writes more is killed. */
  readonly outputBytesMax: number;
}

/** How the program ended, and its output. */
export interface ProgramOutput {
  /** Null: the program was ended by a signal, such as the one after the timeout. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The program exceeded the output limit. */
  readonly isCut: boolean;
}

/** Runs a short program to its end, with bounded time and output. Rejects when it cannot be started. */
export function runProgram(file: string, args: readonly string[], options: RunProgramOptions): Promise<ProgramOutput> {
  const { timeoutMs, outputBytesMax, ...others } = options;
  return new Promise((resolve, reject) => {
    const child = startProcess(file, args, { ...others, stdio: ['ignore', 'pipe', 'pipe'] }, reject);
    if (child?.stdout == null || child.stderr == null) return;
    let isCut = false;
    // A child of the program may hold its pipes open, and would delay the end.
    const end = () => {
      child.kill('SIGKILL');
      for (const pipe of child.stdio) pipe?.destroy();
    };
    const onTooMuch = () => {
      isCut = true;
      end();
    };
    const stdout = collect(child.stdout, outputBytesMax, onTooMuch);
    const stderr = collect(child.stderr, outputBytesMax, onTooMuch);
    const timer = setTimeout(end, timeoutMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: stdout(), stderr: stderr(), isCut });
    });
  });
}

function collect(stream: Readable, bytesMax: number, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes));
    bytes += chunk.length;
    if (bytes > bytesMax) onTooMuch();
  });
  return () => Buffer.concat(chunks).toString();
}
