import type { SessionLog } from '../log/log.ts';
import { createWebhook, type Webhook, type WebhookOptions } from './webhook.ts';
import type { WebhookAddress } from './webhook-addresses.ts';
import type { WebhookState } from './webhook-sender.ts';
import { removeUnusedAddresses } from './remove-unused-addresses.ts';
import { RESOURCES } from './deliver-resources.ts';
import { watchLog } from './watch-log.ts';

export interface WebhooksOptions extends Omit<WebhookOptions, 'address' | 'addressIds'> {
  readonly addresses: readonly WebhookAddress[];
}

/** Delivers events of sessions to webhook addresses. */
export interface Webhooks {
  /** Wraps a log: webhook events that it commits are delivered. */
  watch(log: SessionLog): SessionLog;
  /** Called when events of other objects were committed. Undefined if no address would receive them. */
  readonly onResourceEvents: (() => void) | undefined;
  /** Delivers events that the last process left undelivered, and searches again from time to time. */
  start(): void;
  /** The deliveries of this process to each address. */
  list(): readonly WebhookState[];
  /** Stops all deliveries. The store stays open. */
  close(): Promise<void>;
}

/**
 * Delivers each event at least once, in the order of its session. Cursors are in the store and events in the log, so a crash
 * of this process loses nothing.
 *
 * @example
 * const webhooks = createWebhooks({ store, addresses: toWebhookAddresses(urls), key, ...others });
 * const log = webhooks.watch(createLog({ store }));
 * webhooks.start();
 */
export function createWebhooks({ addresses, ...others }: WebhooksOptions): Webhooks {
  const { store, isMine, onProblem } = others;
  const addressIds = addresses.map(({ id }) => id);
  const all = addresses.map((address): Webhook => createWebhook({ ...others, address, addressIds }));
  let tidying: Promise<void> = Promise.resolve();
  return {
    watch: (log) => watchLog(log, (sessionId) => all.forEach((webhook) => webhook.notice(sessionId))),
    onResourceEvents: () => all.forEach((webhook) => webhook.notice(RESOURCES)),
    start: () => {
      for (const webhook of all) webhook.start();
      if (isMine()) tidying = removeUnusedAddresses(store, new Set(addresses.map(({ id }) => id))).catch(onProblem);
    },
    list: () => all.map(({ state }) => state),
    close: async () => void (await Promise.all([tidying, ...all.map((webhook) => webhook.close())])),
  };
}
