import { type Kysely, sql } from 'kysely';
import { type PageRequest, type Seek, toSeek } from '../page.ts';
import type { ChangedSessionsRequest, ListRequest, SessionListRequest, Store, WorkspaceDocuments } from '../store.ts';
import { createdBetween, seekBehind } from './lists.ts';
import type { Schema } from './schema.ts';

// Queries of records for both databases. Each returns a query, which the store executes.

type Build = Kysely<Schema>;

/** The newest version if none is given. */
export function findAgent(build: Build, workspaceId: string, id: string, version?: number) {
  const mine = agentVersions(build).where('a.id', '=', id).where('a.workspace_id', '=', workspaceId);
  return version === undefined ? mine.whereRef('v.version', '=', 'a.version') : mine.where('v.version', '=', version);
}

export function listAgents(build: Build, request: ListRequest) {
  const { workspaceId, includeArchived = false } = request;
  const seek = toSeek('agents', request);
  let query = agentVersions(build).whereRef('v.version', '=', 'a.version').where('a.workspace_id', '=', workspaceId);
  if (!includeArchived) query = query.where('a.archived_at', 'is', null);
  const timed = query.where(createdBetween('a.created_at', request)).where(seekBehind('a.created_at', 'a.id', seek));
  return timed.orderBy('a.created_at', seek.order).orderBy('a.id', seek.order).limit(seek.limit);
}

/** All versions of an agent. */
export function listVersions(build: Build, id: string, { after, order, limit }: Seek) {
  let query = agentVersions(build).where('a.id', '=', id);
  if (after !== undefined) query = query.where('v.version', order === 'asc' ? '>' : '<', after.time);
  return query.orderBy('v.version', order).limit(limit);
}

export function findEnvironment(build: Build, workspaceId: string, id: string) {
  const mine = build.selectFrom('environments').selectAll().where('id', '=', id);
  return mine.where('workspace_id', '=', workspaceId);
}

export function listEnvironments(build: Build, request: ListRequest) {
  const { workspaceId, includeArchived = false } = request;
  const seek = toSeek('environments', request);
  let query = build.selectFrom('environments').selectAll().where('workspace_id', '=', workspaceId);
  if (!includeArchived) query = query.where('archived_at', 'is', null);
  const wanted = query.where(createdBetween('created_at', request)).where(seekBehind('created_at', 'id', seek));
  return wanted.orderBy('created_at', seek.order).orderBy('id', seek.order).limit(seek.limit);
}

export function findWorkspace(build: Build, sessionId: string) {
  return build.selectFrom('sessions').select('workspace_id').where('id', '=', sessionId);
}

export function findSession(build: Build, workspaceId: string, id: string) {
  const mine = build.selectFrom('sessions').selectAll().where('id', '=', id);
  return mine.where('workspace_id', '=', workspaceId);
}

/** With the hour of `updatedFrom`, for a store whose index has only hours: see the steps of PostgreSQL. */
type IndexedSessionList = SessionListRequest & { readonly updatedHourFrom?: number };

export function listSessions(build: Build, request: IndexedSessionList) {
  const { order, limit } = toSeek('sessions', request);
  if (request.updatedFrom === undefined)
    return sessionsOf(build, request).selectAll().orderBy('created_at', order).orderBy('id', order).limit(limit);
  // Sorts the keys only, not the data, in case there are many rows.
  const keys = changedSessions(build, request).select('key');
  const found = build.selectFrom('sessions').selectAll().where('key', 'in', keys);
  return found.orderBy('created_at', order).orderBy('id', order);
}

/** The ids of sessions that changed, without their data. */
export function listChangedSessions(build: Build, request: IndexedSessionList & ChangedSessionsRequest) {
  return changedSessions(build, request).select(['id', 'created_at', sql<string>`''`.as('data')]);
}

/** Few sessions changed recently, and the index by update finds them: the plus keeps SQLite from using the index by creation. */
function changedSessions(build: Build, request: IndexedSessionList) {
  const { order, limit } = toSeek('sessions', request);
  return sessionsOf(build, request).orderBy(sql<number>`+created_at`, order).orderBy('id', order).limit(limit);
}

function sessionsOf(build: Build, request: IndexedSessionList) {
  const { workspaceId, includeArchived = false, agentId, agentVersion, statuses, updatedFrom } = request;
  const seek = toSeek('sessions', request);
  let query = build.selectFrom('sessions').where('workspace_id', '=', workspaceId);
  if (!includeArchived) query = query.where('archived_at', 'is', null);
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (agentVersion !== undefined) query = query.where('agent_version', '=', agentVersion);
  if (statuses !== undefined) query = query.where('status', 'in', statuses);
  if (updatedFrom !== undefined) query = query.where('updated_at', '>=', updatedFrom);
  if (request.updatedHourFrom !== undefined) query = query.where(sql`updated_hour`, '>=', request.updatedHourFrom);
  return query.where(createdBetween('created_at', request)).where(seekBehind('created_at', 'id', seek));
}

export function findThread(build: Build, sessionId: string, id: string) {
  return threadsOf(build, sessionId).where('t.id', '=', id);
}

export function listThreads(build: Build, request: Parameters<Store['threads']['list']>[0]) {
  const { sessionId, statuses } = request;
  const seek = toSeek('threads', request);
  let query = threadsOf(build, sessionId);
  if (statuses !== undefined) query = query.where('t.status', 'in', statuses);
  const timed = query.where(createdBetween('t.created_at', request));
  const wanted = timed.where(seekBehind('t.created_at', 't.id', seek));
  return wanted.orderBy('t.created_at', seek.order).orderBy('t.id', seek.order).limit(seek.limit);
}

