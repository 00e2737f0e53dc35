import { isIP } from 'node:net';
import { type Connections, dropBody } from '../base/outgoing-http.ts';
import type { Schedule } from '../base/schedule.ts';
import { toLookup } from '../base/to-lookup.ts';
import { type AddressRules, findAddresses, toHostname } from '../tools/network/find-addresses.ts';
import { pushLimits } from './limits.ts';

/** An encrypted message on its way to the push service of a device. */
export interface PostMessage {
  readonly endpoint: string;
  readonly authorization: string;
  readonly body: Buffer;
  readonly urgency: 'high' | 'normal';
  /** A newer message of the same topic replaces one that the device has not received yet. */
  readonly topic: string;
  readonly rules: AddressRules;
  readonly connections: Connections;
  readonly schedule: Schedule;
  readonly signal: AbortSignal;
}

/** How a push service responded. `gone`: the subscription has ended. `rejected`: another attempt would be rejected too. */
export type PushPosted =
  | { readonly type: 'accepted' }
  | { readonly type: 'gone' }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string; readonly retryAfterMs: number };

/** Sends a message once. Does not throw. Reasons name neither the endpoint nor a key. */
export async function postMessage(options: PostMessage): Promise<PushPosted> {
  const { endpoint, body, authorization, urgency, topic, rules, connections, schedule, signal } = options;
  const url = new URL(endpoint);
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  const cancel = schedule(abort, pushLimits.pushAnswerMs);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const found = await findAddresses(url, rules, attempt.signal);
    if (found.type !== 'found') {
      if (found.type === 'none') return failed(`${url.hostname} has no address`);
      return { type: 'rejected', reason: `${url.host} is not a public address` };
    }
    // A redirect is not followed: it could lead to an address that was not checked.
    const answer = await connections.send({
      url,
      method: 'POST',
      headers: {
        authorization,
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        'content-length': String(body.length),
        ttl: String(pushLimits.pushTtlSeconds),
        urgency,
        topic,
      },
      body,
      signal: attempt.signal,
      connectMs: pushLimits.pushAnswerMs,
      lookup: isIP(toHostname(url)) === 0 ? toLookup(found.addresses) : undefined,
    });
    dropBody(answer);
    return toPosted(answer.statusCode ?? 0, answer.headers['retry-after']);
  } catch (error) {
    return failed((error as NodeJS.ErrnoException).code ?? 'no response');
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

function toPosted(status: number, retryAfter: string | undefined): PushPosted {
  if (status >= 200 && status < 300) return { type: 'accepted' };
  if (status === 404 || status === 410) return { type: 'gone' };
  const reason = `the push service answered ${status}`;
  if (status === 429 || status >= 500) return failed(reason, toWaitMs(retryAfter));
  return { type: 'rejected', reason };
}

/** Only in seconds: push services send no dates. A hostile one must not stop messages for good. */
function toWaitMs(retryAfter: string | undefined): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
  return Math.min(seconds * 1_000, pushLimits.pushRetryMsMax);
}

function failed(reason: string, retryAfterMs = 0): PushPosted {
  return { type: 'failed', reason, retryAfterMs };
}
