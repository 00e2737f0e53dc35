import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A directory for sockets, created at its first use. */
export interface SocketDirectory {
  /** A directory for sockets that other users cannot read. */
  open(): Promise<string>;
  /** Removes the files of an earlier process. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Uses the given directory, or a temporary one if its path is too long for sockets. */
export function openSocketDirectory(wanted: string): SocketDirectory {
  const path = resolve(wanted);
  let elsewhere: string | undefined;
  return {
    open: async () => {
      if (Buffer.byteLength(join(path, LONGEST_NAME)) <= SOCKET_PATH_BYTES_MAX) {
        await mkdir(path, { recursive: true, mode: 0o700 });
        return path;
      }
      elsewhere ??= await mkdtemp(join(tmpdir(), 'fleetloom-'));
      return elsewhere;
    },
    clear: () => remove(path),
    close: async () => {
      await remove(path);
      if (elsewhere !== undefined) await remove(elsewhere);
    },
  };
}

/** The longest path of a socket on Linux, without the terminating zero. */
const SOCKET_PATH_BYTES_MAX = 107;
const LONGEST_NAME = 'zzzzzz.sock';

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
