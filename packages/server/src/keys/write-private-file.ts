import { open } from 'node:fs/promises';

/** Writes a new file that no other user can read at any moment. Throws `EEXIST` if it exists. */
export async function writePrivateFile(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
