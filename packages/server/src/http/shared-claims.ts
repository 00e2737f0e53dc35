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

/** Claims as documents. One whose node died is worth nothing after a while. */
export function createSharedClaims(store: Pick<Store, 'documents' | 'now'>, schedule: Schedule): Claims {
  const { documents } = store;
  return {
    run: async (name, find, work) => {
      let waitedMs = 0;
      while (!(await claim(name))) {
        const found = await find();
        if (found !== undefined) return found;
        if (waitedMs >= limits.claimMs) throw doorError('still_under_way', 'another node is still at this request');
        await new Promise<void>((resolve) => void schedule(resolve, LOOK_MS));
        waitedMs += LOOK_MS;
      }
      try {
        return (await find()) ?? (await work());
      } finally {
        await documents.delete(CLAIM, name);
      }
    },
  };

  async function claim(name: string): Promise<boolean> {
    const known = await documents.get(CLAIM, name);
    if (known !== undefined && !(await isOld(known))) return false;
    try {
      await documents.put({ kind: CLAIM, id: name, data: {}, ifRevision: known?.revision ?? 0 });
      return true;
    } catch (error) {
      if (isStoreError(error, 'version_conflict')) return false;
      throw error;
    }
  }

  async function isOld({ updatedAt }: DocumentRecord): Promise<boolean> {
    return (await store.now()) - updatedAt > limits.claimMs;
  }
}

const LOOK_MS = 100;

export const CLAIM = 'claim';
