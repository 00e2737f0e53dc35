import { createHash, timingSafeEqual } from 'node:crypto';
import type { SealedKind } from '../../keys/sealed-rows.ts';
import { type Stored, toNames, toStored } from '../stored.ts';
import type { ConnectClient } from './find-client.ts';

/** The kind of the documents that open and recent flows are stored in. */
export const OAUTH_FLOW = 'oauth_flow';

/** A flow. What a node needs to finish it is sealed, so that any node can and no reader of the database. */
export interface StoredFlow {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly url: string;
  readonly displayName: string | null;
  readonly issuer: string;
  /** Whether the authorization server names itself in every answer (RFC 9207). */
  readonly namesIssuer: boolean;
  /** The digest of the secret part of `state`, which only the authorization server and the user's browser get. */
  readonly stateDigest: string;
  /** The caller that began it, as entries of the audit log name callers. */
  readonly by: unknown;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** `exchanging`: a node has taken the code. It is never exchanged a second time, also if that node is killed. */
  readonly state: 'pending' | 'exchanging' | 'completed' | 'failed';
  readonly credentialId: string | null;
  readonly error: FlowError | null;
  /** {@link FlowSecrets}; null as soon as it is not needed. */
  readonly sealed: string | null;
}

/** Why a flow has stored nothing. */
export interface FlowError {
  readonly type: (typeof FLOW_ERRORS)[number];
  readonly message: string;
}

/** Every way to fail. */
export const FLOW_ERRORS = [
  'authorization_refused',
  'issuer_mismatch',
  'state_mismatch',
  'token_request_failed',
  'credential_not_stored',
  'expired',
] as const;

/** What the code is exchanged with. */
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

/** The `state` of a flow: its id, and a secret. */
export function toState(id: string, secret: string): string {
  return `${id}.${secret}`;
}

/** The id of the flow that a `state` is of. The secret is compared when the flow is known. */
export function readState(state: string): { readonly id: string; readonly secret: string } {
  const at = state.indexOf('.');
  return { id: state.slice(0, Math.max(0, at)), secret: state.slice(at + 1) };
}

/** What is stored of the secret of a `state`. */
export function digestOfState(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Whether the secret is that of the flow, in a time that does not depend on how much of it is right. */
export function isState(flow: Stored<StoredFlow>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(digestOfState(secret)), Buffer.from(flow.data.stateDigest));
}
