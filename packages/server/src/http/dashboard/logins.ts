import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { type Person, toPersonId } from '../../keys/person.ts';
import type { Role, Scope } from '../../keys/scopes.ts';
import type { Auditor, NewAuditEntry } from '../../store/audit.ts';
import type { DocumentRecord } from '../../store/records.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { Store } from '../../store/store.ts';
import { httpLimits } from '../limits.ts';
import { findReplaced } from './find-replaced.ts';

/** A signed-in browser. Logins of older versions have only the workspace and the expiry. */
export interface Login {
  readonly workspaceId: string;
  readonly expiresAt: number;
  readonly keyId?: string | undefined;
  readonly role?: Role | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  /** The client address and the user agent of the browser at sign-in. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The chain of logins that this one was made with, the first one first. It ends when any of them ends. */
  readonly madeWith?: readonly string[] | undefined;
  /** The person who signed in at an OpenID provider; there is no key then. */
  readonly person?: Person | undefined;
  /** The encrypted id token of the person, and the session at the provider. */
  readonly idToken?: string | undefined;
  readonly providerSession?: string | undefined;
}

/** A login as it is stored. */
export interface StoredLogin extends Login {
  readonly id: string;
  readonly createdAt: number;
}

/** The signed-in browsers, in the store: a sign-out takes effect on every node and survives a restart. */
export interface Logins {
  /**
   * Adds a login. Undefined if a login that it was made with has ended. At its limit a maker replaces its own oldest login, not those of
   * others.
   */
  begin(login: Login, audit?: Auditor): Promise<StoredLogin | undefined>;
  /** Finds a login that is valid, like every login that it was made with. */
  find(id: string | undefined): Promise<StoredLogin | undefined>;
  /** The valid logins of a workspace, the newest first. */
  list(workspaceId: string): Promise<readonly StoredLogin[]>;
  /** Removes a login and those made with it; does nothing if it does not exist. */
  end(id: string, audit?: NewAuditEntry): Promise<void>;
}

/** Services that logins depend on. */
export interface LoginSources {
  readonly hasKey?: ((id: string) => Promise<boolean>) | undefined;
  /** Whether people of this OpenID provider may sign in. */
  readonly hasIssuer?: ((issuer: string) => boolean) | undefined;
}

