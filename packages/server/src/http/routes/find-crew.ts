import type { AgentSnapshot, Environment, SessionAgent } from '@fleetloom/protocol/managed-agents';
import { toRoster } from '@fleetloom/protocol/managed-agents';
import type { Agents } from '../../agents/agents.ts';
import { toInlineAgent } from '../../agents/inline-agent.ts';
import { resolveSessionAgent } from '../../agents/session-agent.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Environments } from '../../environments/environments.ts';
import type { Store } from '../../store/store.ts';
import type { OrchestrateBody } from '../schemas/orchestrate.ts';

/** Who works on a request. */
export interface Crew {
  readonly agent: SessionAgent;
  /** Whom it and its delegates may delegate to. */
  readonly members: readonly AgentSnapshot[];
  readonly environment: Environment;
}

export interface UnknownAgent extends Crew {
  readonly problem: string;
}

export function isUnknownAgent(crew: Crew): crew is UnknownAgent {
  return 'problem' in crew;
}

export type CrewFinder = (workspaceId: string, request: Pick<OrchestrateBody, 'agent' | 'agent_def'>) => Promise<Crew>;

export interface CrewFinderOptions {
  readonly store: Store;
  readonly agents: Agents;
  readonly environments: Environments;
  readonly ids: Ids;
  /** Who coordinates when a request does not say: an id or a name. */
  readonly defaultAgent?: string | undefined;
}

/** Finds the agent that a request names, and those that it may delegate to: its roster, or else the whole workspace. */
export function createCrewFinder(options: CrewFinderOptions): CrewFinder {
  const { store, agents, environments, ids, defaultAgent } = options;
  const environmentIds = new Map<string, Promise<string>>();

  return async (workspaceId, { agent: named = defaultAgent, agent_def: inline }) => {
    const environment = await findEnvironment(workspaceId);
    const everybody = await listEverybody(workspaceId);
    if (inline !== undefined) {
      const agent = { ...(await toInlineAgent(ids.next('agent'), inline)), multiagent: null };
      return { agent, members: everybody, environment };
    }
    const foundId = named === undefined ? undefined : await findId(workspaceId, named);
    if (foundId === undefined) return toUnknown(named, environment);
    const agent = await resolveSessionAgent({ store, workspaceId, agent: foundId });
    const roster = toRoster(agent.multiagent);
    const others = everybody.filter(({ id }) => id !== agent.id);
    return { agent, members: roster.length > 0 ? roster : others, environment };
  };

  /** The newest one of this name or id, however many there are. */
  async function findId(workspaceId: string, named: string): Promise<string | undefined> {
    const request = { workspaceId, limit: limits.crewMax, order: 'desc' as const };
    let page = await agents.list(request);
    while (true) {
      const found = page.items.find(({ id, name }) => id === named || name === named);
      if (found !== undefined || page.next === null) return found?.id;
      page = await agents.list({ ...request, cursor: page.next });
    }
  }

  /** The newest ones. */
  async function listEverybody(workspaceId: string): Promise<AgentSnapshot[]> {
    const { items } = await agents.list({ workspaceId, limit: limits.crewMax, order: 'desc' });
    return items.map(
      ({ multiagent: _m, metadata: _d, created_at: _c, updated_at: _u, archived_at: _a, ...rest }) => rest,
    );
  }

  /** One for all requests of a workspace, as it is now; another one is made if somebody has deleted it. */
  async function findEnvironment(workspaceId: string): Promise<Environment> {
    try {
      return await environments.get(workspaceId, await findEnvironmentId(workspaceId));
    } catch {
      environmentIds.delete(workspaceId);
      return await environments.get(workspaceId, await findEnvironmentId(workspaceId));
    }
  }

  /** Found again by its name. */
  function findEnvironmentId(workspaceId: string): Promise<string> {
    const known = environmentIds.get(workspaceId);
    if (known !== undefined) return known;
    const finding = findOrMake(workspaceId);
    environmentIds.set(workspaceId, finding);
    finding.catch(() => environmentIds.delete(workspaceId));
    return finding;
  }

  async function findOrMake(workspaceId: string): Promise<string> {
    const { items } = await environments.list({ workspaceId, limit: limits.crewMax, order: 'asc' });
    const known = items.find(({ name, config }) => name === ENVIRONMENT && config.type === 'cloud');
    return (known ?? (await environments.create(workspaceId, { name: ENVIRONMENT }))).id;
  }
}

const ENVIRONMENT = 'orchestrate';

/** Stands in for an agent that does not exist, so that the request has a place in the log where it is refused. */
function toUnknown(named: string | undefined, environment: Environment): UnknownAgent {
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
