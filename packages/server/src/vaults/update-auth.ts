import type { CredentialAuth, CredentialAuthUpdate, McpOAuthRefresh } from '@fleetloom/protocol/managed-agents';
import { checkExpiry, checkLocation, checkNetworking, checkSecret } from './create-auth.ts';
import type { Secrets } from './stored.ts';
import { invalidField } from './vault-errors.ts';

/** The result of an update of `auth`. Secrets that are absent here stay unchanged. */
export interface ChangedAuth {
  readonly auth: CredentialAuth;
  readonly secrets: Secrets;
}

/** Applies an update to the `auth` of a credential. Throws if it cannot be applied. */
export function updateAuth(before: CredentialAuth, update: CredentialAuthUpdate, now: number): ChangedAuth {
  if (before.type === 'static_bearer' && update.type === 'static_bearer') {
    return { auth: before, secrets: pick('token', 'auth.token', update.token) };
  }
  if (before.type === 'mcp_oauth' && update.type === 'mcp_oauth') return updateOAuth(before, update, now);
  if (before.type === 'environment_variable' && update.type === 'environment_variable') {
    return updateVariable(before, update);
  }
  throw invalidField(
    'auth.type',
    `the credential has the type ${before.type}`,
    'send that type, or create another one',
  );
}

type OAuth = Extract<CredentialAuth, { type: 'mcp_oauth' }>;
type OAuthUpdate = Extract<CredentialAuthUpdate, { type: 'mcp_oauth' }>;
type RefreshUpdate = NonNullable<OAuthUpdate['refresh']>;
type Variable = Extract<CredentialAuth, { type: 'environment_variable' }>;
type VariableUpdate = Extract<CredentialAuthUpdate, { type: 'environment_variable' }>;

function updateOAuth(before: OAuth, update: OAuthUpdate, now: number): ChangedAuth {
  const { expires_at: known, ...rest } = before;
  // An absent `expires_at` keeps the expiry, even with a new token; null removes the expiry.
  const expires = update.expires_at === undefined ? known : update.expires_at;
  const kept = expires === known || expires === null ? (expires ?? undefined) : checkExpiry(expires!, now);
  const refresh = update.refresh == null ? before.refresh : updateRefresh(before.refresh, update.refresh);
  return {
    auth: { ...rest, ...(kept === undefined ? {} : { expires_at: kept }), refresh },
    secrets: {
      ...pick('access_token', 'auth.access_token', update.access_token),
      ...(update.refresh == null ? {} : toRefreshSecrets(before, update.refresh)),
    },
  };
}

function updateRefresh(before: McpOAuthRefresh | null, { scope }: RefreshUpdate): McpOAuthRefresh {
  if (before === null) {
    const problem = 'the credential was created without refresh';
    throw invalidField('auth.refresh', problem, 'create another credential with it');
  }
  return scope == null ? before : { ...before, scope: scope === '' ? null : scope };
}

function toRefreshSecrets({ refresh }: OAuth, update: RefreshUpdate): Secrets {
  const clientSecret = update.token_endpoint_auth?.client_secret;
  const field = 'auth.refresh.token_endpoint_auth.client_secret';
  if (clientSecret != null && refresh?.token_endpoint_auth.type === 'none') {
    throw invalidField(field, 'the client has no secret', 'leave it out, or create another credential');
  }
  return {
    ...pick('refresh_token', 'auth.refresh.refresh_token', update.refresh_token),
    // The stored authentication method stays, whatever method the update names.
    ...pick('client_secret', field, clientSecret),
  };
}

function updateVariable(before: Variable, update: VariableUpdate): ChangedAuth {
  const { networking, injection_location: location = {}, secret_value: value } = update;
  return {
    auth: {
      ...before,
      networking: networking == null ? before.networking : checkNetworking(networking),
      injection_location: checkLocation({ ...before.injection_location, ...location }),
    },
    secrets: pick('secret_value', 'auth.secret_value', value),
  };
}

/** The checked secret as an update. Null and undefined keep the stored secret. */
function pick(name: keyof Secrets, field: string, value: string | null | undefined): Secrets {
  return value == null ? {} : { [name]: checkSecret(field, value) };
}
