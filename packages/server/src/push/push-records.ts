import type { PushKind } from '@fleetloom/protocol/fleet';
import { readPages } from '../store/read-pages.ts';
import { storeLimits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { QuietHours } from './quiet-hours.ts';

/** A device that receives push messages, as it is stored. */
export interface StoredDevice {
  readonly id: string;
  readonly label: string;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  readonly notify: readonly PushKind[];
  readonly quietHours: QuietHours | null;
  readonly includesContent: boolean;
  readonly createdBy: string;
  /** The key with which the device was added. Once that key is not valid any more, the device is removed. */
  readonly keyId: string;
  /** The person, login or key that added the device. Devices of older versions have only the key. */
  readonly ownerId?: string | undefined;
  readonly createdAt: number;
  /** The changes that were not sent to the device yet, by session. */
  readonly pending: Changes;
  /** Consecutive failed deliveries. */
  readonly failures: number;
  readonly notBefore: number;
  /** The node that is sending a message to the device. */
  readonly claim: { readonly holder: string; readonly until: number } | null;
  readonly lastSentAt: number | null;
  readonly problem: string | null;
}

/** Changes by session: `needs_you` with the `seq` of the frame that caused it, such as `needs_you 17`, or `failed` with the time of the failure. */
export type Changes = Readonly<Record<string, string>>;

/** The devices of a workspace, and the newest change of each session that was assigned to them. */
export interface PushState {
  readonly devices: readonly StoredDevice[];
  readonly announced: Changes;
}

/** The devices of all workspaces. Each workspace has one document, so that a change is assigned to all of its devices or to none. */
export interface PushRecords {
  read(workspaceId: string): Promise<PushState>;
  /** Applies a change to the current state; `change` runs again if another node was faster. Undefined changes nothing. */
  update(workspaceId: string, change: (state: PushState) => PushState | undefined): Promise<PushState>;
  /** Every workspace that has devices. */
  list(): AsyncGenerator<{ readonly workspaceId: string; readonly state: PushState }>;
}

/** Creates the records of a store. */
export function createPushRecords({ documents }: Pick<Store, 'documents'>): PushRecords {
  return {
    read: async (workspaceId) => toState((await documents.get(KIND, workspaceId))?.data),
    update: async (workspaceId, change) => {
      for (;;) {
        const known = await documents.get(KIND, workspaceId);
        const before = toState(known?.data);
        const after = change(before);
        if (after === undefined) return before;
        const isPut = await documents
          .put({ kind: KIND, id: workspaceId, data: after, ifRevision: known?.revision ?? 0 })
          .then(() => true, unlessConflict);
        if (isPut) return after;
      }
    },
    list: async function* () {
      const request = { kind: KIND, order: 'asc', limit: storeLimits.recordPageItemsMax } as const;
      for await (const page of readPages((from) => documents.list({ ...request, ...from }))) {
        for (const { id: workspaceId, data } of page) {
          const state = toState(data);
          if (state.devices.length > 0) yield { workspaceId, state };
        }
      }
    },
  };
}

/** The state with a device changed, or removed if `change` returns undefined. */
export function withDevice(
  state: PushState,
  id: string,
  change: (device: StoredDevice) => StoredDevice | undefined,
): PushState {
  return { ...state, devices: state.devices.flatMap((device) => (device.id === id ? (change(device) ?? []) : device)) };
}

const KIND = 'push_devices';

/** The cast is safe because only `update` writes these documents. */
function toState(data: object | undefined): PushState {
  return (data as PushState | undefined) ?? { devices: [], announced: {} };
}

function unlessConflict(error: unknown): false {
  if (!isStoreError(error, 'version_conflict')) throw error;
  return false;
}
