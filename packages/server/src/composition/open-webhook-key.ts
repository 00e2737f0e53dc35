import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { openSealedSecret } from '../keys/sealed-secret.ts';
import { writePrivateFile } from '../keys/write-private-file.ts';
import type { Store } from '../store/store.ts';
import { parseWebhookKey, toWebhookKey, type WebhookKey } from '../webhooks/webhook-key.ts';

/** The location of the webhook key: a file, or, if nodes share it, the database, encrypted with their secret. */
export type WebhookKeyLocation =
  | { readonly file: string }
  | { readonly store: Pick<Store, 'documents'>; readonly secret: string };

export interface OpenedWebhookKey {
  readonly key: WebhookKey;
  /** Whether this start created the key. */
  readonly isNew: boolean;
}

/** Opens the configured key, the stored key, or a new one. Several servers that start at once get the same key. */
export async function openWebhookKey(
  given: string | undefined,
  location: WebhookKeyLocation,
): Promise<OpenedWebhookKey> {
  if (given !== undefined) return { key: parseGivenKey(given), isNew: false };
  const make = () => toWebhookKey(randomBytes(KEY_BYTES)).text;
  if ('file' in location) return await openFile(location.file, make);
  const { store, secret } = location;
  // Receivers have the key too, so a key that was stored unencrypted stays in use.
  const { text, isNew } = await openSealedSecret(store, { id: 'webhook_key', secret, make, ifInClear: 'sealed' });
  return { key: parseWebhookKey(text, 'webhook_key in the database'), isNew };
}

/** Throws if the text is not a webhook key. */
export function parseGivenKey(given: string): WebhookKey {
  return parseWebhookKey(given, 'the configured signing key');
}

async function openFile(file: string, make: () => string): Promise<OpenedWebhookKey> {
  const known = await read(file);
  if (known !== undefined) return { key: known, isNew: false };
  const isNew = await add(file, make());
  return { key: (await read(file))!, isNew };
}

async function read(file: string): Promise<WebhookKey | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseWebhookKey(text.trim(), file);
}

/** False if another process created the file first. */
async function add(file: string, text: string): Promise<boolean> {
  // A link appears with its whole content and replaces nothing.
  const draft = `${file}.${process.pid}.${randomBytes(8).toString('hex')}.draft`;
  await writePrivateFile(draft, `${text}\n`);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft);
  }
}

const KEY_BYTES = 32;
