import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A pipe: we have one end, a program gets the other. The pipes that Node makes for its children are sockets, which
 * cannot be opened again by name, and then `echo no > /dev/stderr` fails. This one has a name for a moment.
 */
export interface OutputPipe {
  readonly reader: Socket;
  /** For the child. */
  readonly writeFd: number;
  /** When the child has its end. Without this the reader would never see the end. */
  closeWriter(): void;
}

export async function openOutputPipe(): Promise<OutputPipe> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-'));
  try {
    const path = join(directory, 'output');
    await run('mkfifo', ['-m', '600', path]);
    // In this order: opening it for writing waits for a reader, and opening it for reading must not wait for a writer.
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

const run = promisify(execFile);
