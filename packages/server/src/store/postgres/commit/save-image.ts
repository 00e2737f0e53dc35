import { foldRuns, isRunMark, toRunListId } from '../../fold-runs.ts';
import { toSummaryValues } from '../../sql/summaries.ts';
import type { Change, Write } from '../../write.ts';
import { toAudit } from '../audit/audit-log.ts';
import type { Statement } from '../connection.ts';
import { inOrder, toAppend } from './append.ts';
import type { CommitImage, InputImage, Patch, SessionImage } from './commit-image.ts';
import {
  deleteParts,
  deleteRows,
  endRuns,
  freeKeys,
  insertRows,
  putSummaries,
  resolveRows,
  updateRows,
} from './rows.ts';

/** The JSON of all data of the writes, serialised when they were submitted: the objects may change later. */
export type Texts = ReadonlyMap<object, string>;

export function toTexts(writes: readonly Write[]): Texts {
  const objects = writes.flatMap((write) => [
    ...(write.type === 'create' ? [write.session.data] : []),
    ...(write.type === 'delete' ? [] : (write.changes as readonly Change[]).flatMap(dataOf)),
  ]);
  return new Map(objects.map((data) => [data, JSON.stringify(data)]));
}

function dataOf(change: Change): object[] {
  switch (change.type) {
    case 'update_session':
    case 'update_thread':
      return change.patch.data === undefined ? [] : [change.patch.data];
    case 'put_summary':
      return [change.summary.data];
    case 'create_thread':
      return [change.thread.data];
    case 'enqueue_input':
      return [change.input.data];
    case 'create_approval':
      return [change.approval.data];
    case 'resolve_approval':
    case 'close_approval':
      return [change.data];
    case 'enqueue_work':
      return [change.work.data];
    case 'put_key':
      return [change.key.result];
    case 'consume_inputs':
    case 'audit':
    case 'expect_document':
      return [];
  }
}

/** The statements that bring the database to the state of the image: one for each kind of change, for any number of rows. */
export function toStatements(before: Loaded, image: CommitImage, texts: Texts): Statement[] {
  const sessions = image.sessions.values();
  const byKey = new Map(sessions.map((session) => [session.key, session]));
  const isThere = ({ key }: { key: number }) => byKey.has(key);
  const textOf = (data: object | undefined) => (data === undefined ? null : texts.get(data)!);
  const threads = image.threads.values().filter(isThere);
  const approvals = image.approvals.values().filter(isThere);
  const inputs = new Set(image.inputs.values());
  const deleted = before.sessionKeys.filter((key) => !byKey.has(key));
  const keys = image.keys.values().flatMap(({ workspaceId, put }) => (put === undefined ? [] : [{ workspaceId, put }]));

  return [
    deleteRows('DELETE FROM ~segments WHERE session_key = ANY ($1::int8[])', deleted),
    deleteRows('DELETE FROM ~sessions WHERE key = ANY ($1::int8[])', deleted),
    insertRows(
      'sessions',
      'key int8, id text, workspace_id text, agent_id text, agent_version int8, environment_id text, status text, revision int8, created_at int8, updated_at int8, archived_at int8, data json',
      sessions.flatMap(({ key, made, patch, revision, archivedAt }) => {
        if (made === undefined) return [];
        const { id, workspaceId, agentId, agentVersion, environmentId, createdAt } = made;
        const { status = made.status, updatedAt = createdAt, data = made.data } = patch ?? {};
        const names = [key, id, workspaceId, agentId, agentVersion, environmentId];
        return [[...names, status, revision, createdAt, updatedAt, archivedAt, textOf(data)]];
      }),
    ),
    insertRows(
      'logs',
      'session_key int8, session_id text',
      sessions.filter(isMade).map(({ key, id }) => [key, id]),
    ),
    updateRows(
      'sessions',
      'key = g.key',
      'key int8, revision int8',
      'revision = g.revision',
      sessions.flatMap(({ key, made, patch, revision }) =>
        made !== undefined || patch === undefined ? [] : [[key, revision, ...toColumns(patch, textOf)]],
      ),
    ),
    putSummaries(
      sessions.flatMap(({ key, id, workspaceId, summary }) =>
        summary === undefined ? [] : [[key, id, workspaceId, ...toSummaryValues(summary, textOf(summary.data)!)]],
      ),
    ),
    insertRows(
      'threads',
      'session_key int8, id text, parent_thread_id text, status text, created_at int8, updated_at int8, archived_at int8, data json',
      threads.flatMap(({ key, made, patch }) => {
        if (made === undefined) return [];
        const { id, parentThreadId, createdAt } = made;
        const { status = made.status, updatedAt = createdAt, archivedAt = null, data = made.data } = patch ?? {};
        return [[key, id, parentThreadId, status, createdAt, updatedAt, archivedAt, textOf(data)]];
      }),
    ),
    updateRows(
      'threads',
      'session_key = g.key AND t.id = g.id',
      'key int8, id text',
      undefined,
      threads.flatMap(({ key, id, made, patch }) =>
        made !== undefined || patch === undefined ? [] : [[key, id, ...toColumns(patch, textOf)]],
      ),
    ),
    deleteParts(
      'inputs',
      before.inputs.filter((input) => isThere(input) && !inputs.has(input)),
    ),
    insertRows(
      'inputs',
      'session_key int8, id text, thread_id text, time int8, data json',
      [...inputs]
        .filter(isThere)
        .flatMap(({ key, made }) =>
          made === undefined ? [] : [[key, made.id, made.threadId, made.time, textOf(made.data)]],
        ),
    ),
    insertRows(
      'approvals',
      'session_key int8, id text, workspace_id text, thread_id text, created_at int8, resolved_at int8, resolution json, data json',
      approvals.flatMap(({ key, made, resolution }) => {
        if (made === undefined) return [];
        const { workspaceId } = byKey.get(key)!;
        const answer = [resolution?.time ?? null, textOf(resolution?.data)];
        return [[key, made.id, workspaceId, made.threadId, made.createdAt, ...answer, textOf(made.data)]];
      }),
    ),
    resolveRows(
      approvals.flatMap(({ key, id, made, resolution }) =>
        made !== undefined || resolution === undefined ? [] : [[key, id, resolution.time, textOf(resolution.data)]],
      ),
    ),
    insertRows(
      'works',
      'id text, workspace_id text, environment_id text, session_key int8, session_id text, state text, revision int8, created_at int8, data json',
      image.works.values().flatMap(({ key, made }) => {
        if (made === undefined) return [];
        const { id, workspaceId, environmentId } = byKey.get(key)!;
        return [[made.id, workspaceId, environmentId, key, id, 'queued', 1, made.createdAt, textOf(made.data)]];
      }),
    ),
    freeKeys(keys.map(({ workspaceId, put }) => [workspaceId, put.key, put.replaces ?? false])),
    insertRows(
      'idempotency_keys',
      'workspace_id text, key text, expires_at int8, result json',
      keys.map(({ workspaceId, put }) => [workspaceId, put.key, put.expiresAt, textOf(put.result)]),
    ),
    // Last, after every row that another node could wait for, to avoid deadlocks.
    image.audit.length === 0 ? undefined : toAudit(image.audit),
    ...toRuns(sessions),
    ...toFrames(sessions),
  ].filter((statement) => statement !== undefined);
}

