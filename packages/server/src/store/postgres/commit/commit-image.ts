import type { NewAuditEntry } from '../../audit.ts';
import type { EncodedFrame } from '../../frame.ts';
import {
  checkFence,
  checkInputs,
  checkKeyFree,
  checkNew,
  checkNotArchived,
  checkUnresolved,
  checkVersion,
  found,
} from '../../guards.ts';
import type { NewApproval, NewInput, NewKey, NewSession, NewThread, NewWork } from '../../records.ts';
import type { SessionSummary } from '../../summaries.ts';
import { Table, type Undo } from '../../table.ts';
import { type Appended, type Change, type SessionPatch, sessionOf, type Write } from '../../write.ts';

/** The rows of a session that a commit reads and changes, in memory. */
export interface SessionImage {
  readonly key: number;
  readonly id: string;
  readonly workspaceId: string;
  readonly environmentId: string;
  readonly archivedAt: number | null;
  readonly revision: number;
  readonly fence: number;
  readonly head: number;
  readonly inputs: number;
  /** Absent if the session is in the database already. */
  readonly made?: NewSession;
  readonly patch?: Patch;
  readonly summary?: SessionSummary;
  /** Frames to append. The only part that is changed in place: nothing is rejected after frames are added. */
  readonly frames: EncodedFrame[];
}

export type Patch = SessionPatch & { readonly updatedAt: number };

/** A record of a session. It is in the database unless this commit `made` it. */
export interface Part<Made> {
  readonly key: number;
  readonly id: string;
  readonly made?: Made;
}

export type ThreadImage = Part<NewThread> & { readonly patch?: Patch };
export type InputImage = Part<NewInput>;
export type ApprovalImage = Part<NewApproval> & {
  readonly isResolved: boolean;
  readonly resolution?: { readonly time: number; readonly data: object };
};
export type WorkImage = Part<NewWork> & { readonly isOpen: boolean };
export interface KeyImage {
  readonly workspaceId: string;
  readonly key: string;
  readonly isTaken: boolean;
  readonly put?: NewKey;
}

/**
 * The rows that a commit reads and changes. They are locked in the meantime, so the
 * writes can be run here, one after the other, each with what it is refused for; afterwards all that has changed is written
 * at once.
 */
export class CommitImage {
  readonly sessions = new Table<SessionImage>();
  readonly threads = new Table<ThreadImage>();
  readonly inputs = new Table<InputImage>();
  readonly approvals = new Table<ApprovalImage>();
  readonly works = new Table<WorkImage>();
  readonly keys = new Table<KeyImage>();
  /** The revisions of documents that writes depend on. */
  readonly documents = new Map<string, number>();
  /** Entries of the audit log, in their order. */
  readonly audit: NewAuditEntry[] = [];
  /** The time of the database. */
  readonly now: number;
  /** Of sessions that may be created. */
  readonly #freeKeys: number[];

  constructor(now: number, freeKeys: readonly number[]) {
    this.now = now;
    this.#freeKeys = [...freeKeys];
  }

  /** Runs one write, or throws its rejection and leaves nothing of it. */
  run(write: Write): Appended {
    const undo: Undo = [];
    try {
      return this.#run(write, undo);
    } catch (error) {
      for (const step of undo.toReversed()) step();
      throw error;
    }
  }

