import type { Clock } from '../../base/clock.ts';
import { storeLimits } from '../limits.ts';
import { checkNew, checkNotArchived, checkVersion, found } from '../guards.ts';
import { type Page, positionOfApproval } from '../page.ts';
import type { AgentRecord, KeyRecord, SessionRecord } from '../records.ts';
import type { ListRequest, SessionListRequest, Store } from '../store.ts';
import { appendAudit } from './audit-log.ts';
import { byCreation, bytesOf, pageOf } from './lists.ts';
import { keep, type State } from './state.ts';
import { createWorks } from './works.ts';

type Records = Pick<
  Store,
  'agents' | 'environments' | 'sessions' | 'threads' | 'inputs' | 'approvals' | 'works' | 'keys'
>;

export function createRecords(state: State, clock: Clock): Records {
  return {
    agents: createAgents(state, clock),
    environments: createEnvironments(state, clock),
    sessions: {
      get: async (workspaceId, id) => inWorkspace(state.sessions.get(id), workspaceId),
      findWorkspace: async (id) => state.sessions.get(id)?.workspaceId,
      list: async (request) => listOf('sessions', findSessions(state, request), request),
      listChanged: async (request) => {
        const page = listOf('sessions', findSessions(state, request).map(withoutData), request);
        return { ...page, items: page.items.map(({ id, createdAt }) => ({ id, createdAt })) };
      },
    },
    threads: {
      get: async (sessionId, id) => state.threads.get(`${sessionId} ${id}`),
      list: async (request) => {
        const { sessionId, statuses } = request;
        const threads = state.threads.values().filter((thread) => thread.sessionId === sessionId);
        const wanted = threads.filter(({ status }) => statuses?.includes(status) ?? true);
        return pageOf('threads', wanted, request, byCreation);
      },
    },
    inputs: {
      peek: async (sessionId, limit) => {
        const inputs = state.inputs.values().filter((input) => input.sessionId === sessionId);
        const first = inputs.sort((a, b) => a.position - b.position).slice(0, limit);
        let bytes = 0;
        const end = first.findIndex(({ data }) => (bytes += bytesOf({ data })) >= storeLimits.inputsTakenBytesMax);
        return end === -1 ? first : first.slice(0, end + 1);
      },
      lastPosition: async (sessionId) => {
        const positions = [...state.inputs.values()].filter((input) => input.sessionId === sessionId);
        return positions.reduce<number | undefined>((last, { position }) => Math.max(last ?? 0, position), undefined);
      },
      bytes: async (sessionId) => {
        const own = [...state.inputs.values()].filter((input) => input.sessionId === sessionId);
        return own.reduce((sum, { data }) => sum + bytesOf({ data }), 0);
      },
    },
    approvals: {
      get: async (sessionId, id) => state.approvals.get(`${sessionId} ${id}`),
      list: async (request) => {
        const { workspaceId, sessionId, isPending } = request;
        const approvals = state.approvals.values().filter((approval) => {
          const isHere =
            approval.workspaceId === workspaceId && (sessionId ?? approval.sessionId) === approval.sessionId;
          return isHere && (isPending ?? approval.resolution === null) === (approval.resolution === null);
        });
        return pageOf('approvals', approvals, request, positionOfApproval);
      },
    },
    works: createWorks(state, clock),
    keys: {
      get: async (workspaceId, key) => fresh(state.keys.get(`${workspaceId} ${key}`), clock),
      putIfAbsent: async ({ replaces = false, ...given }) => {
        const id = `${given.workspaceId} ${given.key}`;
        const taken = replaces ? undefined : fresh(state.keys.get(id), clock);
        if (taken !== undefined) return { isNew: false, record: taken };
        return { isNew: true, record: keep(state.keys, id, given) };
      },
    },
  };
}

