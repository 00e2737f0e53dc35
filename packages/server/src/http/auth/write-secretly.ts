import { open } from 'node:fs/promises';

/** A new file that from its first moment nobody else can read. Throws `EEXIST` if it is there already. */
export async function writeSecretly(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
