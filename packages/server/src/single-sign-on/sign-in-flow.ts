import { createHmac } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { digestOf, isSameDigest, makeSecret, type RandomBytes } from '../keys/secret.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { signOnLimits } from './limits.ts';

/** A sign-in from the redirect of a browser to a provider until its return. */
export interface SignInFlow {
  readonly issuerId: string;
  /** The page of the dashboard to open afterwards. */
  readonly page: string | null;
  /** The workspace that the person requests. */
  readonly workspaceId: string | null;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly until: number;
}

/** The parameters of a new flow. */
export type NewFlow = Pick<SignInFlow, 'issuerId' | 'page' | 'workspaceId'>;

/**
 * Flows are stored in the browser, in a signed cookie: a browser that never returns costs the server nothing, and every node can finish a
 * flow. State, nonce and the verifier of PKCE are derived from a secret of the cookie with the signing key of the server, so
 * neither the cookie nor the URL alone is enough to finish a flow.
 */
export interface SignInFlows {
  begin(flow: NewFlow): { readonly cookie: string; readonly flow: SignInFlow };
  /** The flow in a cookie, if the state matches and the flow has not expired. */
  read(cookie: string, state: string | null): SignInFlow | undefined;
  /** Marks a flow as used, for all nodes. False if it was used before. */
  finish(flow: SignInFlow): Promise<boolean>;
}

/** The key that signs flows, and the store that records used flows. */
export interface SignInFlowsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Pick<Store, 'documents'>;
  readonly random?: RandomBytes | undefined;
}

/** Creates the flows of a server. */
export function createSignInFlows({ signingKey, clock, store, random }: SignInFlowsOptions): SignInFlows {
  const { documents } = store;
  return {
    begin: ({ issuerId, page, workspaceId }) => {
      const fields: Fields = [makeSecret('', random), issuerId, page, workspaceId, clock.now() + signOnLimits.flowMs];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return { cookie: `${payload}.${derive('cookie', payload)}`, flow: toFlow(fields) };
    },
    read: (cookie, state) => {
      const [payload, signature, ...more] = cookie.split('.');
      if (payload === undefined || signature === undefined || more.length > 0) return undefined;
      if (!isSame(signature, derive('cookie', payload))) return undefined;
      // The signature matched, so these are the fields that `begin` wrote.
      const flow = toFlow(JSON.parse(Buffer.from(payload, 'base64url').toString()) as Fields);
      return flow.until > clock.now() && state !== null && isSame(state, flow.state) ? flow : undefined;
    },
    finish: async ({ state, until }) => {
      await removeExpired();
      // Ids begin with the time, so that the list is sorted by it.
      const id = `${until.toString().padStart(TIME_CHARS, '0')}-${digestOf(state).toString('hex')}`;
      try {
        await documents.put({ kind: USED_FLOW, id, data: {}, ifRevision: 0 });
        return true;
      } catch (error) {
        if (isStoreError(error, 'version_conflict')) return false;
        throw error;
      }
    },
  };

  function toFlow([secret, issuerId, page, workspaceId, until]: Fields): SignInFlow {
    const [state, nonce, verifier] = [derive('state', secret), derive('nonce', secret), derive('verifier', secret)];
    return { issuerId, page, workspaceId, until, state, nonce, verifier };
  }

  /** Derives a value from the signing key. The key signs other values too: the purpose prevents a value of one kind from being accepted as another. */
  function derive(purpose: string, text: string): string {
    return createHmac('sha256', signingKey).update(`fleetloom sign-in ${purpose} ${text}`).digest('base64url');
  }

  /** Removes expired records. Each finished flow removes more records than it adds. */
  async function removeExpired(): Promise<void> {
    const { items } = await documents.list({ kind: USED_FLOW, order: 'asc', limit: EXPIRED_AT_ONCE });
    const expired = items.filter(({ id }) => Number(id.slice(0, TIME_CHARS)) <= clock.now());
    for (const { id } of expired) await documents.delete(USED_FLOW, id);
  }
}

function isSame(one: string, other: string): boolean {
  return isSameDigest(digestOf(one), digestOf(other));
}

/** The payload of a cookie: secret, issuer, page, workspace, expiry. */
type Fields = [string, string, string | null, string | null, number];

const TIME_CHARS = 15;
const EXPIRED_AT_ONCE = 10;

/** The kind of the documents that record used flows. */
const USED_FLOW = 'used_sign_in';
