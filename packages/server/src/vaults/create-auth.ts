import type { CredentialAuth, CredentialAuthParams, CredentialNetworking } from '@fleetloom/protocol/managed-agents';
import { vaultLimits } from './limits.ts';
import { toServerKey } from './server-key.ts';
import type { Secrets } from './stored.ts';
import { invalidField } from './vault-errors.ts';

/** A checked `auth`, split into the visible fields, the secrets to seal, and the key that is unique in its vault. */
export interface CheckedAuth {
  readonly auth: CredentialAuth;
  readonly secrets: Secrets;
  readonly key: string;
}

/** Checks the `auth` of a new credential. Throws if it cannot be used. */
export function createAuth(params: CredentialAuthParams, now: number): CheckedAuth {
  if (params.type === 'environment_variable') return createVariable(params);
  const { mcp_server_url: url } = params;
  checkUrl('auth.mcp_server_url', url);
  // `checkUrl` has ensured that this is a URL of a server.
  const key = toServerKey(url)!;
  if (params.type === 'static_bearer') {
    const secrets = { token: checkSecret('auth.token', params.token) };
    return { auth: { type: 'static_bearer', mcp_server_url: url }, secrets, key };
  }
  const { access_token: token, expires_at: expires, refresh = null } = params;
  const secrets = { access_token: checkSecret('auth.access_token', token), ...toRefreshSecrets(refresh) };
  const auth = {
    type: 'mcp_oauth' as const,
    mcp_server_url: url,
    ...(expires == null ? {} : { expires_at: checkExpiry(expires, now) }),
    refresh: toRefresh(refresh),
  };
  return { auth, secrets, key };
}

type VariableParams = Extract<CredentialAuthParams, { type: 'environment_variable' }>;
type RefreshParams = Extract<CredentialAuthParams, { type: 'mcp_oauth' }>['refresh'];

function createVariable(params: VariableParams): CheckedAuth {
  const { secret_name: name, secret_value: value, networking, injection_location: location } = params;
  checkVariableName(name);
  const auth = {
    type: 'environment_variable' as const,
    secret_name: name,
    networking: checkNetworking(networking),
    injection_location: checkLocation(
      location === undefined
        ? { header: true, body: true }
        : { header: location.header ?? false, body: location.body ?? false },
    ),
  };
  return { auth, secrets: { secret_value: checkSecret('auth.secret_value', value) }, key: `name:${name}` };
}

function toRefresh(refresh: RefreshParams) {
  if (refresh == null) return null;
  const {
    client_id,
    token_endpoint,
    token_endpoint_auth: { type },
    resource = null,
    scope = null,
  } = refresh;
  checkUrl('auth.refresh.token_endpoint', token_endpoint);
  return { client_id, token_endpoint, token_endpoint_auth: { type }, resource, scope: scope === '' ? null : scope };
}

function toRefreshSecrets(refresh: RefreshParams): Secrets {
  if (refresh == null) return {};
  const { refresh_token: token, token_endpoint_auth: auth } = refresh;
  return {
    refresh_token: checkSecret('auth.refresh.refresh_token', token),
    ...(auth.type === 'none'
      ? {}
      : { client_secret: checkSecret('auth.refresh.token_endpoint_auth.client_secret', auth.client_secret) }),
  };
}

/** Throws if the text cannot be used in a header or a variable. Error messages do not contain the text. */
export function checkSecret(field: string, secret: string): string {
  if (secret === '') throw invalidField(field, 'is empty', 'send the secret, or leave the field out');
  const bytes = Buffer.byteLength(secret);
  if (bytes > vaultLimits.secretBytesMax) {
    throw invalidField(field, `has ${bytes} bytes`, `send at most ${vaultLimits.secretBytesMax}`);
  }
  // oxlint-disable-next-line no-control-regex -- the characters to reject
  if (!/[\0\r\n]/.test(secret)) return secret;
  throw invalidField(field, 'has a line break or a NUL character', 'send the secret without the line break at its end');
}

/** Throws unless the expiry is in the future. */
export function checkExpiry(expires: string, now: number): string {
  const at = Date.parse(expires);
  if (at > now) return new Date(at).toISOString();
  throw invalidField('auth.expires_at', `${expires} is in the past`, 'send a new access token with its expiry');
}

/** Throws if neither headers nor bodies are allowed, because the secret could not be used. */
export function checkLocation(location: { readonly header: boolean; readonly body: boolean }) {
  if (location.header || location.body) return location;
  throw invalidField('auth.injection_location', 'allows neither headers nor bodies', 'set header or body to true');
}

/** Throws if a host is not a plain name, an IPv4 address or a wildcard. */
export function checkNetworking(networking: CredentialNetworking): CredentialNetworking {
  if (networking.type === 'unrestricted') return networking;
  const invalid = networking.allowed_hosts.find((host) => !isHost(host));
  if (invalid === undefined) return networking;
  const advice = 'use names such as api.example.com or *.example.com, or IPv4 addresses, without scheme, port or path';
  throw invalidField('auth.networking.allowed_hosts', `${invalid} is not a host`, advice);
}

function isHost(host: string): boolean {
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (name.length > vaultLimits.hostCharsMax) return false;
  const labels = name.split('.');
  if (!labels.every((label) => LABEL.test(label))) return false;
  // A last label of digits means an IPv4 address, which has exactly four parts and no wildcard.
  if (!/^\d+$/.test(labels.at(-1)!)) return true;
  return (
    name === host && labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label) && Number(label) <= 255)
  );
}

const LABEL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?$/u;

/** Throws if the text is not a URL of a server. */
export function checkUrl(field: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isServer = parsed !== undefined && /^https?:$/.test(parsed.protocol);
  if (!isServer) throw invalidField(field, 'is not a URL of a server', 'use a URL with https:');
  if (parsed.username === '' && parsed.password === '') return;
  throw invalidField(field, 'has a user name or password', 'leave them out of the URL');
}

/** Throws for names that would break shells and programs or change their behaviour. */
function checkVariableName(name: string): void {
  const isName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
  const isTaken = RESERVED.has(name) || /^(?:LD|DYLD|GIT|SSL)_/.test(name) || name.toUpperCase().endsWith('_PROXY');
  if (isName && !isTaken) return;
  const problem = isName ? `${name} has a meaning for shells and programs` : 'is not the name of a variable';
  throw invalidField('auth.secret_name', problem, 'use a name of your own, of letters, digits and _');
}

const RESERVED = new Set([
  'PATH',
  'HOME',
  'SHELL',
  'USER',
  'PWD',
  'IFS',
  'ENV',
  'BASH_ENV',
  'NODE_OPTIONS',
  'PYTHONPATH',
]);
