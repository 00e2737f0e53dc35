import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A directory for the temporary files of a test run. It is in memory where there is room for it: creating a file in
 * `/dev/shm` takes a tenth of the time that it takes on a disk. The result of a test does not depend on it.
 *
 * @example
 * const files = openTemporaryFiles();
 * run(program, { env: { ...process.env, TMPDIR: files.path } });
 * files.remove();
 */
export function openTemporaryFiles(memory = '/dev/shm') {
  // A short name: the path of a Unix socket has at most 107 bytes.
  const path = mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), 'fl-'));
  // As /tmp: some tests run programs as another user.
  chmodSync(path, 0o1777);
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

function hasRoom(directory) {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Several times the bytes that the tests use at a time. A container often has 64 MiB. */
const ROOM_BYTES = 4 * 2 ** 30;
