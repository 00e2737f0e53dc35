import type { Agent } from '@fleetloom/protocol/managed-agents';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { toJsonText } from '../json-text.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../write-text.ts';

export interface ListAgentsOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom agents list`: the agents of the server, each in its newest version. */
export async function listAgents(io: Io, options: ListAgentsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const rows: string[][] = [];
  for await (const agent of api.list<Agent>('/v1/agents', { limit: 100 })) {
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, agent)}\n`);
    else rows.push([agent.id, agent.name, String(agent.version), agent.model.id, agent.description ?? '']);
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length === 0) io.stderr.write('There are no agents. "fleetloom agents apply <directory>" makes some.\n');
  else await printTable(io, ['AGENT', 'NAME', 'VERSION', 'MODEL', 'DESCRIPTION'], rows);
  return exitCode.ok;
}
