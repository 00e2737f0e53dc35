import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { DocumentRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';

/** Browsers that are signed in, in the store: what is not there is signed out, also after a restart and at every node. */
export interface Logins {
  /** A new one. If there are too many, the oldest is signed out. */
  begin(expiresAt: number): Promise<string>;
  has(id: string | undefined): Promise<boolean>;
  /** A second time changes nothing. */
  end(id: string): Promise<void>;
}

export function createLogins({ documents }: Pick<Store, 'documents'>, clock: Pick<Clock, 'now'>): Logins {
  return {
    begin: async (expiresAt) => {
      await makeRoom();
      // Listed by id, and so by time: the oldest first.
      const id = `${clock.now().toString().padStart(15, '0')}-${randomBytes(16).toString('hex')}`;
      await documents.put({ kind: LOGIN, id, data: { expires_at: expiresAt }, ifRevision: 0 });
      return id;
    },
    has: async (id) => id !== undefined && (await documents.get(LOGIN, id)) !== undefined,
    end: (id) => documents.delete(LOGIN, id),
  };

  async function makeRoom(): Promise<void> {
    const known = await listAll();
    const surplus = known.length - limits.loginsMax + 1;
    const gone = known.filter(({ data }, index) => index < surplus || Number(data['expires_at']) <= clock.now());
    for (const { id } of gone) await documents.delete(LOGIN, id);
  }

  async function listAll(): Promise<DocumentRecord[]> {
    const all: DocumentRecord[] = [];
    let cursor: string | null = null;
    do {
      const from: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await documents.list({ kind: LOGIN, order: 'asc', limit: limits.pageItemsMax, ...from });
      all.push(...page.items);
      cursor = page.next;
    } while (cursor !== null);
    return all;
  }
}

export const LOGIN = 'login';
