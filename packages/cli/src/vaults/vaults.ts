import type { Vault } from '@fleetloom/protocol/managed-agents';
import { cleanLine, formatAge } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { toPasted } from '../base/to-pasted.ts';
import { writeText } from '../base/write-text.ts';
import type { ConnectionOptions } from '../connection/connection.ts';
import { printTable } from '../terminal/print-table.ts';
import { openApi, toPath } from './open-api.ts';

/** Options of `vaults list` and `credentials list`. */
export interface ListOptions extends ConnectionOptions {
  json?: boolean;
  archived?: boolean;
}

/** `fleetloom vaults list`. */
export async function listVaults(io: Io, options: ListOptions): Promise<number> {
  const api = openApi(io, options);
  const rows: string[][] = [];
  const query = { limit: 100, ...(options.archived === true ? { include_archived: 'true' } : {}) };
  for await (const vault of api.list<Vault>('/v1/vaults', query)) {
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, vault)}\n`);
    const { id, display_name: name, created_at: at, archived_at: archived } = vault;
    const age = formatAge(api.clock.toServerTime(io.timers.now()) - Date.parse(at));
    rows.push([id, cleanLine(name), archived === null ? 'active' : 'archived', age]);
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length > 0) await printTable(io, ['VAULT', 'NAME', 'STATE', 'AGE'], rows);
  else io.stderr.write(toPasted(io, 'There are no vaults. Create one with "fleetloom vaults create <name>".\n'));
  return exitCode.ok;
}

/** `fleetloom vaults create`. */
export async function createVault(io: Io, name: string, options: ConnectionOptions): Promise<number> {
  const { id } = await openApi(io, options).post<Vault>('/v1/vaults', { display_name: name });
  await writeText(io.stdout, `${id}\n`);
  return exitCode.ok;
}

/** `fleetloom vaults archive`. */
export async function archiveVaults(io: Io, ids: readonly string[], options: ConnectionOptions): Promise<number> {
  const api = openApi(io, options);
  for (const id of ids) {
    await api.post(`${toPath(id)}/archive`, {});
    await writeText(io.stdout, `${id}\n`);
  }
  return exitCode.ok;
}

/** `fleetloom vaults delete`. */
export async function deleteVaults(io: Io, ids: readonly string[], options: ConnectionOptions): Promise<number> {
  const api = openApi(io, options);
  for (const id of ids) {
    await api.open(toPath(id), { method: 'DELETE', signal: AbortSignal.timeout(limits.callMs) });
    await writeText(io.stdout, `${id}\n`);
  }
  return exitCode.ok;
}