function createAgents(state: State, clock: Clock): Store['agents'] {
  const { agents } = state;
  const versionsOf = (workspaceId: string, id: string) =>
    (agents.get(id) ?? []).filter((agent) => agent.workspaceId === workspaceId);
  const newest = (workspaceId: string, id: string) => versionsOf(workspaceId, id).at(-1);
  return {
    create: async (agent, audit) => {
      checkNew(agents.get(agent.id), agent.id);
      appendAudit(state, clock, audit);
      const record = { ...agent, version: 1, updatedAt: agent.createdAt, archivedAt: null };
      return keep(agents, agent.id, [record])[0]!;
    },
    addVersion: async ({ workspaceId, id, ifVersion, data, updatedAt }, audit) => {
      const agent = found(newest(workspaceId, id), id);
      checkNotArchived(id, agent.archivedAt);
      checkVersion(id, ifVersion, agent.version);
      appendAudit(state, clock, audit);
      const record = { ...agent, version: agent.version + 1, data, updatedAt };
      return keep(agents, id, [...agents.get(id)!, record]).at(-1)!;
    },
    get: async (workspaceId, id, version) =>
      version === undefined
        ? newest(workspaceId, id)
        : versionsOf(workspaceId, id).find((agent) => agent.version === version),
    list: async (request) =>
      listOf(
        'agents',
        agents.values().map((versions) => versions.at(-1)!),
        request,
      ),
    listVersions: async (request) => {
      const { workspaceId, id } = request;
      const byVersion = ({ version }: AgentRecord) => ({ time: version, id });
      return pageOf(`versions of ${id}`, found(some(versionsOf(workspaceId, id)), id), request, byVersion);
    },
    archive: async (workspaceId, id, time, audit) => {
      const agent = found(newest(workspaceId, id), id);
      appendAudit(state, clock, audit);
      const archivedAt = agent.archivedAt ?? time;
      agents.set(
        id,
        agents.get(id)!.map((version) => ({ ...version, archivedAt })),
      );
      return newest(workspaceId, id)!;
    },
  };
}

function createEnvironments(state: State, clock: Clock): Store['environments'] {
  const { environments } = state;
  const get = (workspaceId: string, id: string) => inWorkspace(environments.get(id), workspaceId);
  return {
    create: async (given, audit) => {
      checkNew(environments.get(given.id), given.id);
      appendAudit(state, clock, audit);
      const record = { ...given, revision: 1, updatedAt: given.createdAt, archivedAt: null };
      return keep(environments, given.id, record);
    },
    update: async ({ workspaceId, id, ifRevision, data, updatedAt }, audit) => {
      const before = found(get(workspaceId, id), id);
      checkNotArchived(id, before.archivedAt);
      checkVersion(id, ifRevision, before.revision);
      appendAudit(state, clock, audit);
      return keep(environments, id, { ...before, data, updatedAt, revision: before.revision + 1 });
    },
    get: async (workspaceId, id) => get(workspaceId, id),
    list: async (request) => listOf('environments', environments.values(), request),
    archive: async (workspaceId, id, time, audit) => {
      const before = found(get(workspaceId, id), id);
      appendAudit(state, clock, audit);
      environments.set(id, { ...before, archivedAt: before.archivedAt ?? time });
      return environments.get(id)!;
    },
    delete: async (workspaceId, id, audit) => {
      found(get(workspaceId, id), id);
      appendAudit(state, clock, audit);
      environments.delete(id);
    },
  };
}

interface Listed {
  workspaceId: string;
  id: string;
  createdAt: number;
  archivedAt: number | null;
}

function findSessions(state: State, request: SessionListRequest): SessionRecord[] {
  const { agentId, agentVersion, statuses, updatedFrom = 0 } = request;
  return state.sessions.values().filter((session) => {
    const isAgent = agentId === undefined || session.agentId === agentId;
    const isVersion = agentVersion === undefined || session.agentVersion === agentVersion;
    const isNew = session.updatedAt >= updatedFrom;
    return isNew && isAgent && isVersion && (statuses?.includes(session.status) ?? true);
  });
}

function withoutData(session: SessionRecord): SessionRecord {
  return { ...session, data: {} };
}

function listOf<Item extends Listed>(list: string, all: readonly Item[], request: ListRequest): Page<Item> {
  const { workspaceId, includeArchived = false } = request;
  const visible = all.filter((item) => item.workspaceId === workspaceId);
  const wanted = visible.filter(({ archivedAt }) => includeArchived || archivedAt === null);
  return pageOf(list, wanted, request, byCreation);
}

function inWorkspace<Item extends { workspaceId: string }>(item: Item | undefined, workspaceId: string) {
  return item?.workspaceId === workspaceId ? item : undefined;
}

function fresh(record: KeyRecord | undefined, clock: Clock): KeyRecord | undefined {
  return record !== undefined && record.expiresAt > clock.now() ? record : undefined;
}

function some<Item>(items: Item[]): Item[] | undefined {
  return items.length === 0 ? undefined : items;
}
