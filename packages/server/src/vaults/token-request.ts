import type { CapturedResponse } from '@fleetloom/protocol/managed-agents';
import type { Connections } from '../base/outgoing-http.ts';
import { isObject } from '../base/json/json.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { captureResponse } from './capture-response.ts';
import { parseJson } from './parse-json.ts';
import { sendRequest } from './send-request.ts';
import { vaultLimits } from './limits.ts';

/** How a client authenticates at a token endpoint. */
export type ClientAuthentication =
  | { readonly type: 'none' }
  | { readonly type: 'client_secret_basic' | 'client_secret_post'; readonly clientSecret: string };

/** A request for an access token. */
export interface TokenRequest {
  readonly endpoint: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  /** The fields of the grant. Null and undefined fields are not sent. */
  readonly fields: Readonly<Record<string, string | null | undefined>>;
}

/** The response of a token endpoint. `refused`: the grant is not valid any more. `failed`: a later request may succeed. */
export type TokenAnswer =
  | { readonly type: 'tokens'; readonly tokens: Tokens }
  | { readonly type: 'refused' | 'failed'; readonly response: CapturedResponse }
  | { readonly type: 'unreachable' };

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
}

/** Sends a token request (RFC 6749). Redirects are not followed. No response of the endpoint makes it throw. */
export async function requestTokens(
  connections: Connections,
  { endpoint, clientId, authentication, fields }: TokenRequest,
  rules: AddressRules,
): Promise<TokenAnswer> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value != null) form.set(name, value);
  if (authentication.type !== 'client_secret_basic') form.set('client_id', clientId);
  if (authentication.type === 'client_secret_post') form.set('client_secret', authentication.clientSecret);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    ...(authentication.type === 'client_secret_basic'
      ? { authorization: toBasic(clientId, authentication.clientSecret) }
      : {}),
  };
  const { tokenEndpointMs: withinMs, tokenResponseBytesMax: bytesMax } = vaultLimits;
  const request = { url: endpoint, method: 'POST', headers, body: form.toString() };
  const answer = await sendRequest(connections, request, rules, { withinMs, bytesMax });
  if (answer === undefined) return { type: 'unreachable' };
  const tokens = answer.status === 200 ? toTokens(answer.body) : undefined;
  if (tokens !== undefined) return { type: 'tokens', tokens };
  const sent = SECRET_FIELDS.map((name) => form.get(name) ?? undefined);
  const secrets = [...sent, ...secretsOf(authentication), headers.authorization, ...tokensIn(answer.body)];
  const response = captureResponse({ ...answer, body: withoutTokens(answer.body) }, secrets);
  const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
  return { type: isRefused ? 'refused' : 'failed', response };
}

/** The value of a Basic `authorization` header. Both parts are form-encoded before they are joined (RFC 6749, 2.3.1). */
function toBasic(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`;
}

function secretsOf(authentication: ClientAuthentication): readonly string[] {
  return authentication.type === 'none' ? [] : [authentication.clientSecret];
}

/** The tokens in an unusable response, which are secrets nevertheless. */
function tokensIn(body: string): readonly string[] {
  const parsed = parseJson(body);
  if (!isObject(parsed)) return [];
  return ['access_token', 'refresh_token', 'id_token'].flatMap((name) => {
    const value = parsed[name];
    return typeof value === 'string' ? [value] : [];
  });
}

/** Redacts tokens in a body, including nested, form-encoded and truncated ones. */
function withoutTokens(body: string): string {
  return body.replace(JSON_TOKEN, '$1[redacted]').replace(FORM_TOKEN, '$1[redacted]');
}

const JSON_TOKEN = /((?:access|refresh|id)_?token"\s*:\s*")[^"]+/gi;
const FORM_TOKEN = /((?:access|refresh|id)_?token=)[^&\s"]+/gi;

function toTokens(body: string): Tokens | undefined {
  const parsed = parseJson(body);
  if (!isObject(parsed)) return undefined;
  const { access_token: access, refresh_token: refresh, expires_in: expires } = parsed;
  if (typeof access !== 'string' || !isUsable(access)) return undefined;
  const seconds = typeof expires === 'string' ? Number(expires) : expires;
  return {
    accessToken: access,
    refreshToken: typeof refresh === 'string' && isUsable(refresh) ? refresh : undefined,
    expiresInSeconds: typeof seconds === 'number' && seconds >= 0 && seconds < SECONDS_MAX ? seconds : undefined,
  };
}

function isUsable(token: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  return token !== '' && Buffer.byteLength(token) <= vaultLimits.secretBytesMax && !/[\0\r\n]/.test(token);
}

const SECRET_FIELDS = ['refresh_token', 'code', 'code_verifier'];

/** About a hundred years. A longer lifetime of a token is ignored. */
const SECONDS_MAX = 100 * 366 * 24 * 60 * 60;
