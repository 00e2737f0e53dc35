import type { FleetloomError } from '../base/errors.ts';
import type { NewAuditEntry } from './audit.ts';
import type { EncodedFrame } from './frame.ts';
import type { NewApproval, NewInput, NewKey, NewSession, NewThread, NewWork, Status } from './records.ts';
import type { SessionSummary } from './summaries.ts';

/**
 * Everything that changes a session, frames and records together, so that a status and its event are never apart.
 *
 * `create` and `append` speak for the session; only its owner may append, which the fence proves. `submit` is what
 * any node may do: submit input, decide an approval. The owner receives a signal and appends the frames that follow.
 */
export type Write<Given = EncodedFrame> =
  | { type: 'create'; session: NewSession; frames: readonly Given[]; changes: readonly Change[] }
  | { type: 'append'; sessionId: string; fence: number; frames: readonly Given[]; changes: readonly Change[] }
  | { type: 'submit'; sessionId: string; changes: readonly SubmitChange[] }
  | { type: 'delete'; sessionId: string; fence: number };

/** A change that any node may make, without owning the session. */
export type SubmitChange =
  | { type: 'enqueue_input'; input: NewInput }
  /** Refused when it is answered already. */
  | { type: 'resolve_approval'; approvalId: string; time: number; data: object }
  /** Does nothing while an item of the session is waiting or being worked on: one worker is enough. */
  | { type: 'enqueue_work'; work: NewWork }
  /** Refused, and everything with it, while the key is taken. */
  | { type: 'put_key'; key: NewKey }
  /** Refused, and everything with it, unless the document is at this revision. It is not changed in the meantime. */
  | { type: 'expect_document'; kind: string; id: string; revision: number }
  /** Appends to the audit log of a workspace. */
  | { type: 'audit'; entry: NewAuditEntry };

/** A change that only the owner of the session may make. */
export type Change =
  | SubmitChange
  | { type: 'update_session'; ifRevision?: number; updatedAt: number; patch: SessionPatch }
  /** Replaces the summary of the session. */
  | { type: 'put_summary'; summary: SessionSummary }
  | { type: 'create_thread'; thread: NewThread }
  | { type: 'update_thread'; threadId: string; updatedAt: number; patch: ThreadPatch }
  | { type: 'consume_inputs'; inputIds: readonly string[] }
  | { type: 'create_approval'; approval: NewApproval }
  /** The session no longer waits for it. Does nothing if it has just been answered. */
  | { type: 'close_approval'; approvalId: string; time: number; data: object };

/** What is left out stays as it is. */
export interface SessionPatch {
  readonly status?: Status;
  readonly archivedAt?: number;
  readonly data?: object;
}

export type ThreadPatch = SessionPatch;

/** Where the frames of a write came to lie. Without frames it is empty: `firstSeq` is one past `lastSeq`. */
export interface Appended {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Whether a write of a commit was applied. */
export type Outcome = ({ readonly ok: true } & Appended) | { readonly ok: false; readonly error: FleetloomError };

/** Commits writes in order, each whole or not at all. Every store is one. */
export interface Committer {
  commit(writes: readonly Write[]): Promise<readonly Outcome[]>;
}

export function sessionOf(write: Write<unknown>): string {
  return write.type === 'create' ? write.session.id : write.sessionId;
}

/** One write alone; throws what it was refused for. Many at a time belong into the log, which commits them together. */
export async function commitOne(store: Committer, write: Write): Promise<Appended> {
  const [outcome] = await store.commit([write]);
  if (!outcome!.ok) throw outcome!.error;
  return { firstSeq: outcome!.firstSeq, lastSeq: outcome!.lastSeq };
}
