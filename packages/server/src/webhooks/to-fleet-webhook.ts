import type { FleetWebhook } from '@fleetloom/protocol/fleet';
import type { WebhookState } from './webhook-sender.ts';

/** The state of a webhook address as the settings contain it. */
export function toFleetWebhook({ label, isGone, delivered, waiting, deliveries }: WebhookState): FleetWebhook {
  return {
    address: label,
    is_gone: isGone,
    delivered_count: delivered,
    waiting_count: waiting,
    deliveries: deliveries.map(({ at, delivered: count, problem }) => ({
      at: new Date(at).toISOString(),
      delivered_count: count,
      problem,
    })),
  };
}
