import type { Clock } from '../base/clock.ts';
import { readPages } from '../store/read-pages.ts';
import { storeLimits } from '../store/limits.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { Delivery } from './deliver-session.ts';
import { webhookLimits } from './limits.ts';
import type { Posted } from './post-webhook.ts';
import { RESOURCE_EVENT, type ResourceEvent } from './resource-events.ts';
import { ORGANIZATION, type WebhookEvent } from './to-webhook-events.ts';

/** The queue entry for events of other objects, used like the id of a session. */
export const RESOURCES = 'resources';

export interface DeliverResources {
  readonly store: Pick<Store, 'documents'>;
  readonly addressId: string;
  /** All addresses: an event is removed when it was delivered to each of them. */
  readonly addressIds: readonly string[];
  /** The time from which events are delivered. */
  readonly since: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly post: (event: WebhookEvent) => Promise<Posted>;
}

/** Whether there is anything to deliver. */
export async function hasResourceEvents({ documents }: Pick<Store, 'documents'>): Promise<boolean> {
  return (await documents.list({ kind: RESOURCE_EVENT, limit: 1 })).items.length > 0;
}

/** Sends an address every event that it has not received, oldest first, until it rejects one. */
export async function deliverResources(request: DeliverResources): Promise<Delivery> {
  const { store, addressId, since, clock, post } = request;
  const list = { kind: RESOURCE_EVENT, order: 'asc', limit: storeLimits.recordPageItemsMax } as const;
  let delivered = 0;
  for await (const page of readPages((from) => store.documents.list({ ...list, ...from }))) {
    for (const document of page) {
      const { time } = toEvent(document);
      if (receiversOf(document).includes(addressId)) continue;
      if (time >= Math.max(since, clock.now() - webhookLimits.webhookKeepMs)) {
        const posted = await post(toWebhookEvent(document.id, toEvent(document)));
        if (posted.type !== 'accepted') return { ...posted, delivered };
        delivered++;
      }
      await note(request, document);
    }
  }
  return { type: 'done', delivered };
}

async function note(
  { store: { documents }, addressId, addressIds }: DeliverResources,
  first: DocumentRecord,
): Promise<void> {
  for (let document: DocumentRecord | undefined = first; document !== undefined; ) {
    const { kind, id, data, revision } = document;
    const receivers = [...receiversOf(document), addressId];
    const isEverywhere = addressIds.every((each) => receivers.includes(each));
    const change = isEverywhere
      ? ({ type: 'delete', kind, id, ifRevision: revision } as const)
      : ({ type: 'put', kind, id, data: { ...data, delivered: receivers }, ifRevision: revision } as const);
    try {
      return await documents.change([change]);
    } catch (error) {
      // The event was delivered to another address at the same moment.
      if (!isStoreError(error, 'version_conflict')) throw error;
    }
    document = await documents.get(kind, id);
  }
}

function toWebhookEvent(eventId: string, { fact, id, workspaceId, time }: ResourceEvent): WebhookEvent {
  return {
    type: 'event',
    id: eventId,
    created_at: new Date(time).toISOString(),
    data: { ...fact, id, organization_id: ORGANIZATION, workspace_id: workspaceId },
  };
}

/** Converts a document, which only the writer of events and `note` write. */
function toEvent({ data }: DocumentRecord): ResourceEvent {
  return data as unknown as ResourceEvent;
}

function receiversOf({ data }: DocumentRecord): readonly string[] {
  return data['delivered'] as string[];
}
