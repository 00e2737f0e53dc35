import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FleetloomError } from '../base/errors.ts';
import type { RandomBytes } from './secret.ts';
import { writePrivateFile } from './write-private-file.ts';

/** The length of the key. */
export const KEY_BYTES = 32;

/** The key that session tokens are signed with: made at the first start, and the same ever after. */
export async function openSigningKey(file: string, random: RandomBytes = randomBytes): Promise<Uint8Array> {
  const known = await read(file);
  if (known !== undefined) return known;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // A link appears with its whole content and replaces nothing: of two processes that start at once one wins.
  const draft = `${file}.${process.pid}.${Buffer.from(random(8)).toString('hex')}.draft`;
  await writePrivateFile(draft, Buffer.from(random(KEY_BYTES)).toString('hex'));
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  return (await read(file))!;
}

async function read(file: string): Promise<Uint8Array | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : toSigningKey(text, file);
}

/** Throws where it is none. */
export function toSigningKey(text: string, source: string): Uint8Array {
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex');
  throw new FleetloomError({
    code: 'signing_key_broken',
    kind: 'terminal',
    problem: `${source} is not a signing key`,
    advice: 'remove it: a new one is made, and tokens that were issued end',
  });
}