/** Creates the logins of a store. */
export function createLogins(
  { documents }: Pick<Store, 'documents'>,
  clock: Pick<Clock, 'now'>,
  { hasKey = async () => true, hasIssuer = () => false }: LoginSources = {},
): Logins {
  return {
    begin: async (login, audit) => {
      await removeExpired();
      const makers = await findMakers(login.madeWith);
      if (makers === undefined) return undefined;
      await makeRoom(login);
      // Ids begin with the time, so that the list is sorted by it.
      const id = `${clock.now().toString().padStart(TIME_CHARS, '0')}-${randomBytes(16).toString('hex')}`;
      const { workspaceId, expiresAt: wanted, ...rest } = login;
      const expiresAt = Math.min(wanted, ...makers.map((each) => each.expiresAt));
      const data = { workspaceId, expires_at: expiresAt, ...rest };
      const { role = null, userAgent = null, madeWith } = rest;
      const made = madeWith === undefined ? {} : { made_with: madeWith.at(-1) };
      const entry = audit?.('login.started', id, { role, user_agent: userAgent, ...made });
      return toLogin(await documents.put({ kind: LOGIN, id, data, ifRevision: 0 }, entry));
    },
    find: async (id) => {
      const found = id === undefined ? undefined : await documents.get(LOGIN, id);
      const login = found && toLogin(found);
      if (login === undefined || !isCurrent(login)) return undefined;
      return (await findMakers(login.madeWith)) === undefined ? undefined : login;
    },
    list: async (workspaceId) => {
      const all = await readAll(workspaceId, 'desc');
      const ids = new Set(all.map(({ id }) => id));
      const shown = all.filter((login) => isCurrent(login) && (login.madeWith ?? []).every((each) => ids.has(each)));
      const keys = new Map<string, boolean>();
      for (const { keyId, person } of shown) {
        if (keyId !== undefined && person === undefined && !keys.has(keyId)) keys.set(keyId, await hasKey(keyId));
      }
      return shown.filter(({ keyId = '' }) => keys.get(keyId) !== false);
    },
    end: async (id, audit) => {
      const found = await documents.get(LOGIN, id);
      if (found === undefined) return;
      const made = withMade(await readAll(toLogin(found).workspaceId, 'asc'), [id]).filter((each) => each !== id);
      const removed = [{ id, ifRevision: found.revision }, ...made.map((each) => ({ id: each }))];
      try {
        await documents.change(
          removed.map((each) => ({ type: 'delete', kind: LOGIN, ...each }) as const),
          audit,
        );
      } catch (error) {
        // Another request has just ended it.
        if (!isStoreError(error, 'version_conflict')) throw error;
      }
    },
  };

  function isCurrent({ expiresAt, person }: StoredLogin): boolean {
    return expiresAt > clock.now() && (person === undefined || hasIssuer(person.issuer));
  }

  /** Finds the logins with these ids; undefined if one of them has ended. */
  async function findMakers(ids: readonly string[] = []): Promise<readonly StoredLogin[] | undefined> {
    if (ids.length === 0) return [];
    const found = (await documents.getAll(LOGIN, ids)).map(toLogin);
    return found.length === ids.length && found.every(isCurrent) ? found : undefined;
  }

  async function readAll(workspaceId: string, order: 'asc' | 'desc'): Promise<readonly StoredLogin[]> {
    return (await documents.listOfWorkspace({ kind: LOGIN, workspaceId, order, limit: COUNT_MAX })).map(toLogin);
  }

  async function makeRoom(login: Login): Promise<void> {
    const { workspaceId } = login;
    const isOfKey = login.person === undefined && login.madeWith === undefined;
    const count = await documents.countOfWorkspace({ kind: LOGIN, workspaceId, max: COUNT_MAX });
    // The logins of a person, and those made with one login, have a limit of their own.
    if (isOfKey && count < httpLimits.loginsMax) return;
    const all = await readAll(workspaceId, 'asc');
    const expired = all.filter((each) => !isCurrent(each)).map(({ id }) => id);
    const current = all.filter(isCurrent).map((each) => ({ id: each.id, maker: makerOf(each) }));
    const ofMakerMax = isOfKey ? httpLimits.loginsMax : httpLimits.loginsOfPersonMax;
    const replaced = findReplaced(current, makerOf(login), { max: httpLimits.loginsMax, ofMakerMax });
    for (const id of new Set([...expired, ...withMade(all, replaced)])) await documents.delete(LOGIN, id);
  }

  /** Removes expired logins, the oldest first. Each new login removes more records than it adds. */
  async function removeExpired(): Promise<void> {
    const { items } = await documents.list({ kind: LOGIN, order: 'asc', limit: EXPIRED_AT_ONCE });
    const expired = items.filter(({ data }) => Number(data['expires_at']) <= clock.now());
    for (const { id } of expired) await documents.delete(LOGIN, id);
  }
}

/** The maker whose limit a login counts against: its person, the login that its link was made with, or its key. */
export function makerOf({ person, madeWith, keyId = '' }: Pick<Login, 'person' | 'madeWith' | 'keyId'>): string {
  return person === undefined ? (madeWith?.[0] ?? keyId) : toPersonId(person);
}

/** The ids of logins and of all logins that were made with them. */
function withMade(all: readonly StoredLogin[], ids: readonly string[]): readonly string[] {
  const made = all.filter(({ madeWith = [] }) => madeWith.some((each) => ids.includes(each)));
  return [...ids, ...made.map(({ id }) => id)];
}

function toLogin({ id, data }: DocumentRecord): StoredLogin {
  // Only this file writes these documents.
  const { expires_at: expiresAt, ...rest } = data as unknown as Login & { readonly expires_at: number };
  return { ...rest, id, expiresAt, createdAt: Number(id.slice(0, TIME_CHARS)) };
}

const TIME_CHARS = 15;
const EXPIRED_AT_ONCE = 10;
/** Concurrent logins on several nodes can exceed the limit by a few; the next login removes the excess. */
const COUNT_MAX = 2 * httpLimits.loginsMax;

/** The kind of the stored documents. */
export const LOGIN = 'login';
