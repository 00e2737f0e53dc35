import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '@fleetloom/protocol/managed-agents';
import { writeAgentFile } from './write-agent-file.ts';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { writeText } from '../base/write-text.ts';

export interface ShowAgentOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom agents show`: prints one agent as a definition file, or as the API object. */
export async function showAgent(io: Io, wanted: string, options: ShowAgentOptions): Promise<number> {
  const agents = await readAll(createServerApi(toConnection(io.env, options)));
  const agent = find(agents, wanted);
  const text = options.json === true ? `${toJsonText(io.stdout, agent)}\n` : writeAgentFile(agent, namesOf(agents));
  // A pipe gets the exact text, so that `agents apply` reads back the same definition.
  await writeText(io.stdout, io.stdout.isTTY === true ? cleanText(text) : text);
  return exitCode.ok;
}

/** `fleetloom agents export`: writes all or the named agents as definition files that `agents apply` reads. */
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
  const fix = '"fleetloom agents list" lists the agents.';
  throw new CommandError(exitCode.notFound, `There is no agent "${wanted}".`, fix);
}

/** Agent names are not unique on a server, file names are. `agents apply` also updates the newest. */
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

/** A name may contain any character, a file name may not. The file itself contains the name. */
function toFileName(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').replace(/^[.-]+/, '');
  return plain === '' ? 'agent' : plain;
}
