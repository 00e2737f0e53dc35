import { createHmac } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';

/** Signs events, so that receivers that have the key can authenticate them. */
export interface WebhookKey {
  /** The form that receivers configure: `whsec_…`. */
  readonly text: string;
  /** Returns the value of `webhook-signature`, as Standard Webhooks defines it. */
  sign(message: { readonly id: string; readonly seconds: number; readonly body: string }): string;
}

/** Parses a key. `source` says where it was found, for errors: the key itself is never repeated. */
export function parseWebhookKey(text: string, source: string): WebhookKey {
  const [, encoded = ''] = FORM.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length >= BYTES_MIN) return toWebhookKey(bytes);
  throw new FleetloomError({
    code: 'webhook_key_broken',
    kind: 'caller',
    problem: `${source} does not contain a webhook signing key`,
    advice: `use whsec_ followed by at least ${BYTES_MIN} bytes in base64, or leave it out and a key is generated`,
  });
}

/** A signing key in the `whsec_…` format of the Standard Webhooks. */
export function toWebhookKey(bytes: Uint8Array): WebhookKey {
  return {
    text: `${PREFIX}${Buffer.from(bytes).toString('base64')}`,
    sign: ({ id, seconds, body }) => {
      const signature = createHmac('sha256', bytes).update(`${id}.${seconds}.${body}`).digest('base64');
      return `v1,${signature}`;
    },
  };
}

const PREFIX = 'whsec_';
const FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** Bytes of the shortest key of Standard Webhooks. */
const BYTES_MIN = 24;
