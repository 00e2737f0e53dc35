import { createHash } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

/** Where events are sent. */
export interface WebhookAddress {
  readonly url: string;
  /** The same for the same address after every start. It does not tell the address. */
  readonly id: string;
  /** What people are told of it. Paths and queries of such addresses are often secret. */
  readonly label: string;
}

/** The addresses that somebody gave, each once. What is refused is not repeated: it may hold a password. */
export function toWebhookAddresses(given: readonly string[]): readonly WebhookAddress[] {
  const addresses = new Map(given.map(toAddress).map((address) => [address.id, address]));
  if (addresses.size <= limits.webhooksMax) return [...addresses.values()];
  throw refused(`there are ${addresses.size} webhooks, and ${limits.webhooksMax} are possible`, 'leave some out');
}

function toAddress(text: string): WebhookAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw refused('a webhook that was given is no web address', 'write it as https://host/path');
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(
      `the webhook at ${url.host} has a name or a password in its address`,
      'leave them out: the signature says who sends',
    );
  }
  // It is never sent.
  url.hash = '';
  const id = createHash('sha256').update(url.href).digest('hex').slice(0, ID_CHARS);
  return { url: url.href, id, label: url.origin };
}

const ID_CHARS = 32;

function refused(problem: string, advice: string): FleetloomError {
  return new FleetloomError({ code: 'webhook_refused', kind: 'caller', problem, advice });
}
