import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { WebhookEvent } from './to-webhook-events.ts';
import type { WebhookKey } from './webhook-key.ts';

export interface PostWebhook {
  readonly url: string;
  readonly key: WebhookKey;
  readonly event: WebhookEvent;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly signal: AbortSignal;
}

/** `gone`: it wants nothing any more. The reason is for people and names neither the address nor the key. */
export type Posted =
  | { readonly type: 'taken' }
  | { readonly type: 'gone' }
  | { readonly type: 'refused'; readonly reason: string };

/** Sends one event once. Does not throw. */
export async function postWebhook({ url, key, event, clock, schedule, signal }: PostWebhook): Promise<Posted> {
  const body = JSON.stringify(event);
  // The time of this attempt: receivers refuse what was signed minutes ago.
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
  const cancel = schedule(abort, limits.webhookAnswerMs);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    // Whoever answers with another address could send what is signed for one receiver to another.
    const request = { method: 'POST', headers, body, redirect: 'manual', signal: attempt.signal } as const;
    const response = await fetch(url, request);
    // Nobody reads it, and it may be endless.
    await response.body?.cancel().catch(() => {});
    if (response.ok) return { type: 'taken' };
    if (response.status === GONE) return { type: 'gone' };
    return { type: 'refused', reason: `it answered ${response.status}` };
  } catch (error) {
    const isLate = attempt.signal.aborted && !signal.aborted;
    return { type: 'refused', reason: isLate ? `no answer in ${limits.webhookAnswerMs} ms` : toReason(error) };
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

const GONE = 410;

/** `fetch` says what went wrong in the cause. Its code names no address. */
function toReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached';
}
