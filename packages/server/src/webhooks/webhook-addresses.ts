import { createHash } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';
import { webhookLimits } from './limits.ts';

/** An address that receives webhook events. */
export interface WebhookAddress {
  readonly url: string;
  /** A digest of the address: the same after every start. */
  readonly id: string;
  /** The address in logs, without path and query, which are often secret. */
  readonly label: string;
}

/** Parses the configured addresses and removes duplicates. An error does not repeat an address, which may contain a password. */
export function toWebhookAddresses(given: readonly string[]): readonly WebhookAddress[] {
  const addresses = new Map(given.map(toAddress).map((address) => [address.id, address]));
  if (addresses.size <= webhookLimits.webhooksMax) return [...addresses.values()];
  throw refused(
    `${addresses.size} webhook addresses are configured, and the maximum is ${webhookLimits.webhooksMax}`,
    'remove some of them',
  );
}

function toAddress(text: string): WebhookAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw refused('a webhook address is not a valid http or https URL', 'write it as https://host/path');
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(
      `the address of the webhook at ${url.host} contains a user name or a password`,
      'remove them: receivers authenticate events by their signature',
    );
  }
  // A fragment is never sent.
  url.hash = '';
  const id = createHash('sha256').update(url.href).digest('hex').slice(0, ID_CHARS);
  return { url: url.href, id, label: url.origin };
}

const ID_CHARS = 32;

function refused(problem: string, advice: string): FleetloomError {
  return new FleetloomError({ code: 'webhook_refused', kind: 'caller', problem, advice });
}
