import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/**
 * Opens a regular file below `root` for reading; undefined if the path is not one. The program's agents can write to that
 * directory, so a symbolic link, a pipe or a device in it must not lead the server to another file or block it.
 */
export async function openInside(root: string, path: string): Promise<FileHandle | undefined> {
  const file = await open(path, FLAGS).catch(() => undefined);
  if (file === undefined) return undefined;
  const isAllowed = (await isRegular(file)) && (await isInside(root, path, file));
  if (isAllowed) return file;
  await file.close();
  return undefined;
}

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function isRegular(file: FileHandle): Promise<boolean> {
  return (await file.stat()).isFile();
}

/** Whether the file is below `root`. Linux has the path of an open file. Elsewhere its directory is resolved, which an agent could replace first. */
async function isInside(root: string, path: string, file: FileHandle): Promise<boolean> {
  const opened =
    process.platform === 'linux' ? readlink(join('/proc/self/fd', String(file.fd))) : realpath(dirname(path));
  const [real, inside] = await Promise.all([opened, realpath(root)]).catch(() => ['', sep] as const);
  return real.startsWith(`${inside}${sep}`);
}