  #run(write: Write, undo: Undo): Appended {
    const sessionId = sessionOf(write);
    if (write.type === 'create') this.#create(write.session, undo);
    const { fence, head, archivedAt } = found(this.sessions.get(sessionId), sessionId);
    if (write.type === 'append' || write.type === 'delete') checkFence(sessionId, write.fence, fence);
    if (write.type === 'submit') checkNotArchived(sessionId, archivedAt);
    if (write.type === 'delete') {
      this.#delete(sessionId, undo);
      return { firstSeq: head + 1, lastSeq: head };
    }
    for (const change of write.changes) this.#change(sessionId, change, undo);
    if (write.type === 'submit') return { firstSeq: head + 1, lastSeq: head };
    const session = this.sessions.get(sessionId)!;
    for (const frame of write.frames) session.frames.push(frame);
    this.sessions.set(sessionId, { ...session, head: head + write.frames.length });
    return { firstSeq: head + 1, lastSeq: head + write.frames.length };
  }

  #create(made: NewSession, undo: Undo): void {
    const { id, workspaceId, environmentId } = made;
    checkNew(this.sessions.get(id), id);
    const key = this.#freeKeys.pop()!;
    const empty = { archivedAt: null, revision: 1, fence: 0, head: 0, inputs: 0, frames: [] };
    this.sessions.set(id, { key, id, workspaceId, environmentId, made, ...empty }, undo);
  }

  /** Records of the session are no longer found, because lookups use its key. Only items of work have ids of their own. */
  #delete(sessionId: string, undo: Undo): void {
    const { key } = this.sessions.get(sessionId)!;
    this.sessions.delete(sessionId, undo);
    for (const work of this.works.values()) if (work.key === key) this.works.delete(work.id, undo);
  }

  #change(sessionId: string, change: Change, undo: Undo): void {
    const session = this.sessions.get(sessionId)!;
    const { key, workspaceId } = session;
    switch (change.type) {
      case 'update_session': {
        const { patch, updatedAt, ifRevision } = change;
        checkVersion(sessionId, ifRevision, session.revision);
        const { archivedAt = session.archivedAt } = patch;
        const next = { archivedAt, revision: session.revision + 1, patch: merge(session.patch, patch, updatedAt) };
        return this.sessions.set(sessionId, { ...session, ...next }, undo);
      }
      case 'put_summary':
        return this.sessions.set(sessionId, { ...session, summary: change.summary }, undo);
      case 'create_thread': {
        const { id } = change.thread;
        checkNew(this.threads.get(at(key, id)), id);
        return this.threads.set(at(key, id), { key, id, made: change.thread }, undo);
      }
      case 'update_thread': {
        const { threadId: id, patch, updatedAt } = change;
        const thread = found(this.threads.get(at(key, id)), id);
        return this.threads.set(at(key, id), { ...thread, patch: merge(thread.patch, patch, updatedAt) }, undo);
      }
      case 'enqueue_input': {
        const { id } = change.input;
        checkNew(this.inputs.get(at(key, id)), id);
        checkInputs(sessionId, session.inputs);
        this.sessions.set(sessionId, { ...session, inputs: session.inputs + 1 }, undo);
        return this.inputs.set(at(key, id), { key, id, made: change.input }, undo);
      }
      case 'consume_inputs':
        return change.inputIds.forEach((id) => this.#consume(sessionId, id, undo));
      case 'create_approval': {
        const { id } = change.approval;
        checkNew(this.approvals.get(at(key, id)), id);
        return this.approvals.set(at(key, id), { key, id, made: change.approval, isResolved: false }, undo);
      }
      case 'resolve_approval':
      case 'close_approval': {
        const { approvalId: id, time, data } = change;
        const approval = found(this.approvals.get(at(key, id)), id);
        if (change.type === 'resolve_approval') checkUnresolved(id, approval.isResolved);
        if (approval.isResolved) return;
        return this.approvals.set(at(key, id), { ...approval, isResolved: true, resolution: { time, data } }, undo);
      }
      case 'enqueue_work': {
        const { id } = change.work;
        if (this.works.values().some((work) => work.key === key && work.isOpen)) return;
        checkNew(this.works.get(id), id);
        return this.works.set(id, { key, id, made: change.work, isOpen: true }, undo);
      }
      case 'put_key': {
        const { key: name, expiresAt, replaces = false } = change.key;
        const place = placeOfKey(workspaceId, name);
        checkKeyFree(name, !replaces && this.keys.get(place)?.isTaken === true);
        return this.keys.set(place, { workspaceId, key: name, isTaken: expiresAt > this.now, put: change.key }, undo);
      }
      case 'expect_document': {
        const place = placeOfDocument(change.kind, change.id);
        return checkVersion(place, change.revision, this.documents.get(place) ?? 0);
      }
      case 'audit':
        this.audit.push(change.entry);
        return void undo.push(() => this.audit.pop());
    }
  }

  #consume(sessionId: string, id: string, undo: Undo): void {
    const session = this.sessions.get(sessionId)!;
    found(this.inputs.get(at(session.key, id)), id);
    this.inputs.delete(at(session.key, id), undo);
    this.sessions.set(sessionId, { ...session, inputs: session.inputs - 1 }, undo);
  }
}

/** The key of a record of a session in the image. */
export function at(key: number, id: string): string {
  return `${key} ${id}`;
}

/** The key under which the image has an idempotency key. */
export function placeOfKey(workspaceId: string, key: string): string {
  return `${workspaceId} ${key}`;
}

/** The name under which the image has the revision of a document. */
export function placeOfDocument(kind: string, id: string): string {
  return `${kind} ${id}`;
}

function merge(before: Patch | undefined, patch: SessionPatch, updatedAt: number): Patch {
  return { ...before, ...patch, updatedAt };
}
