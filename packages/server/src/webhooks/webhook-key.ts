import { createHmac } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';

/** Signs what is sent, so that whoever has the same key knows that it comes from here. */
export interface WebhookKey {
  /** As receivers are given it: `whsec_…`. */
  readonly text: string;
  /** The value of `webhook-signature`, as Standard Webhooks has it. */
  sign(message: { readonly id: string; readonly seconds: number; readonly body: string }): string;
}

/** Reads a key. `place` is where it was found: the key itself is never repeated. */
export function parseWebhookKey(text: string, place: string): WebhookKey {
  const [, encoded = ''] = FORM.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length >= BYTES_MIN) return toWebhookKey(bytes);
  throw new FleetloomError({
    code: 'webhook_key_broken',
    kind: 'caller',
    problem: `${place} is no key for webhooks`,
    advice: `it is whsec_ and at least ${BYTES_MIN} bytes in base64; without one, a key is made`,
  });
}

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
/** Standard Webhooks asks for as many. */
const BYTES_MIN = 24;
