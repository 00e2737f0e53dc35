import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../run-to-end.ts';
import { startProgram } from '../../start-program.ts';

/**
 * A pipe from a program to this process. The pipes that Node creates for its children are sockets, which
 * cannot be opened again by name, so that `echo no > /dev/stderr` would fail. This one is created as a named pipe.
 */
export interface OutputPipe {
  readonly reader: Socket;
  /** The write end, for the child. */
  readonly writeFd: number;
  /** Closes the write end of this process, after the child has inherited it. Otherwise the reader would never receive the end of the output. */
  closeWriter(): void;
}

/** Opens a pipe whose write end a program inherits. */
export async function openOutputPipe(): Promise<OutputPipe> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-'));
  try {
    const path = join(directory, 'output');
    await makePipe(path);
    // Opened in this order: opening for writing waits for a reader, and opening for reading must not wait for a writer.
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeFd = openSync(path, constants.O_WRONLY);
    return {
      reader: new Socket({ fd: readFd, readable: true, writable: false }),
      writeFd,
      closeWriter: () => closeSync(writeFd),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function makePipe(path: string): Promise<void> {
  const child = await startProgram('mkfifo', ['-m', '600', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, complaint } = await runToEnd(child, MAKE_MS);
  if (code !== 0) throw new Error(`mkfifo failed (${code ?? 'killed'}): ${complaint}`);
}

const MAKE_MS = 10_000;
