import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '@fleetloom/protocol/managed-agents';
import { writeAgentFile } from '../agents/write-agent-file.ts';
import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { toJsonText } from '../json-text.ts';
import { cleanInput } from '../terminal/clean-text.ts';
import { writeText } from '../write-text.ts';

export interface ShowAgentOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom agents show`: one agent as a definition that can be applied, or as the API has it. */
export async function showAgent(io: Io, wanted: string, options: ShowAgentOptions): Promise<number> {
  const agents = await readAll(createServerApi(toConnection(io.env, options)));
  const agent = find(agents, wanted);
  const text = options.json === true ? `${toJsonText(io.stdout, agent)}\n` : writeAgentFile(agent, namesOf(agents));
  // Into a pipe it goes as it is, so that `apply` reads the same definition back.
  await writeText(io.stdout, io.stdout.isTTY === true ? cleanInput(text) : text);
  return exitCode.ok;
}

/** `fleetloom agents export`: definitions as files, all of them or those that are named. `apply` reads them back. */
export async function exportAgents(
  io: Io,
  directory: string,
  wanted: readonly string[],
  options: ConnectionOptions,
): Promise<number> {
  const agents = await readAll(createServerApi(toConnection(io.env, options)));
  const chosen = wanted.length === 0 ? newestOfEachName(agents) : wanted.map((each) => find(agents, each));
  await mkdir(directory, { recursive: true });
  for (const agent of chosen) {
    const file = join(directory, `${toFileName(agent.name)}.yaml`);
    await writeFile(file, writeAgentFile(agent, namesOf(agents)));
    await writeText(io.stdout, `${file}\n`);
  }
  return exitCode.ok;
}

async function readAll(api: ServerApi): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  for await (const agent of api.list<Agent>('/v1/agents', { limit: 100 })) agents.push(agent);
  return agents;
}

function find(agents: readonly Agent[], wanted: string): Agent {
  const found = agents.find(({ id }) => id === wanted) ?? newestOfEachName(agents).find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const fix = '"fleetloom agents list" shows which there are.';
  throw new CommandError(exitCode.notFound, `There is no agent "${wanted}".`, fix);
}

/** Names are not unique on a server, and files are. `apply` looks for the newest, too. */
function newestOfEachName(agents: readonly Agent[]): readonly Agent[] {
  const newest = new Map<string, Agent>();
  for (const agent of agents) {
    const other = newest.get(agent.name);
    if (other === undefined || other.created_at < agent.created_at) newest.set(agent.name, agent);
  }
  return [...newest.values()];
}

function namesOf(agents: readonly Agent[]): (id: string) => string {
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

/** A name may hold anything; a file may not. The definition itself says the name. */
function toFileName(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').replace(/^[.-]+/, '');
  return plain === '' ? 'agent' : plain;
}