/** The oldest pending inputs of a session. */
export function peekInputs(build: Build, sessionId: string, limit: number) {
  const joined = build.selectFrom('sessions as s').innerJoin('inputs as i', 'i.session_key', 's.key');
  return joined.selectAll('i').where('s.id', '=', sessionId).orderBy('i.position').limit(limit);
}

/** The newest pending input of a session. */
export function lastInput(build: Build, sessionId: string) {
  const joined = build.selectFrom('sessions as s').innerJoin('inputs as i', 'i.session_key', 's.key');
  return joined.select('i.position').where('s.id', '=', sessionId).orderBy('i.position', 'desc').limit(1);
}

/** The size of all pending inputs of a session. SQLite knows the size of a text without reading it, unless it is cast. */
export function sumInputs(build: Build, sessionId: string, { isJson }: { readonly isJson: boolean }) {
  const joined = build.selectFrom('sessions as s').innerJoin('inputs as i', 'i.session_key', 's.key');
  const data = isJson ? sql`CAST(i.data AS text)` : sql`i.data`;
  const bytes = sql<number>`coalesce(sum(octet_length(${data})), 0)`.as('bytes');
  return joined.select(bytes).where('s.id', '=', sessionId);
}

export function findApproval(build: Build, sessionId: string, id: string) {
  return approvals(build).where('s.id', '=', sessionId).where('a.id', '=', id);
}

export function listApprovals(build: Build, request: Parameters<Store['approvals']['list']>[0]) {
  const { workspaceId, sessionId, isPending } = request;
  const seek = toSeek('approvals', request);
  // Joins the session, because approvals of a deleted session stay until they are erased, and only the session's row is marked as deleted.
  let query = approvals(build).where('a.workspace_id', '=', workspaceId).where('s.workspace_id', '=', workspaceId);
  if (sessionId !== undefined) query = query.where('s.id', '=', sessionId);
  if (isPending !== undefined) query = query.where('a.resolved_at', isPending ? 'is' : 'is not', null);
  const timed = query.where(createdBetween('a.created_at', request));
  const wanted = timed.where(seekBehind('a.created_at', APPROVAL_ID, seek));
  return wanted.orderBy('a.created_at', seek.order).orderBy(APPROVAL_ID, seek.order).limit(seek.limit);
}

export function findWork(build: Build, workspaceId: string, id: string) {
  return build.selectFrom('works').selectAll().where('id', '=', id).where('workspace_id', '=', workspaceId);
}

export function listWorks(build: Build, list: string, request: Parameters<Store['works']['list']>[0]) {
  const { workspaceId, environmentId } = request;
  const seek = toSeek(list, request);
  const mine = build.selectFrom('works').selectAll().where('workspace_id', '=', workspaceId);
  const wanted = mine
    .where('environment_id', '=', environmentId)
    .where(createdBetween('created_at', request))
    .where(seekBehind('created_at', 'id', seek));
  return wanted.orderBy('created_at', seek.order).orderBy('id', seek.order).limit(seek.limit);
}

export function findDocument(build: Build, kind: string, id: string) {
  return build.selectFrom('documents').selectAll().where('kind', '=', kind).where('id', '=', id);
}

export function listDocuments(build: Build, list: string, request: PageRequest & { kind: string }) {
  const { after, order, limit } = toSeek(list, request);
  let query = build.selectFrom('documents').selectAll().where('kind', '=', request.kind);
  if (after !== undefined) query = query.where('id', order === 'asc' ? '>' : '<', after.id);
  return query.orderBy('id', order).limit(limit);
}

export function listDocumentsOfWorkspace(build: Build, request: WorkspaceDocuments) {
  const { kind, workspaceId, limit, above, below, order = 'desc' } = request;
  let query = documentsOfWorkspace(build, kind, workspaceId).selectAll();
  if (above !== undefined) query = query.where('id', '>', above);
  if (below !== undefined) query = query.where('id', '<', below);
  return query.orderBy('id', order).limit(limit);
}

export function countDocumentsOfWorkspace(build: Build, kind: string, workspaceId: string, max: number) {
  const some = documentsOfWorkspace(build, kind, workspaceId).select('id').limit(max).as('some');
  return build.selectFrom(some).select(({ fn }) => fn.countAll<number | string>().as('count'));
}

function documentsOfWorkspace(build: Build, kind: string, workspaceId: string) {
  return build.selectFrom('documents').where('kind', '=', kind).where('workspace_id', '=', workspaceId);
}

/** Two sessions may have approvals with the same id, for example a fork and its origin. Their positions must differ. */
const APPROVAL_ID = sql<string>`a.id || ' ' || s.id`;

function agentVersions(build: Build) {
  const joined = build.selectFrom('agents as a').innerJoin('agent_versions as v', 'v.agent_id', 'a.id');
  return joined.select(['a.id', 'workspace_id', 'created_at', 'archived_at', 'v.version', 'v.updated_at', 'v.data']);
}

function threadsOf(build: Build, sessionId: string) {
  const joined = build.selectFrom('sessions as s').innerJoin('threads as t', 't.session_key', 's.key');
  return joined.selectAll('t').where('s.id', '=', sessionId);
}

function approvals(build: Build) {
  const joined = build.selectFrom('approvals as a').innerJoin('sessions as s', 's.key', 'a.session_key');
  return joined.selectAll('a').select('s.id as session_id');
}
