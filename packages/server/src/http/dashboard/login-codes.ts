import type { Person } from '../../keys/person.ts';
import type { Role, Scope } from '../../keys/scopes.ts';
import { digestOf, makeSecret, type RandomBytes } from '../../keys/secret.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { DocumentChange, Store } from '../../store/store.ts';
import { httpLimits } from '../limits.ts';
import { findReplaced, type MadeLimits } from './find-replaced.ts';
import { makerOf } from './logins.ts';

/** The key or person whose rights, or a part of them, a signed-in browser has. */
export interface Visitor {
  /** The id of the key; for a person, the id that is used instead of a key. */
  readonly keyId: string;
  readonly workspaceId: string;
  /** The role that the link was made for. */
  readonly role?: Role | undefined;
  /** The most scopes that the browser has, limited by the scopes of the key. Absent: the scopes of the key. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The logins that the link was made with, the first one first. */
  readonly madeWith?: readonly string[] | undefined;
  readonly person?: Person | undefined;
}

/** Codes of login links. Each signs one browser in, once, within a short time, on any node. */
export interface LoginCodes {
  /** At its limit a maker replaces its own oldest code, not those of others. */
  make(visitor: Visitor): Promise<string>;
  /** Consumes a code, and returns the visitor that it was made for. */
  take(code: string): Promise<Visitor | undefined>;
}

/** Creates login codes in the store. Only digests are stored, so that the time of a look-up reveals nothing about the code. */
export function createLoginCodes(store: Pick<Store, 'documents' | 'now'>, random?: RandomBytes): LoginCodes {
  const { documents } = store;
  return {
    make: async (visitor) => {
      const code = makeSecret('', random);
      const until = (await store.now()) + httpLimits.loginCodeMs;
      const { workspaceId } = visitor;
      const isOfKey = visitor.person === undefined && visitor.madeWith === undefined;
      const ofMakerMax = isOfKey ? httpLimits.loginCodesMax : httpLimits.loginCodesOfPersonMax;
      const added = { id: idOf(code), maker: makerOf(visitor), until };
      const data = { ...toVisitor(visitor), until };
      const limits = { max: httpLimits.loginCodesMax, ofMakerMax };
      while (!(await list(workspaceId, added, data, limits)));
      return code;
    },
    take: async (code) => {
      const found = await documents.get(LOGIN_CODE, idOf(code));
      // The cast: only this file writes these documents.
      const known = found?.data as unknown as (Visitor & { readonly until: number }) | undefined;
      if (found === undefined || known === undefined || known.until <= (await store.now())) return undefined;
      // Of two requests with the same code, only one finds this revision.
      const { id, revision: ifRevision } = found;
      const isMine = await tryTo([{ type: 'delete', kind: LOGIN_CODE, id, ifRevision }]);
      return isMine ? toVisitor(known) : undefined;
    },
  };

  /** Adds a code and its place in the list of its workspace. False if another request has changed the list in the meantime. */
  async function list(workspaceId: string, added: Listed, data: object, limits: MadeLimits): Promise<boolean> {
    const found = await documents.get(LOGIN_CODES, workspaceId);
    // Only this function writes the list. The oldest codes come first.
    const { codes } = (found?.data ?? { codes: [] }) as unknown as { readonly codes: readonly Listed[] };
    const now = added.until - httpLimits.loginCodeMs;
    const open = codes.filter(({ until }) => until > now);
    const replaced = new Set(findReplaced(open, added.maker, limits));
    const kept = open.filter(({ id }) => !replaced.has(id));
    const gone = codes.filter((each) => !kept.includes(each));
    return await tryTo([
      {
        type: 'put',
        kind: LOGIN_CODES,
        id: workspaceId,
        data: { codes: [...kept, added] },
        ifRevision: found?.revision ?? 0,
      },
      { type: 'put', kind: LOGIN_CODE, id: added.id, data },
      ...gone.map(({ id }) => ({ type: 'delete', kind: LOGIN_CODE, id }) as const),
    ]);
  }

  async function tryTo(changes: readonly DocumentChange[]): Promise<boolean> {
    try {
      await documents.change(changes);
      return true;
    } catch (error) {
      if (isStoreError(error, 'version_conflict')) return false;
      throw error;
    }
  }
}

/** A code in the list of its workspace. It may have been used. */
interface Listed {
  readonly id: string;
  readonly maker: string;
  readonly until: number;
}

/** Copies only the fields of a visitor. */
function toVisitor({ keyId, workspaceId, role, scopes, madeWith, person }: Visitor): Visitor {
  const rest = { role, scopes, madeWith, person };
  const known = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { keyId, workspaceId, ...Object.fromEntries(known) };
}

function idOf(code: string): string {
  return digestOf(code).toString('hex');
}

/** The kinds of the stored documents: a code, and the list of the codes of a workspace. */
export const LOGIN_CODE = 'login_code';
export const LOGIN_CODES = 'login_codes';
