import type { Clock } from '../../base/clock.ts';
import { checkInputs, checkKeyFree, checkNew, checkUnresolved, checkVersion, found } from '../guards.ts';
import type { Change, SessionPatch } from '../write.ts';
import type { Database } from './database.ts';
import { putKey } from './keys.ts';
import { build, firstRow, runQuery } from './schema.ts';

interface At {
  readonly key: number;
  readonly sessionId: string;
  readonly workspaceId: string;
}

/** Changes of records within a write. Each throws what it is refused for; the caller takes back what was done. */
export function createChanges(database: Database, clock: Clock) {
  return (at: At, change: Change): void => {
    switch (change.type) {
      case 'update_session':
        return updateSession(at, change);
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
      case 'put_key':
        return checkKeyFree(change.key.key, !putKey(database, clock, { ...change.key, workspaceId: at.workspaceId }));
    }
  };

  function updateSession({ key, sessionId }: At, { ifRevision, updatedAt, patch }: Of<'update_session'>): void {
    const query = build.selectFrom('sessions').select('revision').where('key', '=', key);
    const { revision } = found(firstRow(database, query), sessionId);
    checkVersion(sessionId, ifRevision, revision);
    const columns = { ...toColumns(patch), updated_at: updatedAt, revision: revision + 1 };
    runQuery(database, build.updateTable('sessions').set(columns).where('key', '=', key));
  }

  function createThread({ key }: At, { thread }: Of<'create_thread'>): void {
    const { id, parentThreadId, status, createdAt, data } = thread;
    const existing = build.selectFrom('threads').select('id').where('session_key', '=', key).where('id', '=', id);
    checkNew(firstRow(database, existing), id);
    const row = {
      session_key: key,
      id,
      parent_thread_id: parentThreadId,
      status,
      created_at: createdAt,
      updated_at: createdAt,
      archived_at: null,
      data: JSON.stringify(data),
    };
    runQuery(database, build.insertInto('threads').values(row));
  }

  function updateThread({ key }: At, { threadId, updatedAt, patch }: Of<'update_thread'>): void {
    const columns = { ...toColumns(patch), updated_at: updatedAt };
    const query = build.updateTable('threads').set(columns).where('session_key', '=', key).where('id', '=', threadId);
    found(runQuery(database, query) || undefined, threadId);
  }

  function enqueueInput({ key, sessionId }: At, { input }: Of<'enqueue_input'>): void {
    const { id, threadId, time, data } = input;
    const mine = build.selectFrom('inputs').where('session_key', '=', key);
    checkNew(firstRow(database, mine.select('id').where('id', '=', id)), id);
    const count = firstRow(
      database,
      mine.select(({ fn }) => fn.countAll<number>().as('count')),
    );
    checkInputs(sessionId, count?.count ?? 0);
    const row = { session_key: key, id, thread_id: threadId, time, data: JSON.stringify(data) };
    runQuery(database, build.insertInto('inputs').values(row));
  }

  function consumeInput({ key }: At, id: string): void {
    const query = build.deleteFrom('inputs').where('session_key', '=', key).where('id', '=', id);
    found(runQuery(database, query) || undefined, id);
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

  function resolveApproval({ key }: At, { approvalId, time, data }: Of<'resolve_approval'>): void {
    checkUnresolved(approvalId, found(findApproval(key, approvalId), approvalId).resolved_at !== null);
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

function toColumns({ status, archivedAt, data }: SessionPatch) {
  return {
    ...(status === undefined ? {} : { status }),
    ...(archivedAt === undefined ? {} : { archived_at: archivedAt }),
    ...(data === undefined ? {} : { data: JSON.stringify(data) }),
  };
}
