import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Role, Scope } from '../../keys/scopes.ts';
import type { Auditor, NewAuditEntry } from '../../store/audit.ts';
import type { DocumentRecord } from '../../store/records.ts';
import { httpLimits } from '../limits.ts';
import type { Store } from '../../store/store.ts';

/** A signed-in browser. Logins of older versions have only the workspace and the expiry. */
export interface Login {
  readonly workspaceId: string;
  readonly expiresAt: number;
  readonly keyId?: string | undefined;
  readonly role?: Role | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  /** The address that it was signed in from, and how its browser names itself. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** A login as it is stored. */
export interface StoredLogin extends Login {
  readonly id: string;
  readonly createdAt: number;
}

/** The signed-in browsers, in the store: signing out is valid on every node and survives a restart. */
export interface Logins {
  /** Adds a login and returns its id. At the limit the oldest one of the same workspace is signed out. */
  begin(login: Login, audit?: Auditor): Promise<string>;
  find(id: string | undefined): Promise<StoredLogin | undefined>;
  /** Those of a workspace that have not expired, the newest first. */
  list(workspaceId: string): Promise<readonly StoredLogin[]>;
  /** Removes a login; does nothing if it is not there. */
  end(id: string, audit?: NewAuditEntry): Promise<void>;
}

/** Creates the logins of a store. */
export function createLogins({ documents }: Pick<Store, 'documents'>, clock: Pick<Clock, 'now'>): Logins {
  return {
    begin: async ({ workspaceId, expiresAt, ...rest }, audit) => {
      await removeExpired();
      await makeRoom(workspaceId);
      // Ids begin with the time, so that the list is sorted by it.
      const id = `${clock.now().toString().padStart(TIME_CHARS, '0')}-${randomBytes(16).toString('hex')}`;
      const data = { workspaceId, expires_at: expiresAt, ...rest };
      const { role = null, userAgent = null } = rest;
      const entry = audit?.('login.started', id, { role, user_agent: userAgent });
      await documents.put({ kind: LOGIN, id, data, ifRevision: 0 }, entry);
      return id;
    },
    find: async (id) => {
      const found = id === undefined ? undefined : await documents.get(LOGIN, id);
      return found && toLogin(found);
    },
    list: async (workspaceId) => {
      const found = await documents.listOfWorkspace({ kind: LOGIN, workspaceId, limit: COUNT_MAX });
      return found.map(toLogin).filter(({ expiresAt }) => expiresAt > clock.now());
    },
    end: (id, audit) => documents.delete(LOGIN, id, audit),
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

function toLogin({ id, data }: DocumentRecord): StoredLogin {
  // Only this file writes these documents.
  const { expires_at: expiresAt, ...rest } = data as unknown as Login & { readonly expires_at: number };
  return { ...rest, id, expiresAt, createdAt: Number(id.slice(0, TIME_CHARS)) };
}

const TIME_CHARS = 15;
const EXPIRED_AT_ONCE = 10;
/** Logins on several nodes at once can pass the limit by a few; the next one makes room for all of them. */
const COUNT_MAX = 2 * httpLimits.loginsMax;

/** The kind of the stored documents. */
export const LOGIN = 'login';
