import type { Clock } from '../../base/clock.ts';
import { checkInputs, checkKeyFree, checkNew, checkUnresolved, checkVersion, found } from '../guards.ts';
import type { Change, SessionPatch } from '../write.ts';
import type { AppendAudit } from './audit-log.ts';
import type { Database } from './database.ts';
import { putKey } from './records/keys.ts';
import { SUMMARY_NAMES, SUMMARY_REPLACED, toSummaryValues } from '../sql/summaries.ts';
import { build, builtOnce, firstRow, runQuery } from './build.ts';
import { enqueueWork } from './records/works.ts';

interface At {
  readonly key: number;
  readonly sessionId: string;
  readonly workspaceId: string;
}

/** Changes of records within a write. Each throws its rejection; the caller reverts the write. */
export function createChanges(database: Database, append: AppendAudit, clock: Clock) {
  return (at: At, change: Change): void => {
    switch (change.type) {
      case 'update_session':
        return updateSession(at, change);
      case 'put_summary':
        return putSummary(at, change);
      case 'create_thread':
        return createThread(at, change);
      case 'update_thread':
        return updateThread(at, change);
      case 'enqueue_input':
        return enqueueInput(at, change);
      case 'consume_inputs':
        return change.inputIds.forEach((id) => consumeInput(at, id));
      case 'create_approval':
        return createApproval(at, change);
      case 'resolve_approval':
        return resolveApproval(at, change);
      case 'close_approval':
        return closeApproval(at, change);
      case 'enqueue_work':
        return enqueueWork(database, at, change.work);
      case 'put_key':
        return checkKeyFree(change.key.key, !putKey(database, clock, { ...change.key, workspaceId: at.workspaceId }));
      case 'expect_document': {
        const { kind, id, revision } = change;
        const row = database.prepare<{ revision: number }>(DOCUMENT_REVISION).get(kind, id);
        return checkVersion(`${kind} ${id}`, revision, row?.revision ?? 0);
      }
      case 'audit':
        return append(change.entry);
    }
  };

  function updateSession({ key, sessionId }: At, { ifRevision, updatedAt, patch }: Of<'update_session'>): void {
    const { revision } = found(database.prepare<{ revision: number }>(REVISION).get(key), sessionId);
    checkVersion(sessionId, ifRevision, revision);
    database.prepare(UPDATE_SESSION).run(...toColumns(patch), updatedAt, key);
  }

  function putSummary({ key, sessionId, workspaceId }: At, { summary }: Of<'put_summary'>): void {
    const values = toSummaryValues(summary, JSON.stringify(summary.data));
    database.prepare(PUT_SUMMARY).run(key, sessionId, workspaceId, ...values);
  }

  function createThread({ key }: At, { thread }: Of<'create_thread'>): void {
    const { id, parentThreadId, status, createdAt, data } = thread;
    const row = [key, id, parentThreadId, status, createdAt, createdAt, JSON.stringify(data)];
    if (database.prepare(INSERT_THREAD).run(...row) === 0) checkNew(thread, id);
  }

  function updateThread({ key }: At, { threadId, updatedAt, patch }: Of<'update_thread'>): void {
    const changed = database.prepare(UPDATE_THREAD).run(...toColumns(patch), updatedAt, key, threadId);
    found(changed || undefined, threadId);
  }

  function enqueueInput({ key, sessionId }: At, { input }: Of<'enqueue_input'>): void {
    const { id, threadId, time, data } = input;
    checkNew(firstRow(database, findInput(key, id)), id);
    checkInputs(sessionId, firstRow(database, countInputs(key))?.count ?? 0);
    runQuery(database, insertInput(key, id, threadId, time, JSON.stringify(data)));
  }

  function consumeInput({ key }: At, id: string): void {
    found(runQuery(database, removeInput(key, id)) || undefined, id);
  }

  function createApproval({ key, workspaceId }: At, { approval }: Of<'create_approval'>): void {
    const { id, threadId, createdAt, data } = approval;
    checkNew(findApproval(key, id), id);
    const row = {
      session_key: key,
      id,
      workspace_id: workspaceId,
      thread_id: threadId,
      created_at: createdAt,
      resolved_at: null,
      resolution: null,
      data: JSON.stringify(data),
    };
    runQuery(database, build.insertInto('approvals').values(row));
  }

  function resolveApproval(at: At, change: Of<'resolve_approval'>): void {
    const { approvalId } = change;
    checkUnresolved(approvalId, found(findApproval(at.key, approvalId), approvalId).resolved_at !== null);
    writeResolution(at, change);
  }

  function closeApproval(at: At, change: Of<'close_approval'>): void {
    if (found(findApproval(at.key, change.approvalId), change.approvalId).resolved_at === null)
      writeResolution(at, change);
  }

  function writeResolution({ key }: At, { approvalId, time, data }: Omit<Of<'close_approval'>, 'type'>): void {
    const answer = { resolved_at: time, resolution: JSON.stringify(data) };
    const mine = build.updateTable('approvals').set(answer).where('session_key', '=', key);
    runQuery(database, mine.where('id', '=', approvalId));
  }

  function findApproval(key: number, id: string) {
    const mine = build.selectFrom('approvals').where('session_key', '=', key).where('id', '=', id);
    return firstRow(database, mine.select('resolved_at'));
  }
}

type Of<Type extends Change['type']> = Extract<Change, { type: Type }>;

// These run with every answer of every agent, many in one write when a coordinator opens its children: building the
// query again each time costs more than running it.

const REVISION = 'SELECT revision FROM sessions WHERE key = ?';
const DOCUMENT_REVISION = 'SELECT revision FROM documents WHERE kind = ? AND id = ?';

/** Null values leave a column unchanged: a patch cannot set a column to null. */
const PATCH =
  'status = coalesce(?, status), archived_at = coalesce(?, archived_at), data = coalesce(?, data), updated_at = ?';
const UPDATE_SESSION = `UPDATE sessions SET ${PATCH}, revision = revision + 1 WHERE key = ?`;
const UPDATE_THREAD = `UPDATE threads SET ${PATCH} WHERE session_key = ? AND id = ?`;
const PUT_SUMMARY = `
  INSERT INTO summaries (session_key, session_id, workspace_id, ${SUMMARY_NAMES.join(', ')})
  VALUES (?, ?, ?, ${SUMMARY_NAMES.map(() => '?').join(', ')})
  ON CONFLICT (session_key) DO UPDATE SET ${SUMMARY_REPLACED}`;
const INSERT_THREAD = `
  INSERT INTO threads (session_key, id, parent_thread_id, status, created_at, updated_at, data)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const findInput = builtOnce((key: number, id: string) =>
  build.selectFrom('inputs').select('id').where('session_key', '=', key).where('id', '=', id),
);
const countInputs = builtOnce((key: number) =>
  build
    .selectFrom('inputs')
    .where('session_key', '=', key)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);
const insertInput = builtOnce((key: number, id: string, threadId: string | null, time: number, data: string) =>
  build.insertInto('inputs').values({ session_key: key, id, thread_id: threadId, time, data }),
);
const removeInput = builtOnce((key: number, id: string) =>
  build.deleteFrom('inputs').where('session_key', '=', key).where('id', '=', id),
);

function toColumns({ status, archivedAt, data }: SessionPatch): unknown[] {
  return [status ?? null, archivedAt ?? null, data === undefined ? null : JSON.stringify(data)];
}
