import type { FleetLogin } from '@fleetloom/protocol/fleet';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { printTable } from '../terminal/print-table.ts';

/** Options of the sub-commands of `logins`. */
export interface LoginsOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom logins list`: lists the signed-in browsers, newest first. */
export async function listLogins(io: Io, options: LoginsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const { data } = await api.get<{ readonly data: readonly FleetLogin[] }>('/v1/fleet/logins');
  if (options.json === true) await writeText(io.stdout, data.map((login) => `${JSON.stringify(login)}\n`).join(''));
  else if (data.length === 0) io.stderr.write('No browser is signed in.\n');
  else await printTable(io, ['LOGIN', 'KEY OR PERSON', 'ROLE', 'SINCE', 'FROM', 'BROWSER'], data.map(toRow));
  return exitCode.ok;
}

/** `fleetloom logins revoke`: signs browsers out, one after the other. */
export async function revokeLogins(io: Io, ids: readonly string[], options: LoginsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  for (const id of ids) {
    const response = await api.open(`/v1/fleet/logins/${encodeURIComponent(id)}`, { method: 'DELETE' });
    await response.body?.cancel();
    await writeText(io.stdout, `${id}\n`);
  }
  return exitCode.ok;
}

function toRow({ id, key_id: key, person, role, created_at: at, address, user_agent: agent }: FleetLogin) {
  return [
    id,
    person?.email ?? person?.subject ?? key ?? '-',
    role ?? '-',
    at.slice(0, 16),
    address ?? '-',
    agent ?? '-',
  ];
}
