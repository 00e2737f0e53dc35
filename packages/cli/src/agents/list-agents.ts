import type { Agent } from '@fleetloom/protocol/managed-agents';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../base/write-text.ts';
import { toPasted } from '../base/to-pasted.ts';

export interface ListAgentsOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom agents list`: lists the agents of the server, each in its newest version. */
export async function listAgents(io: Io, options: ListAgentsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const rows: string[][] = [];
  for await (const agent of api.list<Agent>('/v1/agents', { limit: 100 })) {
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, agent)}\n`);
    else rows.push([agent.id, agent.name, String(agent.version), agent.model.id, agent.description ?? '']);
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length === 0)
    io.stderr.write(toPasted(io, 'There are no agents. Create some with "fleetloom agents apply <directory>".\n'));
  else await printTable(io, ['AGENT', 'NAME', 'VERSION', 'MODEL', 'DESCRIPTION'], rows);
  return exitCode.ok;
}
