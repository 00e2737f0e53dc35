import type { SessionLog } from '../store/log.ts';
import { createWebhook, type Webhook, type WebhookOptions } from './webhook.ts';
import type { WebhookAddress } from './webhook-addresses.ts';
import { forgetAddresses } from './forget-addresses.ts';
import { watchLog } from './watch-log.ts';

export interface WebhooksOptions extends Omit<WebhookOptions, 'address'> {
  readonly addresses: readonly WebhookAddress[];
}

/** Tells addresses what becomes of sessions. */
export interface Webhooks {
  /** The same log; what is written to it is told. */
  watch(log: SessionLog): SessionLog;
  /** Tells what was left when the last one stopped, and looks for more now and then. */
  start(): void;
  /** The store stays open. */
  close(): Promise<void>;
}

/**
 * Each event at least once, in the order of its session. What was told stands in the store, and what is to be told in the
 * log: nothing is lost with this process.
 *
 * @example
 * const webhooks = createWebhooks({ store, addresses: toWebhookAddresses(urls), key, ...others });
 * const log = webhooks.watch(createLog({ store }));
 * webhooks.start();
 */
export function createWebhooks({ addresses, ...others }: WebhooksOptions): Webhooks {
  const { store, isMine, onProblem } = others;
  const all = addresses.map((address): Webhook => createWebhook({ ...others, address }));
  let tidying: Promise<void> = Promise.resolve();
  return {
    watch: (log) => watchLog(log, (sessionId) => all.forEach((webhook) => webhook.notice(sessionId))),
    start: () => {
      for (const webhook of all) webhook.start();
      if (isMine()) tidying = forgetAddresses(store, new Set(addresses.map(({ id }) => id))).catch(onProblem);
    },
    close: async () => void (await Promise.all([tidying, ...all.map((webhook) => webhook.close())])),
  };
}
