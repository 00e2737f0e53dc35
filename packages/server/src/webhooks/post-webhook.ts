import type { Clock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import { type Connections, dropBody } from '../base/outgoing-http.ts';
import type { Schedule } from '../base/schedule.ts';
import type { WebhookEvent } from './to-webhook-events.ts';
import type { WebhookKey } from './webhook-key.ts';

export interface PostWebhook {
  readonly url: string;
  readonly key: WebhookKey;
  readonly event: WebhookEvent;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly connections: Connections;
  readonly signal: AbortSignal;
}

/** The outcome of a request. `gone`: the address wants no more events (410). The reason contains neither the address nor the key. */
export type Posted =
  | { readonly type: 'accepted' }
  | { readonly type: 'gone' }
  | { readonly type: 'refused'; readonly reason: string };

/** Sends one event once. Does not throw. */
export async function postWebhook(options: PostWebhook): Promise<Posted> {
  const { url, key, event, clock, schedule, connections, signal } = options;
  const body = JSON.stringify(event);
  // The time of this attempt: receivers reject signatures that are minutes old.
  const seconds = Math.floor(clock.now() / 1_000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'fleetloom',
    'webhook-id': event.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': key.sign({ id: event.id, seconds, body }),
  };
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  const cancel = schedule(abort, webhookLimits.webhookAnswerMs);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    // A redirect is not followed: it could send an event that is signed for one receiver to another.
    const answer = await connections.send({
      url: new URL(url),
      method: 'POST',
      headers,
      body,
      signal: attempt.signal,
      connectMs: webhookLimits.webhookAnswerMs,
    });
    // The body is not read: it may be endless.
    dropBody(answer);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return { type: 'accepted' };
    if (status === GONE) return { type: 'gone' };
    return { type: 'refused', reason: `it answered ${status}` };
  } catch (error) {
    const isLate = attempt.signal.aborted && !signal.aborted;
    return { type: 'refused', reason: isLate ? `no answer in ${webhookLimits.webhookAnswerMs} ms` : toReason(error) };
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

const GONE = 410;

/** The error code without the message, which could contain the address. */
function toReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached';
}
