import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { writeSecretly } from './http/auth/write-secretly.ts';
import type { Store } from './store/store.ts';
import { isStoreError } from './store/store-errors.ts';
import { parseWebhookKey, toWebhookKey, type WebhookKey } from './webhooks/webhook-key.ts';

/** Where the key for webhooks is kept: in a file of its own, or with other nodes in a database. */
export type WebhookKeyPlace = { readonly file: string } | { readonly store: Pick<Store, 'documents'> };

export interface OpenedWebhookKey {
  readonly key: WebhookKey;
  /** It was made now, and nobody knows it. */
  readonly isNew: boolean;
}

/** The key that was given, or the one that is kept, or a new one. Of several that start at once all get the same. */
export async function openWebhookKey(given: string | undefined, place: WebhookKeyPlace): Promise<OpenedWebhookKey> {
  if (given !== undefined) return { key: parseGivenKey(given), isNew: false };
  const known = await read(place);
  if (known !== undefined) return { key: known, isNew: false };
  const isNew = await add(place, toWebhookKey(randomBytes(KEY_BYTES)).text);
  return { key: (await read(place))!, isNew };
}

/** Throws if it is none. */
export function parseGivenKey(given: string): WebhookKey {
  return parseWebhookKey(given, 'the signing key that was given');
}

async function read(place: WebhookKeyPlace): Promise<WebhookKey | undefined> {
  if ('file' in place) {
    const text = await readFile(place.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return text === undefined ? undefined : parseWebhookKey(text.trim(), place.file);
  }
  const found = await place.store.documents.get(KIND, ID);
  const { key } = found?.data ?? {};
  return found === undefined ? undefined : parseWebhookKey(typeof key === 'string' ? key : '', `${ID} in the database`);
}

/** False if somebody else was first. */
async function add(place: WebhookKeyPlace, text: string): Promise<boolean> {
  if ('store' in place) {
    const document = { kind: KIND, id: ID, data: { key: text }, ifRevision: 0 };
    return await place.store.documents.put(document).then(
      () => true,
      (error: unknown) => {
        if (isStoreError(error, 'version_conflict')) return false;
        throw error;
      },
    );
  }
  // A link appears with its whole content and replaces nothing.
  const draft = `${place.file}.${process.pid}.${randomBytes(8).toString('hex')}.draft`;
  await writeSecretly(draft, `${text}\n`);
  try {
    await link(draft, place.file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft);
  }
}

const KEY_BYTES = 32;
const KIND = 'secret';
const ID = 'webhook_key';
