import { isOpenWork } from '../../guards.ts';
import type { WorkState } from '../../records.ts';
import { type Change, sessionOf, type Write } from '../../write.ts';
import type { Connection, Result, Statement } from '../connection.ts';
import { at, CommitImage, placeOfDocument, placeOfKey, type SessionImage } from './commit-image.ts';

/**
 * Locks the sessions of the writes and reads the rows that the writes check, all in one round trip. A row that is read after a lock
 * is current: each statement sees what was committed before it.
 */
export async function loadImage(connection: Connection, writes: readonly Write[], firstKey: number | undefined) {
  const wanted = toWanted(writes);
  const statements = Object.entries(QUERIES).filter(([name]) => isWanted(wanted, name as Name));
  const results = await connection.queries(
    statements.map(([name, sql]): Statement => ({ sql, values: valuesOf(wanted, name as Name) })),
  );
  const rowsOf = <Row>(name: Name): Row[] => {
    const index = statements.findIndex(([each]) => each === name);
    // The cast: the SQL determines the columns.
    return index === -1 ? [] : (results[index] as Result<Row>).rows;
  };
  return toImage(rowsOf, firstKey);
}

type Name = keyof typeof QUERIES;

/** The records that the writes name, each with its session. */
interface Wanted {
  readonly sessions: Set<string>;
  readonly creates: number;
  readonly threads: Named[];
  readonly inputs: Named[];
  readonly approvals: Named[];
  readonly works: Named[];
  readonly keys: (Named & { readonly workspaceId: string | null })[];
  readonly documents: { readonly kind: string; readonly id: string }[];
}

interface Named {
  readonly sessionId: string;
  readonly id: string;
}

function toWanted(writes: readonly Write[]): Wanted {
  const creates = writes.filter(({ type }) => type === 'create').length;
  const sessions = new Set(writes.map(sessionOf));
  const named = { threads: [], inputs: [], approvals: [], works: [], keys: [], documents: [] };
  const wanted: Wanted = { sessions, creates, ...named };
  for (const write of writes) {
    if (write.type === 'delete') continue;
    const workspaceId = write.type === 'create' ? write.session.workspaceId : null;
    for (const change of write.changes) note(wanted, sessionOf(write), workspaceId, change);
  }
  return wanted;
}

function note(wanted: Wanted, sessionId: string, workspaceId: string | null, change: Change): void {
  switch (change.type) {
    case 'update_session':
    case 'put_summary':
      return;
    case 'create_thread':
      return void wanted.threads.push({ sessionId, id: change.thread.id });
    case 'update_thread':
      return void wanted.threads.push({ sessionId, id: change.threadId });
    case 'enqueue_input':
      return void wanted.inputs.push({ sessionId, id: change.input.id });
    case 'consume_inputs':
      return void wanted.inputs.push(...change.inputIds.map((id) => ({ sessionId, id })));
    case 'create_approval':
      return void wanted.approvals.push({ sessionId, id: change.approval.id });
    case 'resolve_approval':
    case 'close_approval':
      return void wanted.approvals.push({ sessionId, id: change.approvalId });
    case 'enqueue_work':
      return void wanted.works.push({ sessionId, id: change.work.id });
    case 'put_key':
      return void wanted.keys.push({ sessionId, workspaceId, id: change.key.key });
    case 'expect_document':
      return void wanted.documents.push({ kind: change.kind, id: change.id });
    case 'audit':
      return;
  }
}

function isWanted(wanted: Wanted, name: Name): boolean {
  if (name === 'logs' || name === 'now' || name === 'sessions') return true;
  if (name === 'freeKeys') return wanted.creates > 0;
  return wanted[name === 'counts' ? 'inputs' : name].length > 0;
}

function valuesOf(wanted: Wanted, name: Name): unknown[] {
  if (name === 'now') return [];
  if (name === 'logs' || name === 'sessions') return [[...wanted.sessions]];
  if (name === 'freeKeys') return [wanted.creates];
  if (name === 'documents') return [wanted.documents.map(({ kind }) => kind), wanted.documents.map(({ id }) => id)];
  const named = wanted[name === 'counts' ? 'inputs' : name];
  const sessionIds = named.map(({ sessionId }) => sessionId);
  if (name === 'counts') return [[...new Set(sessionIds)]];
  const values = [sessionIds, named.map(({ id }) => id)];
  return name === 'keys' ? [...values, wanted.keys.map(({ workspaceId }) => workspaceId)] : values;
}

