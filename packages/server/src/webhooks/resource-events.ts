import type { Ids } from '../base/ids.ts';
import type { DocumentChange } from '../store/store.ts';

/** A stored event about an object that is not a session, until webhooks have delivered it. */
export interface ResourceEvent {
  readonly fact: ResourceFact;
  /** The id of the object of the event. */
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

/** The kind of the documents of these events. Their ids sort by time. */
export const RESOURCE_EVENT = 'resource_event';

/** Creates the changes that write events, for the transaction that changes their object. */
export interface EventWriter {
  toChanges(events: readonly Omit<ResourceEvent, 'time'>[], time: number): readonly DocumentChange[];
  /** Called after the commit of events. */
  wake(): void;
}

/** Creates an event writer. `wake`: undefined without webhooks; then no events are written. */
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
