import type {
  AgentSnapshot,
  AgentWithOverridesParams,
  RosterMember,
  SessionAgent,
  SessionAgentParams,
  SessionAgentUpdateParams,
  SessionMultiagent,
} from '@fleetloom/protocol/managed-agents';
import { toRoster } from '@fleetloom/protocol/managed-agents';
import { findExcessBytes, jsonBytesAtLeast } from '../base/json/json-bytes.ts';
import { agentLimits } from './limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { Store } from '../store/store.ts';
import { agentError } from './agent-errors.ts';
import { checkTools } from './check-tools.ts';
import { definitionOf, toSnapshot } from './definition.ts';
import { membersOf, type StoredMember, type StoredMultiagent, spellOut } from './multiagent.ts';
import { readAgent } from './read-agent.ts';
import { toModel } from './to-model.ts';
import { toTools } from './to-tools.ts';
import { checkSize, toSkills, toText } from './write-definition.ts';

/** Which agent a session is created with. */
export interface SessionAgentRequest {
  readonly store: Pick<Store, 'agents'>;
  readonly workspaceId: string;
  /** As the creation of a session says it. */
  readonly agent: SessionAgentParams;
}

/** The copy of an agent that a session is created with. Later changes of the agent do not affect the session. */
export async function resolveSessionAgent({ store, workspaceId, agent }: SessionAgentRequest): Promise<SessionAgent> {
  const params = typeof agent === 'string' ? ({ type: 'agent', id: agent } as const) : agent;
  const record = await readAgent(store, workspaceId, params.id, params.version);
  if (record.archivedAt !== null) throw agentError('agent_archived', `${record.id} is archived`);
  const base = toSnapshot(record);
  const own = params.type === 'agent' ? base : override(base, params);
  const { multiagent } = definitionOf(record);
  const members = await readMembers(store, workspaceId, multiagent);
  // A copy of the agent itself is what the session runs, so the overrides reach it; the others are what they are.
  const show = (member: StoredMember) => {
    const { isolation } = member;
    const found = member.type === 'self' ? own : members.get(member.id)!;
    return isolation === undefined ? found : { ...found, isolation };
  };
  const resolved = checkSessionAgent({ ...own, multiagent: multiagent === null ? null : spellOut(multiagent, show) });
  // An agent from before definitions had a limit can still be used as it is.
  if (params.type !== 'agent') checkSize('the agent with its overrides', own);
  return resolved;
}

/** The agent of a session after an update of the session: each list that is given replaces the one that was there. */
export function updateSessionAgent(agent: SessionAgent, params: SessionAgentUpdateParams): SessionAgent {
  const { multiagent, ...before } = agent;
  const own: AgentSnapshot = {
    ...before,
    tools: params.tools === undefined ? before.tools : toTools(params.tools),
    mcp_servers: params.mcp_servers ?? before.mcp_servers,
  };
  const isOwn = ({ id, version }: RosterMember) => id === own.id && version === own.version;
  const replaced = mapMembers(multiagent, (member) => (isOwn(member) ? { ...member, ...own } : member));
  const updated = checkSessionAgent({ ...own, multiagent: replaced });
  checkSize('the agent with the changes', own);
  return updated;
}

/** Each given part replaces that of the agent as a whole; id and version do not change. */
function override(agent: AgentSnapshot, params: AgentWithOverridesParams): AgentSnapshot {
  const { model, system, tools, mcp_servers: servers, skills } = params;
  return {
    ...agent,
    model: model === undefined ? agent.model : toModel(model),
    system: system === undefined ? agent.system : toText(system),
    tools: tools === undefined ? agent.tools : toTools(tools),
    mcp_servers: servers ?? agent.mcp_servers,
    skills: skills === undefined ? agent.skills : toSkills(skills ?? []),
  };
}

/** Reads roster agents by id. Archiving an agent does not affect coordinators that pinned it. */
async function readMembers(
  store: Pick<Store, 'agents'>,
  workspaceId: string,
  multiagent: StoredMultiagent | null,
): Promise<ReadonlyMap<string, RosterMember>> {
  const references = membersOf(multiagent).filter((member) => member.type === 'agent');
  const members = new Map<string, RosterMember>();
  let bytes = 0;
  // One by one: definitions of older versions had no limit, and all of them together may be too large for memory.
  for (const { id, version } of references) {
    const member = toSnapshot(await readAgent(store, workspaceId, id, version));
    bytes += jsonBytesAtLeast(member);
    if (bytes > agentLimits.sessionAgentBytesMax) throw tooLarge(bytes);
    members.set(id, member);
    await yieldToEventLoop();
  }
  return members;
}

function mapMembers(
  multiagent: SessionMultiagent | null,
  change: (member: RosterMember) => RosterMember,
): SessionMultiagent | null {
  if (multiagent === null) return null;
  if (multiagent.type === 'coordinator') return { ...multiagent, agents: multiagent.agents.map(change) };
  const { subagents } = multiagent;
  if (subagents.type === 'disabled') return multiagent;
  return { ...multiagent, subagents: { ...subagents, predefined_agents: subagents.predefined_agents.map(change) } };
}

function checkSessionAgent(agent: SessionAgent): SessionAgent {
  checkTools({ ...agent, isCoordinator: toRoster(agent.multiagent).length > 0 });
  const bytes = findExcessBytes(agent, agentLimits.sessionAgentBytesMax);
  if (bytes !== undefined) throw tooLarge(bytes);
  return agent;
}

function tooLarge(bytes: number): Error {
  const problem = `the agent with its roster has at least ${bytes} bytes as JSON`;
  return agentError('session_agent_too_large', `${problem}, and ${agentLimits.sessionAgentBytesMax} are allowed`);
}
