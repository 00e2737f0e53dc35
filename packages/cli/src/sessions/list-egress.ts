import { cleanLine, formatBytes } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { toPasted } from '../base/to-pasted.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { printTable } from '../terminal/print-table.ts';

/** Options of `fleetloom egress`. */
export interface EgressOptions extends ConnectionOptions {
  json?: boolean;
  refused?: boolean;
}

interface EgressConnection {
  readonly id: string;
  readonly outcome: 'opened' | 'closed' | 'refused' | 'omitted';
  readonly created_at: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly protocol: string | null;
  readonly reason: string | null;
  readonly bytes_sent: number | null;
  readonly bytes_received: number | null;
  readonly credentials: Readonly<Record<string, number>>;
  readonly count: number | null;
}

/** `fleetloom egress`: prints one row for each connection, the newest first. */
export async function listEgress(io: Io, session: string, options: EgressOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const path = `/v1/sessions/${encodeURIComponent(session)}/egress`;
  const closed = new Set<string>();
  const rows: string[][] = [];
  for await (const connection of api.list<EgressConnection>(path, { limit: 1_000 })) {
    if (options.refused === true && connection.outcome !== 'refused') continue;
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, connection)}\n`);
    if (connection.outcome === 'closed') closed.add(connection.id);
    // A closed connection already has a row from its newer `closed` entry.
    if (connection.outcome !== 'opened' || !closed.has(connection.id)) rows.push(toRow(connection));
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length > 0) await printTable(io, ['TIME', 'HOST', 'OUTCOME', 'SENT', 'RECEIVED', 'CREDENTIALS'], rows);
  else io.stderr.write(toPasted(io, 'The commands of this session have made no connections.\n'));
  return exitCode.ok;
}

function toRow(connection: EgressConnection): string[] {
  const { outcome, host, port, protocol, reason, count, bytes_sent: sent, bytes_received: received } = connection;
  const shown = outcome === 'omitted' ? `${count ?? 0} more connections` : `${cleanLine(host ?? '')}:${port ?? ''}`;
  const state = [outcome, protocol === 'tls' ? 'TLS opened' : '', reason ?? '']
    .filter((part) => part !== '')
    .join(', ');
  const bytes = [sent, received].map((each) => (each === null ? '' : formatBytes(each)));
  const used = Object.entries(connection.credentials).map(([id, uses]) => `${cleanLine(id)} ×${uses}`);
  return [connection.created_at, shown, state.replaceAll('_', ' '), ...bytes, used.join(' ')];
}
