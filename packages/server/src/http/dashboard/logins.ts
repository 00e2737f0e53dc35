import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { Store } from '../../store/store.ts';

/** The signed-in browsers, in the store: signing out is valid on every node and survives a restart. */
export interface Logins {
  /** Adds a login and returns its id. At the limit the oldest one of the same workspace is signed out. */
  begin(login: { readonly workspaceId: string; readonly expiresAt: number }): Promise<string>;
  has(id: string | undefined): Promise<boolean>;
  /** Removes a login; does nothing if it is not there. */
  end(id: string): Promise<void>;
}

/** Creates the logins of a store. */
export function createLogins({ documents }: Pick<Store, 'documents'>, clock: Pick<Clock, 'now'>): Logins {
  return {
    begin: async ({ workspaceId, expiresAt }) => {
      await removeExpired();
      await makeRoom(workspaceId);
      // Ids begin with the time, so that the list is sorted by it.
      const id = `${clock.now().toString().padStart(15, '0')}-${randomBytes(16).toString('hex')}`;
      await documents.put({ kind: LOGIN, id, data: { workspaceId, expires_at: expiresAt }, ifRevision: 0 });
      return id;
    },
    has: async (id) => id !== undefined && (await documents.get(LOGIN, id)) !== undefined,
    end: (id) => documents.delete(LOGIN, id),
  };

  async function makeRoom(workspaceId: string): Promise<void> {
    const of = { kind: LOGIN, workspaceId } as const;
    const surplus = (await documents.countOfWorkspace({ ...of, max: COUNT_MAX })) - httpLimits.loginsMax + 1;
    if (surplus <= 0) return;
    for (const { id } of await documents.listOfWorkspace({ ...of, order: 'asc', limit: surplus })) {
      await documents.delete(LOGIN, id);
    }
  }

  /** All logins are valid for the same time, so the oldest expire first. Each login removes more than it adds. */
  async function removeExpired(): Promise<void> {
    const { items } = await documents.list({ kind: LOGIN, order: 'asc', limit: EXPIRED_AT_ONCE });
    const expired = items.filter(({ data }) => Number(data['expires_at']) <= clock.now());
    for (const { id } of expired) await documents.delete(LOGIN, id);
  }
}

const EXPIRED_AT_ONCE = 10;
/** Logins on several nodes at once can pass the limit by a few; the next one makes room for all of them. */
const COUNT_MAX = 2 * httpLimits.loginsMax;

/** The kind of the stored documents. */
export const LOGIN = 'login';
