import { createHash, timingSafeEqual } from 'node:crypto';
import type { SealedKind } from '../../keys/sealed-rows.ts';
import { type Stored, toNames, toStored } from '../stored.ts';
import type { ConnectClient } from './find-client.ts';

/** The kind of the documents that open and recent flows are stored in. */
export const OAUTH_FLOW = 'oauth_flow';

/** A stored flow. The secrets to finish it are sealed: every node can open them, a reader of the database cannot. */
export interface StoredFlow {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly url: string;
  readonly displayName: string | null;
  readonly issuer: string;
  /** Whether the authorization server names itself in every response (RFC 9207). */
  readonly namesIssuer: boolean;
  /** The digest of the secret part of `state`. Only the authorization server and the user's browser receive the secret. */
  readonly stateDigest: string;
  /** The caller that began the flow, as entries of the audit log name callers. */
  readonly by: unknown;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** `exchanging`: a node has claimed the code. The code is never exchanged a second time, even if that node is killed. */
  readonly state: 'pending' | 'exchanging' | 'completed' | 'failed';
  readonly credentialId: string | null;
  readonly error: FlowError | null;
  /** The sealed {@link FlowSecrets}; null once they are not needed any more. */
  readonly sealed: string | null;
}

/** Why a flow has stored no credential. */
export interface FlowError {
  readonly type: (typeof FLOW_ERRORS)[number];
  readonly message: string;
}

/** The types of flow errors. */
export const FLOW_ERRORS = [
  'authorization_refused',
  'issuer_mismatch',
  'state_mismatch',
  'token_request_failed',
  'credential_not_stored',
  'expired',
] as const;

/** The values with which the code is exchanged. */
export interface FlowSecrets extends ConnectClient {
  readonly codeVerifier: string;
  readonly tokenEndpoint: string;
  readonly redirectUri: string;
  readonly resource: string;
}

/** The documents of flows, for rotations of the master key. */
export const flowSecrets: SealedKind = {
  kind: OAUTH_FLOW,
  fieldsOf: (document) => {
    const { id, data } = toStored<StoredFlow>(document);
    return data.sealed === null ? [] : [{ field: 'sealed', names: toNames(data.workspaceId, data.vaultId, id) }];
  },
};

/** The `state` parameter of a flow: its id and a secret. */
export function toState(id: string, secret: string): string {
  return `${id}.${secret}`;
}

/** The id and the secret in a `state` parameter. The secret is not checked here. */
export function readState(state: string): { readonly id: string; readonly secret: string } {
  const at = state.indexOf('.');
  return { id: state.slice(0, Math.max(0, at)), secret: state.slice(at + 1) };
}

/** The stored digest of the secret of a `state`. */
export function digestOfState(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Whether the secret belongs to the flow, compared in constant time. */
export function isState(flow: Stored<StoredFlow>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(digestOfState(secret)), Buffer.from(flow.data.stateDigest));
}
