import { limits } from '../base/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { doorError } from './door-error.ts';

/** Lets one node at a time do what has a name, where a client that lost its patience may repeat it at another one. */
export interface Claims {
  /** What `find` gives, if another one has done it meanwhile; else what `work` gives. */
  run<Result>(name: string, find: () => Promise<Result | undefined>, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Claims as documents. Who has one says again and again that it is still at it, so that a node that died holds up nobody for
 * long. One that was only frozen may find its claim taken, and then do it all the same: what must not happen twice has its key
 * in the same write.
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
        if (waitedMs >= limits.claimMs) throw doorError('still_under_way', 'another node is still at this request');
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

  /** Undefined: another one has it. */
  async function take(name: string): Promise<DocumentRecord | undefined> {
    const known = await documents.get(CLAIM, name);
    if (known !== undefined && (await store.now()) - known.updatedAt <= limits.claimLeaseMs) return undefined;
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

  /** Says again and again that it counts. What it gives back lets go of it, unless another one has it by then. */
  function keep(claim: DocumentRecord): () => Promise<void> {
    let held: DocumentRecord | undefined = claim;
    let saying: Promise<void> | undefined;
    let isOver = false;
    let cancel = () => {};
    const say = async () => {
      // A store that is away may be back in time for the next one.
      held = await put(claim.id, held!.revision).catch(() => held);
      sayLater();
    };
    const sayLater = () => {
      if (held === undefined || isOver) return;
      cancel = schedule(() => {
        // Never rejects: a failed renewal is retried with the next one.
        if (!isOver) saying = say();
      }, limits.claimLeaseMs / 3);
    };
    sayLater();
    return async () => {
      isOver = true;
      cancel();
      await saying;
      // What was done is done; if the claim cannot be removed it ends by itself.
      if (held !== undefined) await documents.delete(CLAIM, claim.id).catch(() => {});
    };
  }
}

const LOOK_MS = 100;

export const CLAIM = 'claim';
