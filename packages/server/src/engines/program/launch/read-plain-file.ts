import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';

/**
 * Reads a file that agents can write to: no link is followed. Undefined if it is not a file, or exceeds `bytesMax`. `path` is without
 * links, as `realpath` returns it.
 */
export async function readPlainFile(path: string, bytesMax: number): Promise<Buffer | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile() || found.size > bytesMax) return undefined;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    // A directory in the path may have become a link in the meantime.
    return (await realpath(path)) === path ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