/** The rows in the database that a write can delete. */
export interface Loaded {
  readonly sessionKeys: readonly number[];
  readonly inputs: readonly InputImage[];
}

export function toLoaded(image: CommitImage): Loaded {
  return { sessionKeys: image.sessions.values().map(({ key }) => key), inputs: image.inputs.values() };
}

function isMade({ made }: { made?: unknown }): boolean {
  return made !== undefined;
}

function toFrames(sessions: readonly SessionImage[]): Statement[] {
  const written = sessions.filter(({ frames }) => frames.length > 0);
  return written.length === 0 ? [] : [toAppend(written.map((each) => ({ ...each, sessionId: each.id })).sort(inOrder))];
}

/** The entries of the index of runs for these frames. */
function toRuns(sessions: readonly SessionImage[]): (Statement | undefined)[] {
  const made: unknown[][] = [];
  const ended: unknown[][] = [];
  for (const { key, id: sessionId, workspaceId, head, frames } of sessions) {
    const firstSeq = head - frames.length + 1;
    const runs = foldRuns(sessionId, [], frames, firstSeq);
    for (const run of runs) {
      const listId = toRunListId(sessionId, run.firstSeq);
      const names = [run.id, sessionId, workspaceId, listId];
      made.push([key, run.firstSeq, run.lastSeq, run.startedAt, run.endedAt, ...names]);
    }
    for (const [index, { mark }] of frames.entries()) {
      const seq = firstSeq + index;
      const isOlder = isRunMark(mark) && mark.isEnd && !runs.some(({ lastSeq }) => lastSeq === seq);
      if (isOlder) ended.push([key, mark.run, seq, mark.time]);
    }
  }
  const columns = 'first_seq int8, last_seq int8, started_at int8, ended_at int8, id text, session_id text';
  return [endRuns(ended), insertRows('runs', `session_key int8, ${columns}, workspace_id text, list_id text`, made)];
}

function toColumns(
  { status, archivedAt, data, updatedAt }: Patch,
  textOf: (data: object | undefined) => string | null,
) {
  return [status ?? null, archivedAt ?? null, textOf(data), updatedAt];
}
