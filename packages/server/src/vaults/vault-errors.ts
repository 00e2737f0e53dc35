import { requestError } from '../base/request-error.ts';
import { FleetloomError } from '../base/errors.ts';

/** An error about a vault or credential that the caller can fix. */
export function vaultError(code: VaultErrorCode, problem: string): FleetloomError {
  return new FleetloomError({ code, kind: 'caller', problem, advice: codes[code] });
}

/** A field whose value cannot be used. */
export function invalidField(field: string, problem: string, advice: string): FleetloomError {
  return requestError('invalid_request', `${field}: ${problem}`, { advice });
}

export type VaultErrorCode = keyof typeof codes;

/** Each error code with its advice. On the wire, `…_not_found` codes are 404, a taken key is 409, all others are 400. */
const codes = {
  vault_not_found: 'check the id, and that it was not deleted',
  credential_not_found: 'check the id and the vault, and that it was not deleted',
  vault_archived: 'use another vault, or create a new one',
  credential_archived: 'create a new credential',
  credential_key_taken: 'update or archive that credential, or use another vault',
  too_many_credentials: 'archive credentials that are not needed, or use another vault',
  oauth_not_discovered: 'check mcp_server_url; a server without OAuth needs a token, which you can add as a credential',
  oauth_client_missing: 'register a client at the authorization server with that redirect, and send its client_id',
  oauth_flow_not_found: 'check the id; begin again if it has expired',
} as const satisfies Record<string, string>;
