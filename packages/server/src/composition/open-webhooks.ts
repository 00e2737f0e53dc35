import { join } from 'node:path';
import type { Store } from '../store/store.ts';
import { checkSecret } from '../keys/sealed-secret.ts';
import { openWebhookKey, parseGivenKey } from './open-webhook-key.ts';
import { toWebhookAddresses } from '../webhooks/webhook-addresses.ts';
import { createWebhooks, type Webhooks, type WebhooksOptions } from '../webhooks/webhooks.ts';

/** The webhooks that the operator has configured. */
export interface WebhookChoice {
  /** The URLs that receive events: http or https, without user name or password. */
  readonly urls: readonly string[];
  /** The signing key, `whsec_…`, which receivers have too. If absent, a key is created and stored. */
  readonly signingKey?: string | undefined;
}

export interface OpenWebhooks extends Omit<WebhooksOptions, 'addresses' | 'key'> {
  readonly choice: WebhookChoice | undefined;
  readonly store: Store;
  readonly dataDirectory: string;
  /** The secret that encrypts the key if nodes share it in the store. */
  readonly secret: string | undefined;
}

/** Opens the configured webhooks, and returns the key if it was created now. */
export async function openWebhooks({
  choice,
  dataDirectory,
  secret,
  ...options
}: OpenWebhooks): Promise<{ readonly webhooks: Webhooks; readonly newKey: string | undefined }> {
  const addresses = toWebhookAddresses(choice?.urls ?? []);
  if (addresses.length === 0) return { webhooks: noWebhooks, newKey: undefined };
  const { store, holder } = options;
  const location =
    holder === undefined ? { file: join(dataDirectory, 'webhook-key') } : { store, secret: checkSecret(secret) };
  const { key, isNew } = await openWebhookKey(choice?.signingKey, location);
  return { webhooks: createWebhooks({ ...options, addresses, key }), newKey: isNew ? key.text : undefined };
}

/** Checks the configuration as `openWebhooks` does, before resources are opened that would have to be closed again. */
export function checkWebhooks(choice: WebhookChoice | undefined): void {
  toWebhookAddresses(choice?.urls ?? []);
  if (choice?.signingKey !== undefined) parseGivenKey(choice.signingKey);
}

const noWebhooks: Webhooks = {
  watch: (log) => log,
  onResourceEvents: undefined,
  start: () => {},
  list: () => [],
  close: async () => {},
};
