import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the node with this data directory is called, also after a restart: what is on its disk is found again by it. */
export async function openNodeId(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'node-id');
  const known = await read(file);
  if (known !== undefined) return known;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // A link appears with its whole content and replaces nothing.
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
