import type { Clock } from '../../base/clock.ts';
import { StoredFrame } from '../frame.ts';
import {
  checkFence,
  checkInputs,
  checkKeyFree,
  checkNew,
  checkNotArchived,
  checkUnresolved,
  checkVersion,
  found,
  isOpenWork,
} from '../guards.ts';
import type { NewSession, SessionRecord, WorkRecord } from '../records.ts';
import { foldRuns } from '../fold-runs.ts';
import { runWrites } from '../run-writes.ts';
import type { Undo } from '../table.ts';
import { type Appended, type Change, sessionOf, type Write } from '../write.ts';
import { appendAudit } from './audit-log.ts';
import { keep, type State } from './state.ts';

/** Runs writes one after the other. A rejected write is reverted, the others stay. */
export function commitWrites(state: State, clock: Clock, writes: readonly Write[]) {
  return runWrites(writes, (write) => {
    const undo: Undo = [];
    try {
      return runWrite(state, clock, write, undo);
    } catch (error) {
      for (const step of undo.toReversed()) step();
      throw error;
    }
  });
}

function runWrite(state: State, clock: Clock, write: Write, undo: Undo): Appended {
  if (write.type === 'create') createSession(state, write.session, undo);
  const sessionId = sessionOf(write);
  const session = found(state.sessions.get(sessionId), sessionId);
  const log = found(state.logs.get(sessionId), sessionId);
  if (write.type === 'append' || write.type === 'delete') checkFence(sessionId, write.fence, log.fence);
  if (write.type === 'submit') checkNotArchived(sessionId, session.archivedAt);
  if (write.type === 'delete') {
    deleteSession(state, sessionId, undo);
    return { firstSeq: log.head + 1, lastSeq: log.head };
  }
  for (const change of write.changes) runChange(state, clock, session, change, undo);
  const frames = write.type === 'submit' ? [] : write.frames;
  // In place, because a copy for each append would make long logs slow. Nothing can be rejected after this point.
  for (const [index, { bytes, mark }] of frames.entries()) {
    log.entries.push(new StoredFrame(sessionId, log.head + 1 + index, bytes));
    if (mark !== 'delta') log.eventSeqs.push(log.head + 1 + index);
  }
  const runs = foldRuns(sessionId, log.runs, frames, log.head + 1);
  state.logs.set(sessionId, { ...log, runs, head: log.head + frames.length }, undo);
  return { firstSeq: log.head + 1, lastSeq: log.head + frames.length };
}

function createSession(state: State, session: NewSession, undo: Undo): void {
  checkNew(state.sessions.get(session.id), session.id);
  const record = { ...session, revision: 1, updatedAt: session.createdAt, archivedAt: null };
  keep(state.sessions, session.id, record, undo);
  const empty = { entries: [], eventSeqs: [], runs: [], checkpoints: [], epoch: 0 };
  state.logs.set(session.id, { ...empty, head: 0, fence: 0, owner: null, expiresAt: 0 }, undo);
}

function deleteSession(state: State, sessionId: string, undo: Undo): void {
  state.sessions.delete(sessionId, undo);
  state.summaries.delete(sessionId, undo);
  state.logs.delete(sessionId, undo);
  for (const work of state.works.values()) if (work.sessionId === sessionId) state.works.delete(work.id, undo);
  for (const table of [state.threads, state.inputs, state.approvals]) {
    for (const record of table.values()) {
      if (record.sessionId === sessionId) table.delete(`${sessionId} ${record.id}`, undo);
    }
  }
}

function runChange(
  state: State,
  clock: Clock,
  { id: sessionId, workspaceId, environmentId }: SessionRecord,
  change: Change,
  undo: Undo,
) {
  const keyOf = (id: string) => `${sessionId} ${id}`;
  switch (change.type) {
    case 'update_session': {
      const session = found(state.sessions.get(sessionId), sessionId);
      checkVersion(sessionId, change.ifRevision, session.revision);
      const { patch, updatedAt } = change;
      keep(state.sessions, sessionId, { ...session, ...patch, updatedAt, revision: session.revision + 1 }, undo);
      return;
    }
    case 'put_summary': {
      const { createdAt } = state.summaries.get(sessionId) ?? change.summary;
      keep(state.summaries, sessionId, { ...change.summary, createdAt, sessionId, workspaceId }, undo);
      return;
    }
    case 'create_thread': {
      const { thread } = change;
      checkNew(state.threads.get(keyOf(thread.id)), thread.id);
      const record = { ...thread, sessionId, updatedAt: thread.createdAt, archivedAt: null };
      keep(state.threads, keyOf(thread.id), record, undo);
      return;
    }
    case 'update_thread': {
      const { threadId, patch, updatedAt } = change;
      const thread = found(state.threads.get(keyOf(threadId)), threadId);
      keep(state.threads, keyOf(threadId), { ...thread, ...patch, updatedAt }, undo);
      return;
    }
    case 'enqueue_input': {
      const { input } = change;
      checkNew(state.inputs.get(keyOf(input.id)), input.id);
      checkInputs(sessionId, state.inputs.values().filter((other) => other.sessionId === sessionId).length);
      keep(state.inputs, keyOf(input.id), { ...input, sessionId, position: ++state.lastPosition }, undo);
      return;
    }
    case 'consume_inputs':
      for (const id of change.inputIds) {
        found(state.inputs.get(keyOf(id)), id);
        state.inputs.delete(keyOf(id), undo);
      }
      return;
    case 'create_approval': {
      const { approval } = change;
      checkNew(state.approvals.get(keyOf(approval.id)), approval.id);
      keep(state.approvals, keyOf(approval.id), { ...approval, workspaceId, sessionId, resolution: null }, undo);
      return;
    }
    case 'resolve_approval': {
      const { approvalId, time, data } = change;
      const approval = found(state.approvals.get(keyOf(approvalId)), approvalId);
      checkUnresolved(approvalId, approval.resolution !== null);
      keep(state.approvals, keyOf(approvalId), { ...approval, resolution: { time, data } }, undo);
      return;
    }
    case 'close_approval': {
      const { approvalId, time, data } = change;
      const approval = found(state.approvals.get(keyOf(approvalId)), approvalId);
      if (approval.resolution === null) {
        keep(state.approvals, keyOf(approvalId), { ...approval, resolution: { time, data } }, undo);
      }
      return;
    }
    case 'enqueue_work': {
      const { work } = change;
      const isThere = ({ sessionId: ofSession, state: at }: WorkRecord) => ofSession === sessionId && isOpenWork(at);
      if (state.works.values().some(isThere)) return;
      checkNew(state.works.get(work.id), work.id);
      const none = { claimedAt: null, leasedUntil: null };
      const record = { ...work, workspaceId, environmentId, sessionId, state: 'queued', revision: 1, ...none };
      keep(state.works, work.id, record, undo);
      return;
    }
    case 'put_key': {
      const { replaces = false, ...key } = change.key;
      const id = `${workspaceId} ${key.key}`;
      checkKeyFree(key.key, !replaces && (state.keys.get(id)?.expiresAt ?? -Infinity) > clock.now());
      keep(state.keys, id, { ...key, workspaceId }, undo);
      return;
    }
    case 'expect_document': {
      const place = `${change.kind} ${change.id}`;
      checkVersion(place, change.revision, state.documents.get(place)?.revision ?? 0);
      return;
    }
    case 'audit':
      return appendAudit(state, clock, change.entry, undo);
  }
}
