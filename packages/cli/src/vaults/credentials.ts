import type {
  CredentialAuth,
  CredentialAuthParams,
  CredentialAuthUpdate,
  VaultCredential,
  VaultCredentialValidation,
} from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { toPasted } from '../base/to-pasted.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import type { ConnectionOptions } from '../connection/connection.ts';
import { printTable } from '../terminal/print-table.ts';
import { openApi, toPath } from './open-api.ts';
import { readSecret } from './read-secret.ts';
import type { ListOptions } from './vaults.ts';

/** Options of `credentials add`. */
export interface AddOptions extends ConnectionOptions {
  mcpUrl?: string;
  oauth?: boolean;
  expires?: string;
  variable?: string;
  host?: string[];
  name?: string;
}

/** `fleetloom credentials list`. */
export async function listCredentials(io: Io, vault: string, options: ListOptions): Promise<number> {
  const api = openApi(io, options);
  const rows: string[][] = [];
  const query = { limit: 100, ...(options.archived === true ? { include_archived: 'true' } : {}) };
  for await (const credential of api.list<VaultCredential>(`${toPath(vault)}/credentials`, query)) {
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, credential)}\n`);
    const { id, display_name: name, auth, archived_at: archived } = credential;
    const state = archived === null ? 'active' : 'archived';
    rows.push([id, auth.type, cleanLine(toTarget(auth)), cleanLine(name ?? ''), state]);
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length > 0) await printTable(io, ['CREDENTIAL', 'TYPE', 'FOR', 'NAME', 'STATE'], rows);
  else io.stderr.write(toPasted(io, 'There are no credentials. Add one with "fleetloom credentials add <vault>".\n'));
  return exitCode.ok;
}

/** `fleetloom credentials add`. The secret is read after the options were checked. */
export async function addCredential(io: Io, vault: string, options: AddOptions): Promise<number> {
  const toAuth = toAuthParams(options);
  const api = openApi(io, options);
  const secret = await readSecret(io, 'Secret (not shown)');
  const { name } = options;
  const body = { auth: toAuth(secret), ...(name === undefined ? {} : { display_name: name }) };
  const { id } = await api.post<VaultCredential>(`${toPath(vault)}/credentials`, body);
  await writeText(io.stdout, `${id}\n`);
  return exitCode.ok;
}

/** `fleetloom credentials rotate`: replaces the token, access token or value. */
export async function rotateCredential(
  io: Io,
  vault: string,
  credential: string,
  options: ConnectionOptions & { expires?: string },
): Promise<number> {
  const api = openApi(io, options);
  const path = toPath(vault, credential);
  const { auth } = await api.get<VaultCredential>(path);
  const secret = await readSecret(io, `New secret for ${cleanLine(toTarget(auth))} (not shown)`);
  await api.post(path, { auth: toUpdate(auth.type, secret, options.expires) });
  await writeText(io.stdout, `${credential}\n`);
  return exitCode.ok;
}

/** `fleetloom credentials validate`: exits with 1 unless the MCP server accepts the token. */
export async function validateCredential(
  io: Io,
  vault: string,
  credential: string,
  options: ConnectionOptions & { json?: boolean },
): Promise<number> {
  const path = `${toPath(vault, credential)}/mcp_oauth_validate`;
  const validation = await openApi(io, options).post<VaultCredentialValidation>(path, {});
  const text = options.json === true ? toJsonText(io.stdout, validation) : describe(validation);
  await writeText(io.stdout, `${text}\n`);
  return validation.status === 'valid' ? exitCode.ok : exitCode.failed;
}

/** `fleetloom credentials archive`. */
export async function archiveCredentials(
  io: Io,
  vault: string,
  ids: readonly string[],
  options: ConnectionOptions,
): Promise<number> {
  const api = openApi(io, options);
  for (const id of ids) {
    await api.post(`${toPath(vault, id)}/archive`, {});
    await writeText(io.stdout, `${id}\n`);
  }
  return exitCode.ok;
}

function toTarget(auth: CredentialAuth): string {
  if (auth.type !== 'environment_variable') return auth.mcp_server_url;
  const { secret_name: name, networking } = auth;
  return `${name} to ${networking.type === 'limited' ? networking.allowed_hosts.join(', ') : 'every host'}`;
}

function toAuthParams(options: AddOptions): (secret: string) => CredentialAuthParams {
  const { mcpUrl, oauth = false, expires, variable, host: hosts } = options;
  if ((mcpUrl === undefined) === (variable === undefined)) {
    const fix = 'Pass --mcp-url with the URL of the server, or --variable with a name.';
    throw new UsageError('A credential is for one MCP server or one variable.', fix);
  }
  if (variable !== undefined) {
    if (oauth || expires !== undefined)
      throw new UsageError('--oauth and --expires need --mcp-url.', 'Leave them out.');
    const networking =
      hosts === undefined ? ({ type: 'unrestricted' } as const) : ({ type: 'limited', allowed_hosts: hosts } as const);
    return (secret) => ({ type: 'environment_variable', secret_name: variable, secret_value: secret, networking });
  }
  if (hosts !== undefined) throw new UsageError('--host needs --variable.', 'Leave it out.');
  if (!oauth && expires !== undefined) throw new UsageError('--expires needs --oauth.', 'Pass --oauth as well.');
  const expiry = expires === undefined ? {} : { expires_at: expires };
  return (secret) =>
    oauth
      ? { type: 'mcp_oauth', mcp_server_url: mcpUrl!, access_token: secret, ...expiry }
      : { type: 'static_bearer', mcp_server_url: mcpUrl!, token: secret };
}

function toUpdate(type: CredentialAuth['type'], secret: string, expires: string | undefined): CredentialAuthUpdate {
  if (type === 'mcp_oauth') {
    return { type, access_token: secret, ...(expires === undefined ? {} : { expires_at: expires }) };
  }
  if (expires !== undefined) throw new UsageError('Only OAuth credentials expire.', 'Leave --expires out.');
  return type === 'static_bearer' ? { type, token: secret } : { type, secret_value: secret };
}

function describe({ status, mcp_probe: probe, refresh }: VaultCredentialValidation): string {
  const answer = probe?.http_response;
  const reason = answer == null ? 'no response' : `status ${answer.status_code} ${cleanLine(answer.body)}`;
  return [
    status,
    ...(probe === null ? [] : [`  ${probe.method}: ${reason}`]),
    ...(refresh === null ? [] : [`  refresh: ${refresh.status}${toStatus(refresh.http_response)}`]),
  ].join('\n');
}

function toStatus(answer: { readonly status_code: number } | null): string {
  return answer === null ? '' : `, status ${answer.status_code}`;
}