function toImage(rowsOf: <Row>(name: Name) => Row[], firstKey = 0): CommitImage {
  const logs = rowsOf<{ session_id: string; fence: number; head: number }>('logs');
  const [time] = rowsOf<{ now: number }>('now');
  const freeKeys = rowsOf<{ number: number }>('freeKeys').map(({ number }) => firstKey + number);
  const image = new CommitImage(time!.now, freeKeys);
  const counts = new Map(rowsOf<{ session_id: string; n: number }>('counts').map(({ session_id: id, n }) => [id, n]));
  const records = new Map(rowsOf<SessionRow>('sessions').map((row) => [row.id, row]));
  for (const { session_id: id, fence, head } of logs) {
    const row = records.get(id);
    if (row === undefined) continue;
    image.sessions.set(row.id, { ...row, fence, head, inputs: counts.get(row.id) ?? 0, frames: [] });
  }
  for (const row of rowsOf<PartRow>('threads')) image.threads.set(at(row.key, row.id), row);
  for (const row of rowsOf<PartRow>('inputs')) image.inputs.set(at(row.key, row.id), row);
  for (const row of rowsOf<PartRow & { isResolved: boolean }>('approvals'))
    image.approvals.set(at(row.key, row.id), row);
  for (const { state, ...row } of rowsOf<PartRow & { state: WorkState }>('works')) {
    image.works.set(row.id, { ...row, isOpen: isOpenWork(state) });
  }
  for (const row of rowsOf<{ workspaceId: string; key: string }>('keys')) {
    image.keys.set(placeOfKey(row.workspaceId, row.key), { ...row, isTaken: true });
  }
  for (const { kind, id, revision } of rowsOf<{ kind: string; id: string; revision: number }>('documents')) {
    image.documents.set(placeOfDocument(kind, id), revision);
  }
  return image;
}

type SessionRow = Pick<SessionImage, 'key' | 'id' | 'workspaceId' | 'environmentId' | 'archivedAt' | 'revision'>;

interface PartRow {
  readonly key: number;
  readonly id: string;
}

const NAMED = `unnest($1::text[], $2::text[]) AS g (session_id, id) JOIN ~logs l USING (session_id)`;

/** The queries in the order in which they are sent. */
const QUERIES = {
  // In the order that every process uses.
  logs: 'SELECT session_id, fence, head FROM ~logs WHERE session_id = ANY ($1) ORDER BY session_id FOR UPDATE',
  now: 'SELECT @now AS now',
  sessions: `
    SELECT key, id, workspace_id AS "workspaceId", environment_id AS "environmentId", archived_at AS "archivedAt", revision
    FROM ~sessions WHERE id = ANY ($1)`,
  freeKeys: `SELECT nextval('~session_keys') AS number FROM generate_series(1, $1)`,
  threads: `SELECT t.session_key AS key, t.id FROM ${NAMED} JOIN ~threads t ON t.session_key = l.session_key AND t.id = g.id`,
  inputs: `SELECT i.session_key AS key, i.id FROM ${NAMED} JOIN ~inputs i ON i.session_key = l.session_key AND i.id = g.id`,
  counts: `
    SELECT l.session_id, count(*) AS n FROM ~logs l JOIN ~inputs i USING (session_key)
    WHERE l.session_id = ANY ($1) GROUP BY 1`,
  approvals: `
    SELECT a.session_key AS key, a.id, a.resolved_at IS NOT NULL AS "isResolved"
    FROM ${NAMED} JOIN ~approvals a ON a.session_key = l.session_key AND a.id = g.id`,
  // Those that the sessions have, and those that have the same name. Workers change them without locking the session.
  works: `
    SELECT w.session_key AS key, w.id, w.state FROM ~works w
    WHERE w.id = ANY ($2) OR
      w.session_key IN (SELECT session_key FROM ~logs WHERE session_id = ANY ($1)) AND w.state <> 'stopped'
    ORDER BY w.id FOR UPDATE`,
  keys: `
    SELECT k.workspace_id AS "workspaceId", k.key
    FROM unnest($1::text[], $2::text[], $3::text[]) AS g (session_id, key, workspace_id)
    LEFT JOIN ~sessions s ON s.id = g.session_id
    JOIN ~idempotency_keys k ON k.workspace_id = coalesce(g.workspace_id, s.workspace_id) AND k.key = g.key
    WHERE k.expires_at > @now`,
  // Shared: many commits depend on one document, and no other process changes it until they are durable.
  documents: `
    SELECT d.kind, d.id, d.revision FROM ~documents d
    WHERE (d.kind, d.id) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY d.kind, d.id FOR SHARE`,
} as const;
