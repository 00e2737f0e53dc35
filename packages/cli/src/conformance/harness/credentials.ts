import type Anthropic from '@anthropic-ai/sdk';
import type { Context } from './context.ts';
import { NotApplicable } from './expect.ts';

/** What a credential is for, with its secrets. */
export type Auth = Anthropic.Beta.Vaults.CredentialCreateParams['auth'];

/** A secret that no response may contain. */
export const CANARY = 'canary-c0nf0rmance';

export function bearerOf(mcp_server_url: string): Auth {
  return { type: 'static_bearer', mcp_server_url, token: `${CANARY}-bearer` };
}

export function oauthOf(mcp_server_url: string, more: Partial<Extract<Auth, { type: 'mcp_oauth' }>> = {}): Auth {
  return { type: 'mcp_oauth', mcp_server_url, access_token: `${CANARY}-access`, ...more };
}

/** The fields of a credential for renewing an access token; with a client secret only if `secret` is passed. */
export function refreshOf(secret?: string) {
  return {
    client_id: 'client',
    refresh_token: `${CANARY}-refresh`,
    token_endpoint: 'https://login.example.com/token',
    token_endpoint_auth:
      secret === undefined
        ? ({ type: 'none' } as const)
        : ({ type: 'client_secret_basic', client_secret: secret } as const),
  };
}

export function variableOf(
  secret_name: string,
  more: Partial<Extract<Auth, { type: 'environment_variable' }>> = {},
): Auth {
  return {
    type: 'environment_variable',
    secret_name,
    secret_value: `${CANARY}-value`,
    networking: { type: 'limited', allowed_hosts: ['api.example.com'] },
    ...more,
  };
}

/** Creates a credential in the vault. The check does not apply to a server without a master key, which cannot encrypt secrets. */
export async function createCredential({ client }: Context, vaultId: string, auth: Auth) {
  try {
    return await client.beta.vaults.credentials.create(vaultId, { auth });
  } catch (error) {
    if (/no master key/i.test(String(error))) throw new NotApplicable('the server has no master key for secrets');
    throw error;
  }
}
