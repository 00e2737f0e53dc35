import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The id of the node with this data directory. It stays the same after a restart, because workspaces on its disk are found by it. */
export async function openNodeId(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'node-id');
  const known = await read(file);
  if (known !== undefined) return known;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // A hard link appears with its whole content and does not replace an existing file.
  const draft = `${file}.${process.pid}.draft`;
  await writeFile(draft, `node_${randomUUID()}\n`, { mode: 0o600 });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await read(file))!;
}

async function read(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text?.trim() || undefined;
}
