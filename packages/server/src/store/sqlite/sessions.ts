import { type Selectable, sql } from 'kysely';
import { positionOfApproval, toPage, toSeek } from '../page.ts';
import type { ApprovalRecord, InputRecord, SessionRecord, ThreadRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import { byCreation, createdBetween, parseData, seekBehind } from './lists.ts';
import { allRows, build, firstRow, type Schema } from './schema.ts';

/** Sessions and what belongs to them are read here and changed by writes. */
export function createSessions(database: Database): Pick<Store, 'sessions' | 'threads' | 'inputs' | 'approvals'> {
  return {
    sessions: {
      get: async (workspaceId, id) => {
        const mine = build.selectFrom('sessions').selectAll().where('id', '=', id);
        const row = firstRow(database, mine.where('workspace_id', '=', workspaceId));
        return row && toSession(row);
      },

      list: async (request) => {
        const { workspaceId, includeArchived = false, agentId, agentVersion, statuses, updatedFrom } = request;
        const seek = toSeek('sessions', request);
        let query = build.selectFrom('sessions').selectAll().where('workspace_id', '=', workspaceId);
        if (!includeArchived) query = query.where('archived_at', 'is', null);
        if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
        if (agentVersion !== undefined) query = query.where('agent_version', '=', agentVersion);
        if (statuses !== undefined) query = query.where('status', 'in', statuses);
        if (updatedFrom !== undefined) query = query.where('updated_at', '>=', updatedFrom);
        const wanted = query.where(createdBetween('created_at', request)).where(seekBehind('created_at', 'id', seek));
        // Those that changed lately are few and found by that; the plus keeps SQLite from going through all by creation.
        const time = updatedFrom === undefined ? sql.ref<number>('created_at') : sql<number>`+created_at`;
        const sorted = wanted.orderBy(time, seek.order).orderBy('id', seek.order).limit(seek.limit);
        return toPage('sessions', request, allRows(database, sorted).map(toSession), byCreation);
      },
    },

    threads: {
      get: async (sessionId, id) => {
        const row = firstRow(database, threadsOf(sessionId).where('t.id', '=', id));
        return row && toThread(sessionId, row);
      },

      list: async (request) => {
        const { sessionId, statuses } = request;
        const seek = toSeek('threads', request);
        let query = threadsOf(sessionId);
        if (statuses !== undefined) query = query.where('t.status', 'in', statuses);
        const timed = query.where(createdBetween('t.created_at', request));
        const wanted = timed.where(seekBehind('t.created_at', 't.id', seek));
        const sorted = wanted.orderBy('t.created_at', seek.order).orderBy('t.id', seek.order).limit(seek.limit);
        const threads = allRows(database, sorted).map((row) => toThread(sessionId, row));
        return toPage('threads', request, threads, byCreation);
      },
    },

    inputs: {
      peek: async (sessionId, limit) => {
        const joined = build.selectFrom('sessions as s').innerJoin('inputs as i', 'i.session_key', 's.key');
        const mine = joined.selectAll('i').where('s.id', '=', sessionId).orderBy('i.position').limit(limit);
        return allRows(database, mine).map((row) => toInput(sessionId, row));
      },
    },

    approvals: {
      get: async (sessionId, id) => {
        const row = firstRow(database, approvals().where('s.id', '=', sessionId).where('a.id', '=', id));
        return row && toApproval(row);
      },

      list: async (request) => {
        const { workspaceId, sessionId, isPending } = request;
        const seek = toSeek('approvals', request);
        let query = approvals().where('a.workspace_id', '=', workspaceId);
        if (sessionId !== undefined) query = query.where('s.id', '=', sessionId);
        if (isPending !== undefined) query = query.where('a.resolved_at', isPending ? 'is' : 'is not', null);
        const timed = query.where(createdBetween('a.created_at', request));
        const wanted = timed.where(seekBehind('a.created_at', APPROVAL_ID, seek));
        const sorted = wanted.orderBy('a.created_at', seek.order).orderBy(APPROVAL_ID, seek.order).limit(seek.limit);
        return toPage('approvals', request, allRows(database, sorted).map(toApproval), positionOfApproval);
      },
    },
  };
}

/** Two sessions may have asks with the same id, a fork and its origin for one. Positions must differ all the same. */
const APPROVAL_ID = sql<string>`a.id || ' ' || s.id`;

function threadsOf(sessionId: string) {
  const joined = build.selectFrom('sessions as s').innerJoin('threads as t', 't.session_key', 's.key');
  return joined.selectAll('t').where('s.id', '=', sessionId);
}

function approvals() {
  const joined = build.selectFrom('approvals as a').innerJoin('sessions as s', 's.key', 'a.session_key');
  return joined.selectAll('a').select('s.id as session_id');
}

function toSession(row: Selectable<Schema['sessions']>): SessionRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    environmentId: row.environment_id,
    status: row.status,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

function toThread(sessionId: string, row: Selectable<Schema['threads']>): ThreadRecord {
  return {
    sessionId,
    id: row.id,
    parentThreadId: row.parent_thread_id,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

function toInput(sessionId: string, row: Selectable<Schema['inputs']>): InputRecord {
  const { id, position, time } = row;
  return { sessionId, id, threadId: row.thread_id, position, time, data: parseData(row.data) };
}

function toApproval(row: Selectable<Schema['approvals']> & { session_id: string }): ApprovalRecord {
  const isPending = row.resolved_at === null || row.resolution === null;
  return {
    workspaceId: row.workspace_id,
    sessionId: row.session_id,
    id: row.id,
    threadId: row.thread_id,
    createdAt: row.created_at,
    data: parseData(row.data),
    resolution: isPending ? null : { time: row.resolved_at!, data: parseData(row.resolution!) },
  };
}
