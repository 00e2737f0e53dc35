import { readPages } from '../../store/read-pages.ts';
import type {
  AgentSnapshot,
  EnvironmentWithResources,
  RosterMember,
  SessionAgent,
} from '@fleetloom/protocol/managed-agents';
import { toRoster } from '@fleetloom/protocol/managed-agents';
import type { Agents } from '../../agents/agents.ts';
import { toInlineAgent } from '../../agents/inline-agent.ts';
import { resolveSessionAgent } from '../../agents/session-agent.ts';
import type { Ids } from '../../base/ids.ts';
import { httpLimits } from '../limits.ts';
import type { Environments } from '../../environments/environments.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import type { OrchestrateBody } from '../schemas/orchestrate.ts';

/** The agents that work on an orchestrated request. */
export interface FoundRoster {
  readonly agent: SessionAgent;
  /** The agents that the coordinator, and the agents below it, may delegate to. */
  readonly members: readonly RosterMember[];
  readonly environment: EnvironmentWithResources;
}

/** A roster whose agent does not exist, with the reason. */
export interface UnknownAgent extends FoundRoster {
  readonly problem: string;
}

/** Whether the request names an agent that does not exist. */
export function isUnknownAgent(roster: FoundRoster): roster is UnknownAgent {
  return 'problem' in roster;
}

/** Finds the agents of an orchestrated request; the agent is named by id or name, or sent with the request. */
export type RosterFinder = (
  workspaceId: string,
  request: Pick<OrchestrateBody, 'agent' | 'agent_def'>,
  /** Records the creation of the environment by the first request of a workspace. */
  audit: Auditor,
) => Promise<FoundRoster>;

/** The sources of agents and environments. */
export interface RosterFinderOptions {
  readonly store: Store;
  readonly agents: Agents;
  readonly environments: Environments;
  readonly ids: Ids;
  /** The coordinator of requests that name no agent: an id or a name. */
  readonly defaultAgent?: string | undefined;
}

/** Finds the agent of a request and the agents that it may delegate to: its roster, or the whole workspace. */
export function createRosterFinder(options: RosterFinderOptions): RosterFinder {
  const { store, agents, environments, ids, defaultAgent } = options;
  const environmentIds = new Map<string, Promise<string>>();

  return async (workspaceId, { agent: named = defaultAgent, agent_def: inline }, audit) => {
    const environment = await findEnvironment(workspaceId, audit);
    const all = await listAgents(workspaceId);
    if (inline !== undefined) {
      const agent = { ...(await toInlineAgent(ids.next('agent'), inline)), multiagent: null };
      return { agent, members: all, environment };
    }
    const foundId = named === undefined ? undefined : await findId(workspaceId, named);
    if (foundId === undefined) return toUnknown(named, environment);
    const agent = await resolveSessionAgent({ store, workspaceId, agent: foundId });
    const roster = toRoster(agent.multiagent);
    const others = all.filter(({ id }) => id !== agent.id);
    return { agent, members: roster.length > 0 ? roster : others, environment };
  };

  /** The newest agent with this name or id. */
  async function findId(workspaceId: string, named: string): Promise<string | undefined> {
    const request = { workspaceId, limit: httpLimits.rosterMax, order: 'desc' as const };
    for await (const page of readPages((from) => agents.list({ ...request, ...from }))) {
      const found = page.find(({ id, name }) => id === named || name === named);
      if (found !== undefined) return found.id;
    }
    return undefined;
  }

  /** The newest agents of the workspace. */
  async function listAgents(workspaceId: string): Promise<AgentSnapshot[]> {
    const { items } = await agents.list({ workspaceId, limit: httpLimits.rosterMax, order: 'desc' });
    return items.map(
      ({ multiagent: _m, metadata: _d, created_at: _c, updated_at: _u, archived_at: _a, ...rest }) => rest,
    );
  }

  /** The environment that all orchestrated requests of a workspace share; created again if it was deleted. */
  async function findEnvironment(workspaceId: string, audit: Auditor): Promise<EnvironmentWithResources> {
    try {
      return await environments.get(workspaceId, await findEnvironmentId(workspaceId, audit));
    } catch {
      environmentIds.delete(workspaceId);
      return await environments.get(workspaceId, await findEnvironmentId(workspaceId, audit));
    }
  }

  /** Finds the shared environment by its name. */
  function findEnvironmentId(workspaceId: string, audit: Auditor): Promise<string> {
    const known = environmentIds.get(workspaceId);
    if (known !== undefined) return known;
    const finding = findOrMake(workspaceId, audit);
    environmentIds.set(workspaceId, finding);
    finding.catch(() => environmentIds.delete(workspaceId));
    return finding;
  }

  async function findOrMake(workspaceId: string, audit: Auditor): Promise<string> {
    const { items } = await environments.list({ workspaceId, limit: httpLimits.rosterMax, order: 'asc' });
    const known = items.find(({ name, config }) => name === ENVIRONMENT && config.type === 'cloud');
    return (known ?? (await environments.create(workspaceId, { name: ENVIRONMENT }, audit))).id;
  }
}

const ENVIRONMENT = 'orchestrate';

/** A substitute for an agent that does not exist, so that the refusal is recorded in a log. */
function toUnknown(named: string | undefined, environment: EnvironmentWithResources): UnknownAgent {
  const problem =
    named === undefined
      ? 'no agent was named and there is no default: name one, or send agent_def'
      : `there is no agent ${named}: use the id or the name of one that exists`;
  const agent: SessionAgent = {
    type: 'agent',
    id: 'agent_unknown',
    version: 1,
    name: named ?? 'unknown',
    description: null,
    system: null,
    model: { id: 'scripted/echo', effort: { type: 'high' }, speed: 'standard' },
    tools: [],
    mcp_servers: [],
    skills: [],
    execution_identity: { type: 'service_account' },
    multiagent: null,
  };
  return { agent, members: [], environment, problem };
}
