import { httpLimits } from '../limits.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { digestOf, makeSecret, type RandomBytes } from '../../keys/secret.ts';
import { type LoginCodes, toVisitor, type Visitor } from './login-codes.ts';

/** Codes that one node makes and any other accepts, once. Only digests are stored; expired codes are removed. */
export function createSharedLoginCodes(store: Pick<Store, 'documents' | 'now'>, random?: RandomBytes): LoginCodes {
  const { documents } = store;
  return {
    make: async (visitor) => {
      const code = makeSecret('', random);
      const until = (await store.now()) + httpLimits.loginCodeMs;
      await documents.put({ kind: LOGIN_CODE, id: idOf(code), data: { ...toVisitor(visitor), until } });
      return code;
    },
    take: async (code) => {
      const found = await documents.get(LOGIN_CODE, idOf(code));
      // The cast: only this file writes these documents.
      const known = found?.data as unknown as (Visitor & { readonly until: number }) | undefined;
      if (found === undefined || known === undefined || known.until <= (await store.now())) return undefined;
      try {
        // Of two requests with the same code, only one finds this revision.
        await documents.put({ kind: LOGIN_CODE, id: found.id, data: { until: 0 }, ifRevision: found.revision });
      } catch (error) {
        if (isStoreError(error, 'version_conflict')) return undefined;
        throw error;
      }
      return toVisitor(known);
    },
  };
}

function idOf(code: string): string {
  return digestOf(code).toString('hex');
}

/** The kind of the stored documents. */
export const LOGIN_CODE = 'login_code';
