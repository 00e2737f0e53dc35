import type { Ids } from '../base/ids.ts';
import type { DocumentChange } from '../store/store.ts';

/** An event about something that is not a session, until webhooks have delivered it. */
export interface ResourceEvent {
  readonly fact: ResourceFact;
  /** The id of what it is about. */
  readonly id: string;
  readonly workspaceId: string;
  readonly time: number;
}

/** The fields of these events that differ by type, as on the wire. */
export type ResourceFact =
  | { readonly type: `vault.${'created' | 'archived' | 'deleted'}` }
  | {
      readonly type: `vault_credential.${'created' | 'archived' | 'deleted' | 'refresh_failed'}`;
      readonly vault_id: string;
    };

/** The kind of their documents. The ids sort by time. */
export const RESOURCE_EVENT = 'resource_event';

/** Makes the changes that write events, which belong into the transaction of what they are about. */
export interface EventWriter {
  toChanges(events: readonly Omit<ResourceEvent, 'time'>[], time: number): readonly DocumentChange[];
  /** Called after the commit of events. */
  wake(): void;
}

/** `wake`: undefined where there are no webhooks, so that nothing is written. */
export function createEventWriter(ids: Ids, wake: (() => void) | undefined): EventWriter {
  return {
    toChanges: (events, time) => {
      if (wake === undefined) return [];
      return events.map((event) => {
        const id = ids.next('sevt').replace('sevt_', 'whevt_');
        return { type: 'put', kind: RESOURCE_EVENT, id, data: { ...event, time, delivered: [] } };
      });
    },
    wake: () => wake?.(),
  };
}
