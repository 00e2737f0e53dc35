import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { keyLimits } from './limits.ts';

/**
 * Reservations in the store, one document for each scope. A document is changed only if it is as it was read, so of two nodes
 * that see the last room one has to look again. A node that ends before it releases its reservation holds room for
 * `keyReservationMs`.
 */
export function createReservations(documents: Store['documents'], clock: Pick<Clock, 'now'>): Reserve {
  return async (scope, hasRoom) => {
    const id = randomUUID();
    let isReserved = false;
    await change(scope, async (held) => {
      isReserved = await hasRoom(held.size);
      if (isReserved) held.set(id, clock.now() + keyLimits.keyReservationMs);
      return isReserved;
    });
    const release = () => change(scope, async (held) => held.delete(id));
    return isReserved ? { release } : undefined;
  };

  /** Repeats the change while others change the same document. `false` leaves it as it is. */
  async function change(scope: string, run: (held: Map<string, number>) => Promise<boolean>): Promise<void> {
    for (;;) {
      const document = await documents.get(KIND, scope);
      // Only this file writes it.
      const ends = (document?.data ?? {}) as Readonly<Record<string, number>>;
      const held = new Map(Object.entries(ends).filter(([, end]) => end > clock.now()));
      if (!(await run(held))) return;
      const ifRevision = document?.revision ?? 0;
      try {
        await documents.put({ kind: KIND, id: scope, data: Object.fromEntries(held), ifRevision });
        return;
      } catch (error) {
        if (!isStoreError(error, 'version_conflict')) throw error;
      }
    }
  }
}

/**
 * Reserves room for a key, so that processes that add keys at the same time count each other's. `hasRoom` is called after
 * earlier reservations were read, with their number. Undefined if there is no room.
 */
export type Reserve = (
  scope: string,
  hasRoom: (reserved: number) => Promise<boolean>,
) => Promise<Reservation | undefined>;

/** To be released when the key is stored, or could not be stored. */
export interface Reservation {
  release(): Promise<void>;
}

const KIND = 'key_reservations';
