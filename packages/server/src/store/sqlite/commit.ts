import type { Clock } from '../../base/clock.ts';
import type { EncodedFrame } from '../frame.ts';
import { checkFence, checkNew, checkNotArchived, found } from '../guards.ts';
import type { NewSession } from '../records.ts';
import { runWrites } from '../run-writes.ts';
import { type Appended, sessionOf, type Write } from '../write.ts';
import { createChanges } from './changes.ts';
import type { AppendAudit } from './audit-log.ts';
import type { Database } from './database.ts';
import { build, runQuery } from './build.ts';
import type { Erasures } from './erasures.ts';
import type { RunIndex } from './run-index.ts';
import type { Place, Segments } from './segments.ts';
import type { CreateWrite } from './staged-sessions.ts';

/**
 * Runs writes in one transaction. The frames of a session are collected over all of its writes, so that they become one
 * row: sixteen appends cost hardly more than one.
 */
export function createCommit(database: Database, { segments, runs, erasures, append }: CommitParts, clock: Clock) {
  const runChange = createChanges(database, append, clock);

  return (writes: readonly Write[], staged: Staged = NONE) => {
    try {
      return database.transaction(() => commitWrites(writes, staged));
    } catch (error) {
      segments.forgetKinds();
      throw error;
    }
  };

  function commitWrites(writes: readonly Write[], staged: Staged) {
    const gathered = new Map<string, Gathered>();
    const result = runWrites(writes, (write) => {
      const key = staged.get(write);
      return key === undefined ? runWrite(write, gathered) : runStaged(write as CreateWrite, key);
    });
    for (const [sessionId, { place, frames }] of gathered) {
      if (frames.length === 0) continue;
      segments.append(place, frames);
      runs.append(sessionId, place, frames);
    }
    return result;
  }

  function runWrite(write: Write, gathered: Map<string, Gathered>): Appended {
    const hasRecords = write.type !== 'append' || write.changes.length > 0;
    // Most writes are deltas only. They can be rejected before they change anything, so they need no savepoint.
    const { place, frames } = hasRecords
      ? database.savepoint(() => runRecords(write, gathered))
      : runRecords(write, gathered);
    const firstSeq = place.head + frames.length + 1;
    if (write.type === 'delete') gathered.delete(sessionOf(write));
    else gathered.set(sessionOf(write), { place, frames });
    if (write.type === 'create' || write.type === 'append') for (const frame of write.frames) frames.push(frame);
    return { firstSeq, lastSeq: place.head + frames.length };
  }

  /** Creates a session whose log was staged: sets its id and writes its records. */
  function runStaged({ session, frames, changes }: CreateWrite, key: number): Appended {
    database.savepoint(() => {
      const { id: sessionId, workspaceId } = session;
      checkNew(segments.place(sessionId), sessionId);
      runQuery(database, build.updateTable('sessions').set(toRow(session)).where('key', '=', key));
      database.prepare(CREATE_OWNER).run(sessionId);
      for (const change of changes) runChange({ sessionId, key, workspaceId }, change);
      runs.append(sessionId, { key, workspaceId, head: 0 }, frames);
    });
    return { firstSeq: 1, lastSeq: frames.length };
  }

  function runRecords(write: Write, gathered: Map<string, Gathered>): Gathered {
    const sessionId = sessionOf(write);
    if (write.type === 'create') createSession(write.session, segments.place(sessionId));
    const known = gathered.get(sessionId) ?? { place: found(segments.place(sessionId), sessionId), frames: [] };
    const { place } = known;
    if (write.type === 'append' || write.type === 'delete') checkFence(sessionId, write.fence, place.fence);
    // Read again: an earlier write of this commit may have archived the session.
    if (write.type === 'submit') checkNotArchived(sessionId, found(segments.place(sessionId), sessionId).archivedAt);
    if (write.type === 'delete') erasures.begin(place.key);
    else {
      const at = { sessionId, key: place.key, workspaceId: place.workspaceId };
      for (const change of write.changes) runChange(at, change);
    }
    return known;
  }

  function createSession(session: NewSession, existing: Place | undefined): void {
    checkNew(existing, session.id);
    const row = toRow(session);
    const marks = Object.keys(row).map(() => '?');
    database
      .prepare(`INSERT INTO sessions (${Object.keys(row).join()}) VALUES (${marks.join()})`)
      .run(...Object.values(row));
    database.prepare(CREATE_OWNER).run(session.id);
  }
}

function toRow(session: NewSession) {
  return {
    id: session.id,
    workspace_id: session.workspaceId,
    agent_id: session.agentId,
    agent_version: session.agentVersion,
    environment_id: session.environmentId,
    status: session.status,
    revision: 1,
    created_at: session.createdAt,
    updated_at: session.createdAt,
    archived_at: null,
    data: JSON.stringify(session.data),
  };
}

/** The keys of staged logs, by the writes that create their sessions. */
type Staged = ReadonlyMap<Write, number>;
const NONE: Staged = new Map();

export interface CommitParts {
  readonly segments: Segments;
  readonly runs: Pick<RunIndex, 'append'>;
  readonly erasures: Pick<Erasures, 'begin'>;
  readonly append: AppendAudit;
}

/** The frames that a commit has for a session so far, to be written at its end. */
interface Gathered {
  place: Place;
  frames: EncodedFrame[];
}

const CREATE_OWNER =
  'INSERT INTO owners (session_key, fence, owner, expires_at) SELECT key, 0, NULL, 0 FROM sessions WHERE id = ?';
