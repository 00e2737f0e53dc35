import type { Agent, AgentCreateParams } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';
import { UsageError } from '../base/usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { findUnsandboxedPrograms, withApproval } from './require-approval.ts';

/**
 * Creates or updates the agents of a directory on the server and returns the id of the coordinator. An agent that exists
 * under the same name is updated; an unchanged agent keeps its version (SPEC Y11). Only the coordinator gets a roster:
 * a roster cannot contain an agent with a roster, and within a run the other agents may delegate to the same agents anyway.
 */
export async function saveAgents(
  api: ServerApi,
  agents: readonly AgentFile[],
  coordinator: AgentFile,
  defaultModel: string,
): Promise<string> {
  const roster = rosterOf(coordinator, agents);
  const known = await listKnown(api);
  const unsandboxed = await findUnsandboxedPrograms(api, agents, defaultModel);
  const save = async (agent: AgentFile, roster: readonly string[]): Promise<string> => {
    const before = known.get(agent.name);
    const path = before === undefined ? '/v1/agents' : `/v1/agents/${before}`;
    const saved = withApproval(agent, defaultModel, unsandboxed);
    return (await api.post<Agent>(path, toParams(saved, roster, defaultModel))).id;
  };
  const ids = new Map<AgentFile, string>();
  for (const agent of agents) if (agent !== coordinator) ids.set(agent, await save(agent, []));
  return await save(
    coordinator,
    roster.flatMap((each) => ids.get(each) ?? []),
  );
}

/** A saved agent with its id and version on the server. */
export interface SavedAgent {
  readonly agent: AgentFile;
  readonly id: string;
  readonly version: number;
}

/**
 * Like saveAgents, without a task: every coordinator gets a roster of the agents that are not coordinators.
 */
export async function saveAllAgents(
  api: ServerApi,
  agents: readonly AgentFile[],
  defaultModel: string,
): Promise<readonly SavedAgent[]> {
  const known = await listKnown(api);
  const unsandboxed = await findUnsandboxedPrograms(api, agents, defaultModel);
  const saved = new Map<AgentFile, SavedAgent>();
  // The agents of a roster must exist before the roster does.
  const ordered = [
    ...agents.filter(({ roster }) => roster === null),
    ...agents.filter(({ roster }) => roster !== null),
  ];
  for (const agent of ordered) {
    const named = rosterOf(agent, agents).filter(({ roster }) => roster === null);
    const before = known.get(agent.name);
    const path = before === undefined ? '/v1/agents' : `/v1/agents/${before}`;
    const ids = named.flatMap((each) => saved.get(each)?.id ?? []);
    const params = withApproval(agent, defaultModel, unsandboxed);
    const { id, version } = await api.post<Agent>(path, toParams(params, ids, defaultModel));
    saved.set(agent, { agent, id, version });
  }
  return agents.flatMap((agent) => saved.get(agent) ?? []);
}

/** Ids by name; of several agents with one name, the newest. */
async function listKnown(api: ServerApi): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, Agent>();
  for await (const agent of api.list<Agent>('/v1/agents', { limit: 100 })) {
    const other = known.get(agent.name);
    if (other === undefined || other.created_at < agent.created_at) known.set(agent.name, agent);
  }
  return new Map(Array.from(known, ([name, { id }]) => [name, id]));
}

/** The agents that an agent may delegate to. `all` does not include the agent itself. */
function rosterOf({ file, roster, name }: AgentFile, agents: readonly AgentFile[]): readonly AgentFile[] {
  if (roster === null) return [];
  if (roster === 'all') return agents.filter((each) => each.name !== name);
  return roster.map((wanted) => {
    const found = agents.find((each) => each.name === wanted);
    if (found !== undefined) return found;
    const fix = `Define it or remove it. Available agents: ${agents.map((each) => each.name).join(', ')}.`;
    throw new UsageError(`${file} lists the agent "${wanted}", which is not in the directory.`, fix);
  });
}

/** The body of `POST /v1/agents` for an agent file. */
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
