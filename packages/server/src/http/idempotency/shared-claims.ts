import { httpLimits } from '../limits.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { DocumentRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { requestError } from '../../base/request-error.ts';

/** Lets one node at a time run work of a given name: a client that timed out may repeat its request on another node. */
export interface Claims {
  /** Returns the result of `find` if another node has finished the work in the meantime; otherwise the result of `work`. */
  run<Result>(name: string, find: () => Promise<Result | undefined>, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Claims as documents. A node renews its claim while it works, so that the claim of a crashed node expires soon. A node that
 * was only suspended may find its claim taken and still finish the work: work that must not happen twice puts its key into
 * the same write.
 */
export function createSharedClaims(store: Pick<Store, 'documents' | 'now'>, schedule: Schedule): Claims {
  const { documents } = store;
  return {
    run: async (name, find, work) => {
      let waitedMs = 0;
      let claim = await take(name);
      while (claim === undefined) {
        const found = await find();
        if (found !== undefined) return found;
        if (waitedMs >= httpLimits.claimMs)
          throw requestError('still_under_way', 'another node is still applying this request');
        await new Promise<void>((resolve) => void schedule(resolve, LOOK_MS));
        waitedMs += LOOK_MS;
        claim = await take(name);
      }
      const letGo = keep(claim);
      try {
        return (await find()) ?? (await work());
      } finally {
        await letGo();
      }
    },
  };

  /** Acquires a claim; undefined if another node has it. */
  async function take(name: string): Promise<DocumentRecord | undefined> {
    const known = await documents.get(CLAIM, name);
    if (known !== undefined && (await store.now()) - known.updatedAt <= httpLimits.claimLeaseMs) return undefined;
    return put(name, known?.revision ?? 0);
  }

  async function put(name: string, ifRevision: number): Promise<DocumentRecord | undefined> {
    try {
      return await documents.put({ kind: CLAIM, id: name, data: {}, ifRevision });
    } catch (error) {
      if (isStoreError(error, 'version_conflict')) return undefined;
      throw error;
    }
  }

  /** Renews the claim. Returns a function that releases it, unless another node has it by then. */
  function keep(claim: DocumentRecord): () => Promise<void> {
    let held: DocumentRecord | undefined = claim;
    let saying: Promise<void> | undefined;
    let isOver = false;
    let cancel = () => {};
    const say = async () => {
      // The store may be available again for the next renewal.
      held = await put(claim.id, held!.revision).catch(() => held);
      sayLater();
    };
    const sayLater = () => {
      if (held === undefined || isOver) return;
      cancel = schedule(() => {
        // Never rejects: a failed renewal is retried with the next one.
        if (!isOver) saying = say();
      }, httpLimits.claimLeaseMs / 3);
    };
    sayLater();
    return async () => {
      isOver = true;
      cancel();
      await saying;
      // The work is done; a claim that cannot be removed expires.
      if (held !== undefined) await documents.delete(CLAIM, claim.id).catch(() => {});
    };
  }
}

const LOOK_MS = 100;

/** The kind of the stored documents. */
export const CLAIM = 'claim';
