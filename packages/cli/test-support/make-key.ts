import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes another key to a server's directory of keys. Returns the secret once the server has had time to read it: one second. */
export async function makeKey(directory: string, workspaceId: string): Promise<string> {
  const secret = `sk-test-${randomBytes(24).toString('base64url')}`;
  const id = `key_${randomBytes(6).toString('hex')}`;
  const sha256 = createHash('sha256').update(secret).digest('hex');
  const key = { version: 1, kind: 'api', id, name: 'another', workspaceId, sha256, createdAt: Date.now() };
  await writeFile(join(directory, `${id}.json`), JSON.stringify(key), { mode: 0o600 });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  return secret;
}
