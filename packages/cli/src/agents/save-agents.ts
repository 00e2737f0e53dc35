import type { Agent, AgentCreateParams } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';
import { UsageError } from '../usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { mustAskFirst, withAskFirst } from './ask-first.ts';

/**
 * Makes the agents of a directory known to the server, and gives the id of the one that coordinates. One that is there
 * under its name is brought up to date; one that has not changed stays at its version, so that doing it again changes
 * nothing (SPEC Y11). Only the coordinator gets a roster: a roster cannot name who has one, and within a run the others
 * may delegate to the same agents anyway.
 */
export async function saveAgents(
  api: ServerApi,
  agents: readonly AgentFile[],
  coordinator: AgentFile,
  defaultModel: string,
): Promise<string> {
  const members = membersOf(coordinator, agents);
  const known = await listKnown(api);
  const isAsking = await mustAskFirst(api, agents, defaultModel);
  const save = async (agent: AgentFile, roster: readonly string[]): Promise<string> => {
    const before = known.get(agent.name);
    const path = before === undefined ? '/v1/agents' : `/v1/agents/${before}`;
    const saved = isAsking ? withAskFirst(agent, defaultModel) : agent;
    return (await api.post<Agent>(path, toParams(saved, roster, defaultModel))).id;
  };
  const ids = new Map<AgentFile, string>();
  for (const agent of agents) if (agent !== coordinator) ids.set(agent, await save(agent, []));
  return await save(
    coordinator,
    members.flatMap((member) => ids.get(member) ?? []),
  );
}

/** An agent as the server has it now. */
export interface SavedAgent {
  readonly agent: AgentFile;
  readonly id: string;
  readonly version: number;
}

/**
 * The same for a directory from which nobody is given a task: whoever coordinates gets a roster, of those who do not.
 */
export async function saveAllAgents(
  api: ServerApi,
  agents: readonly AgentFile[],
  defaultModel: string,
): Promise<readonly SavedAgent[]> {
  const known = await listKnown(api);
  const isAsking = await mustAskFirst(api, agents, defaultModel);
  const saved = new Map<AgentFile, SavedAgent>();
  // Whom a roster names has to be there before.
  const ordered = [
    ...agents.filter(({ members }) => members === null),
    ...agents.filter(({ members }) => members !== null),
  ];
  for (const agent of ordered) {
    const roster = membersOf(agent, agents).filter(({ members }) => members === null);
    const before = known.get(agent.name);
    const path = before === undefined ? '/v1/agents' : `/v1/agents/${before}`;
    const ids = roster.flatMap((member) => saved.get(member)?.id ?? []);
    const asking = isAsking ? withAskFirst(agent, defaultModel) : agent;
    const { id, version } = await api.post<Agent>(path, toParams(asking, ids, defaultModel));
    saved.set(agent, { agent, id, version });
  }
  return agents.flatMap((agent) => saved.get(agent) ?? []);
}

/** The newest of each name. */
async function listKnown(api: ServerApi): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, Agent>();
  for await (const agent of api.list<Agent>('/v1/agents', { limit: 100 })) {
    const other = known.get(agent.name);
    if (other === undefined || other.created_at < agent.created_at) known.set(agent.name, agent);
  }
  return new Map(Array.from(known, ([name, { id }]) => [name, id]));
}

/** Whom it may delegate to. That it may delegate to its like, its own name in the list does not say. */
function membersOf({ file, members, name }: AgentFile, agents: readonly AgentFile[]): readonly AgentFile[] {
  if (members === null) return [];
  if (members === 'everybody') return agents.filter((each) => each.name !== name);
  return members.map((member) => {
    const found = agents.find((each) => each.name === member);
    if (found !== undefined) return found;
    const fix = `Define it, or take it out. There are: ${agents.map((each) => each.name).join(', ')}.`;
    throw new UsageError(`${file} names the agent "${member}", which is not in the directory.`, fix);
  });
}

/** An agent of a file as the wire takes it. */
export function toParams(agent: AgentFile, roster: readonly string[], defaultModel: string): AgentCreateParams {
  return {
    name: agent.name,
    description: agent.description ?? '',
    system: agent.system ?? '',
    model: agent.model ?? defaultModel,
    tools: agent.tools,
    multiagent: roster.length === 0 ? null : { type: 'coordinator', agents: roster },
    mcp_servers: [],
    skills: [],
    ...agent.others,
  };
}
