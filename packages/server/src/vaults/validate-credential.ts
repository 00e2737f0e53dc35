import type { CapturedResponse, VaultCredentialValidation } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Connections } from '../base/outgoing-http.ts';
import { isObject, type JsonObject } from '../base/json/json.ts';
import type { Auditor } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { captureResponse } from './capture-response.ts';
import { readCredential, toDetails } from './credentials.ts';
import { vaultLimits } from './limits.ts';
import { parseJson } from './parse-json.ts';
import type { SecretBox } from './secret-box.ts';
import type { CredentialPath } from './stored.ts';
import { type ReceivedResponse, sendRequest } from './send-request.ts';
import type { Refreshed, TokenRefresher } from './token-refresher.ts';
import { invalidField, vaultError } from './vault-errors.ts';

export interface ValidateOptions {
  readonly store: Pick<Store, 'documents' | 'audit'>;
  readonly secrets: SecretBox;
  readonly refresher: TokenRefresher;
  readonly connections: Connections;
  readonly rules: AddressRules;
  readonly clock: Pick<Clock, 'now'>;
}

/** Checks whether the MCP server of a credential accepts its token. After a 401 the check is repeated once with a renewed token. */
export async function validateCredential(
  options: ValidateOptions,
  path: CredentialPath,
  audit?: Auditor,
): Promise<VaultCredentialValidation> {
  const { store, secrets: box, refresher, clock } = options;
  const { id, data } = await readCredential(store.documents, path);
  const { auth } = data;
  if (auth.type !== 'mcp_oauth') {
    throw invalidField(
      'auth.type',
      `${id} has the type ${auth.type}`,
      'only credentials of the type mcp_oauth can be validated',
    );
  }
  if (data.archivedAt !== null) throw vaultError('credential_archived', `${id} is archived`);
  const { access_token: token = '', refresh_token: refreshToken } = (await box.read(path))?.secrets ?? {};
  // Written before the token is sent, so that a crash cannot leave a sent token without an audit entry.
  if (audit !== undefined) await store.audit.append([audit('vault_credential.validated', id, toDetails(data))]);
  const probe = async (accessToken: string) =>
    await probeServer(options, auth.mcp_server_url, accessToken, [token, refreshToken]);
  const first = await probe(token);
  const about = { id, vaultId: data.vaultId, hasRefreshToken: refreshToken !== undefined, now: clock.now() };
  if (first?.status !== 401) return toValidation(about, first, null);
  if (refreshToken === undefined) {
    return toValidation(about, first, { status: 'no_refresh_token', http_response: null });
  }
  const refreshed = await refresher.refresh(path, token, 'asked');
  if (refreshed.type !== 'succeeded') return toValidation(about, first, toRefresh(refreshed), toVerdict(refreshed));
  return toValidation(about, await probe(refreshed.accessToken), { status: 'succeeded', http_response: null });
}

/** The step of a validation that failed. Status 0: there was no response. */
interface FailedProbe {
  readonly method: string;
  readonly status: number;
  readonly response: CapturedResponse | null;
}

type Verdict = VaultCredentialValidation['status'];
type RefreshReport = NonNullable<VaultCredentialValidation['refresh']>;

async function probeServer(
  { connections, rules }: Pick<ValidateOptions, 'connections' | 'rules'>,
  url: string,
  token: string,
  secrets: readonly (string | undefined)[],
): Promise<FailedProbe | undefined> {
  let sessionId: string | undefined;
  const ask = async (method: string, message: object) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...(method === 'initialize' ? {} : { 'mcp-protocol-version': PROTOCOL_VERSION }),
      ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    };
    const request = { url, method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', method, ...message }) };
    const { probeMs: withinMs, probeResponseBytesMax: bytesMax } = vaultLimits;
    return await sendRequest(connections, request, rules, { withinMs, bytesMax, isLast: isResponse });
  };
  const fail = (method: string, answer: ReceivedResponse | undefined): FailedProbe => ({
    method,
    status: answer?.status ?? 0,
    response: answer === undefined ? null : captureResponse(answer, [...secrets, token]),
  });
  const initialized = await ask('initialize', { id: 1, params: INITIALIZE });
  if (!isSuccess(initialized)) return fail('initialize', initialized);
  const session = initialized.headers['mcp-session-id'];
  sessionId = typeof session === 'string' ? session : undefined;
  await ask('notifications/initialized', {});
  const listed = await ask('tools/list', { id: 2, params: {} });
  if (sessionId !== undefined) {
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': sessionId };
    const { probeMs: withinMs, probeResponseBytesMax: bytesMax } = vaultLimits;
    await sendRequest(connections, { url, method: 'DELETE', headers }, rules, { withinMs, bytesMax });
  }
  return isSuccess(listed) ? undefined : fail('tools/list', listed);
}

const PROTOCOL_VERSION = '2025-06-18';
const INITIALIZE = {
  protocolVersion: PROTOCOL_VERSION,
  capabilities: {},
  clientInfo: { name: 'fleetloom', version: '0.1.0' },
};

function isSuccess(answer: ReceivedResponse | undefined): answer is ReceivedResponse {
  if (answer === undefined || answer.status < 200 || answer.status > 299) return false;
  return messageOf(answer.body)?.['result'] !== undefined;
}

function isResponse(line: string): boolean {
  return toEventMessage(line) !== undefined;
}

/** The response of JSON-RPC in a body, which is JSON or an event stream. */
function messageOf(body: string): JsonObject | undefined {
  const whole = parseJson(body);
  if (isObject(whole)) return whole;
  for (const line of body.split('\n')) {
    const message = toEventMessage(line);
    if (message !== undefined) return message;
  }
  return undefined;
}

function toEventMessage(line: string): JsonObject | undefined {
  const event = line.startsWith('data:') ? parseJson(line.slice('data:'.length)) : undefined;
  return isObject(event) && event['id'] !== undefined && event['method'] === undefined ? event : undefined;
}

function toValidation(
  about: { readonly id: string; readonly vaultId: string; readonly hasRefreshToken: boolean; readonly now: number },
  failed: FailedProbe | undefined,
  refresh: RefreshReport | null,
  verdict: Verdict = toProbeVerdict(failed),
): VaultCredentialValidation {
  return {
    type: 'vault_credential_validation',
    credential_id: about.id,
    vault_id: about.vaultId,
    status: verdict,
    has_refresh_token: about.hasRefreshToken,
    mcp_probe: failed === undefined ? null : { method: failed.method, http_response: failed.response },
    refresh,
    validated_at: new Date(about.now).toISOString(),
  };
}

function toProbeVerdict(failed: FailedProbe | undefined): Verdict {
  if (failed === undefined) return 'valid';
  return failed.status >= 400 && failed.status < 500 && failed.status !== 429 ? 'invalid' : 'unknown';
}

type Failed = Exclude<Refreshed, { type: 'succeeded' }>;

function toRefresh(refreshed: Failed): RefreshReport {
  if (refreshed.type === 'no_refresh_token') return { status: 'no_refresh_token', http_response: null };
  if (refreshed.type === 'refused' || refreshed.type === 'failed') {
    return { status: 'failed', http_response: refreshed.response };
  }
  return { status: 'connect_error', http_response: null };
}

function toVerdict({ type }: Failed): Verdict {
  return type === 'refused' || type === 'no_refresh_token' ? 'invalid' : 'unknown';
}
