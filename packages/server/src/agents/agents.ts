import { isDeepStrictEqual } from 'node:util';
import type { Agent, AgentCreateParams, AgentUpdateParams } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { baseLimits } from '../base/limits.ts';
import type { Auditor } from '../store/audit.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { AgentRecord } from '../store/records.ts';
import type { ListRequest, Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { agentError } from './agent-errors.ts';
import { type AgentDefinition, toAgent } from './definition.ts';
import { readAgent } from './read-agent.ts';
import type { FindAgent } from './roster.ts';
import { createDefinition, updateDefinition } from './write-definition.ts';

/** The agents of all workspaces. What is given to it has the right form; whether it makes sense is decided here. */
export interface Agents {
  create(workspaceId: string, params: AgentCreateParams, audit?: Auditor): Promise<Agent>;
  /** A new version, or the current one if nothing changes. */
  update(workspaceId: string, id: string, params: AgentUpdateParams, audit?: Auditor): Promise<Agent>;
  /** The newest version if none is given. */
  get(workspaceId: string, id: string, version?: number): Promise<Agent>;
  list(request: ListRequest): Promise<Page<Agent>>;
  listVersions(request: PageRequest & { workspaceId: string; id: string }): Promise<Page<Agent>>;
  /** A second time changes nothing. Sessions that run go on. */
  archive(workspaceId: string, id: string, audit?: Auditor): Promise<Agent>;
}

/** Where agents are stored, and which models they may have. */
export interface AgentsOptions {
  readonly store: Pick<Store, 'agents'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Throws where agents of a workspace may not have a model. */
  readonly checkModel?: ((workspaceId: string, model: string) => void) | undefined;
}

/**
 * Agents on a store.
 *
 * @example
 * const agents = createAgents({ store, clock: systemClock, ids });
 * await agents.create('wrkspc_1', { name: 'Researcher', model: 'scripted/demo' });
 */
export function createAgents({ store, clock, ids, checkModel = () => {} }: AgentsOptions): Agents {
  const findIn =
    (workspaceId: string): FindAgent =>
    (id, version) =>
      store.agents.get(workspaceId, id, version);

  return {
    create: async (workspaceId, params, audit) => {
      const data = await createDefinition(params, findIn(workspaceId));
      checkModel(workspaceId, data.model.id);
      const id = ids.next('agent');
      const entry = audit?.('agent.created', id, { name: data.name, version: 1, model: data.model.id });
      return toAgent(await store.agents.create({ workspaceId, id, createdAt: clock.now(), data }, entry));
    },

    update: async (workspaceId, id, params, audit) => {
      for (let attempt = 1; ; attempt++) {
        const record = await readAgent(store, workspaceId, id);
        checkNotArchived(record);
        checkVersion(record, params.version);
        const data = await updateDefinition(record, params, findIn(workspaceId));
        // An agent whose model is no longer allowed can still be changed in other fields.
        if (params.model !== undefined) checkModel(workspaceId, data.model.id);
        if (isSame(record, data)) return toAgent(record);
        const change = { workspaceId, id, updatedAt: clock.now(), data, ifVersion: record.version };
        const version = record.version + 1;
        const entry = audit?.('agent.updated', id, { name: data.name, version, model: data.model.id });
        const added = await store.agents.addVersion(change, entry).catch((error: unknown) => {
          // Another writer came first. The update is applied again to the new version, or refused because of it.
          const isRace = isStoreError(error, 'version_conflict') || isStoreError(error, 'archived');
          if (!isRace || attempt >= baseLimits.updateAttemptsMax) throw error;
        });
        if (added !== undefined) return toAgent(added);
      }
    },

    get: async (workspaceId, id, version) => toAgent(await readAgent(store, workspaceId, id, version)),

    list: async (request) => toAgents(await store.agents.list(request)),

    listVersions: async (request) => {
      await readAgent(store, request.workspaceId, request.id);
      return toAgents(await store.agents.listVersions(request));
    },

    archive: async (workspaceId, id, audit) => {
      await readAgent(store, workspaceId, id);
      return toAgent(await store.agents.archive(workspaceId, id, clock.now(), audit?.('agent.archived', id)));
    },
  };
}

function checkNotArchived({ id, archivedAt }: AgentRecord): void {
  if (archivedAt !== null) throw agentError('agent_archived', `${id} is archived`);
}

/** Checked even if the update changes nothing: a caller that names a version wants to know that it is still the newest. */
function checkVersion({ id, version }: AgentRecord, wanted: number | undefined): void {
  if (wanted === undefined || wanted === version) return;
  throw agentError('version_conflict', `the update of ${id} was made on version ${wanted}, and it is at ${version}`);
}

/**
 * Compared as it would be kept: a value that JSON does not hold does not count as a change. Texts of different lengths hold different values; of equal
 * length, fields may only be in another order.
 */
function isSame({ data }: AgentRecord, definition: AgentDefinition): boolean {
  const [before, after] = [JSON.stringify(data), JSON.stringify(definition)];
  if (before === after || before.length !== after.length) return before === after;
  return isDeepStrictEqual(data, JSON.parse(after));
}

function toAgents({ items, ...page }: Page<AgentRecord>): Page<Agent> {
  return { ...page, items: items.map(toAgent) };
}
