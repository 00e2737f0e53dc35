import { isDeepStrictEqual } from 'node:util';
import type {
  DeletedEnvironment,
  EnvironmentCreateParams,
  EnvironmentResourcesParams,
  EnvironmentUpdateParams,
  EnvironmentWithResources,
} from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { baseLimits } from '../base/limits.ts';
import type { Auditor } from '../store/audit.ts';
import type { Page } from '../store/page.ts';
import type { EnvironmentRecord } from '../store/records.ts';
import type { ListRequest, Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { createDefinition, type EnvironmentDefinition, toEnvironment, updateDefinition } from './definition.ts';
import { environmentError } from './environment-errors.ts';

/** The environments of all workspaces. What is given to it has the right form; whether it makes sense is decided here. */
export interface Environments {
  create(
    workspaceId: string,
    params: EnvironmentCreateParams & EnvironmentResourcesParams,
    audit?: Auditor,
  ): Promise<EnvironmentWithResources>;
  update(
    workspaceId: string,
    id: string,
    params: EnvironmentUpdateParams & EnvironmentResourcesParams,
    audit?: Auditor,
  ): Promise<EnvironmentWithResources>;
  get(workspaceId: string, id: string): Promise<EnvironmentWithResources>;
  /** For a new session: one that is archived is refused. */
  getForSession(workspaceId: string, id: string): Promise<EnvironmentWithResources>;
  list(request: ListRequest): Promise<Page<EnvironmentWithResources>>;
  /** A second time changes nothing. Sessions that run go on. */
  archive(workspaceId: string, id: string, audit?: Auditor): Promise<EnvironmentWithResources>;
  /** Sessions keep its id. */
  delete(workspaceId: string, id: string, audit?: Auditor): Promise<DeletedEnvironment>;
}

export interface EnvironmentsOptions {
  readonly store: Pick<Store, 'environments'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Environments on a store.
 *
 * @example
 * const environments = createEnvironments({ store, clock: systemClock, ids });
 * await environments.create('wrkspc_1', { name: 'here' });
 */
export function createEnvironments({ store, clock, ids }: EnvironmentsOptions): Environments {
  return {
    create: async (workspaceId, params, audit) => {
      const record = { workspaceId, id: ids.next('env'), createdAt: clock.now(), data: createDefinition(params) };
      const entry = audit?.('environment.created', record.id, { name: record.data.name });
      return toEnvironment(await store.environments.create(record, entry));
    },

    update: async (workspaceId, id, params, audit) => {
      for (let attempt = 1; ; attempt++) {
        const record = await read(workspaceId, id);
        checkNotArchived(record);
        const data = updateDefinition(record, params);
        if (isSame(record, data)) return toEnvironment(record);
        const change = { workspaceId, id, updatedAt: clock.now(), data, ifRevision: record.revision };
        const updated = await store.environments
          .update(change, audit?.('environment.updated', id, { name: data.name }))
          .catch((error: unknown) => {
            // Another writer came first. The update is applied again to the new version, or refused because of it.
            const isRace = RACES.some((code) => isStoreError(error, code));
            if (!isRace || attempt >= baseLimits.updateAttemptsMax) throw error;
          });
        if (updated !== undefined) return toEnvironment(updated);
      }
    },

    get: async (workspaceId, id) => toEnvironment(await read(workspaceId, id)),

    getForSession: async (workspaceId, id) => {
      const record = await read(workspaceId, id);
      checkNotArchived(record);
      return toEnvironment(record);
    },

    list: async (request) => {
      const { items, ...page } = await store.environments.list(request);
      return { ...page, items: items.map(toEnvironment) };
    },

    archive: async (workspaceId, id, audit) => {
      await read(workspaceId, id);
      return toEnvironment(
        await store.environments.archive(workspaceId, id, clock.now(), audit?.('environment.archived', id)),
      );
    },

    delete: async (workspaceId, id, audit) => {
      await read(workspaceId, id);
      await store.environments.delete(workspaceId, id, audit?.('environment.deleted', id));
      return { type: 'environment_deleted', id };
    },
  };

  async function read(workspaceId: string, id: string): Promise<EnvironmentRecord> {
    const record = await store.environments.get(workspaceId, id);
    if (record === undefined) throw environmentError('environment_not_found', `${id} does not exist`);
    return record;
  }
}

/** Errors of the store when another writer changed, archived or deleted the environment between reading and writing. */
const RACES = ['version_conflict', 'archived', 'not_found'] as const;

function checkNotArchived({ id, archivedAt }: EnvironmentRecord): void {
  if (archivedAt !== null) throw environmentError('environment_archived', `${id} is archived`);
}

/** Compared as it would be kept: a value that JSON does not hold does not count as a change. */
function isSame({ data }: EnvironmentRecord, definition: EnvironmentDefinition): boolean {
  return isDeepStrictEqual(data, JSON.parse(JSON.stringify(definition)));
}
