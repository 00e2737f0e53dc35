import type { CredentialAuth, CredentialAuthParams, CredentialAuthUpdate } from '@fleetloom/protocol/managed-agents';
import { listOf, secretOf, textOf } from '../ui/admin/ActionForm.tsx';

/** The kinds of credentials that a form can create. */
export type CredentialKind = CredentialAuthParams['type'];

/** The `auth` of a new credential from the fields of its form. The server checks it. */
export function toAuth(kind: CredentialKind, fields: FormData): CredentialAuthParams {
  const url = textOf(fields, 'url') ?? '';
  const secret = secretOf(fields, 'secret');
  if (kind === 'static_bearer') return { type: kind, mcp_server_url: url, token: secret };
  if (kind === 'environment_variable') {
    const hosts = listOf(fields, 'hosts');
    return {
      type: kind,
      secret_name: textOf(fields, 'variable') ?? '',
      secret_value: secret,
      networking: hosts.length === 0 ? { type: 'unrestricted' } : { type: 'limited', allowed_hosts: hosts },
      injection_location: { header: fields.has('header'), body: fields.has('body') },
    };
  }
  const refreshToken = secretOf(fields, 'refresh_token');
  const expiry = toExpiry(fields);
  return {
    type: kind,
    mcp_server_url: url,
    access_token: secret,
    ...(expiry === undefined ? {} : { expires_at: expiry }),
    ...(refreshToken === '' ? {} : { refresh: toRefresh(refreshToken, fields) }),
  };
}

/** The update that replaces the secrets of a credential. Empty optional fields keep their values. */
export function toRotation({ type }: Pick<CredentialAuth, 'type'>, fields: FormData): CredentialAuthUpdate {
  const secret = secretOf(fields, 'secret');
  if (type === 'static_bearer') return { type, token: secret };
  if (type === 'environment_variable') return { type, secret_value: secret };
  const refreshToken = secretOf(fields, 'refresh_token');
  const expiry = toExpiry(fields);
  return {
    type,
    access_token: secret,
    ...(expiry === undefined ? {} : { expires_at: expiry }),
    ...(refreshToken === '' ? {} : { refresh: { refresh_token: refreshToken } }),
  };
}

function toRefresh(refreshToken: string, fields: FormData) {
  const clientSecret = secretOf(fields, 'client_secret');
  return {
    client_id: textOf(fields, 'client_id') ?? '',
    refresh_token: refreshToken,
    token_endpoint: textOf(fields, 'token_endpoint') ?? '',
    token_endpoint_auth:
      clientSecret === ''
        ? { type: 'none' as const }
        : { type: 'client_secret_basic' as const, client_secret: clientSecret },
  };
}

/** The expiry as an ISO time. The field contains a local time. */
function toExpiry(fields: FormData): string | undefined {
  const text = textOf(fields, 'expires');
  return text === undefined ? undefined : new Date(text).toISOString();
}
