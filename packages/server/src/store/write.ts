import type { FleetloomError } from '../base/errors.ts';
import type { NewAuditEntry } from './audit.ts';
import type { EncodedFrame } from './frame.ts';
import type { NewApproval, NewInput, NewKey, NewSession, NewThread, NewWork, Status } from './records.ts';
import type { SessionSummary } from './summaries.ts';

/**
 * A change of a session: frames and records together, so that a status and its event are never inconsistent.
 *
 * `create` and `append` are made by the session's owner, which the fence proves. `submit` can be made by
 * any node: it submits input or decides an approval. The owner receives a signal and appends the resulting frames.
 */
export type Write<Given = EncodedFrame> =
  | { type: 'create'; session: NewSession; frames: readonly Given[]; changes: readonly Change[] }
  | { type: 'append'; sessionId: string; fence: number; frames: readonly Given[]; changes: readonly Change[] }
  | { type: 'submit'; sessionId: string; changes: readonly SubmitChange[] }
  | { type: 'delete'; sessionId: string; fence: number };

/** A change that any node may make, without owning the session. */
export type SubmitChange =
  | { type: 'enqueue_input'; input: NewInput }
  /** Rejected if the approval is resolved already. */
  | { type: 'resolve_approval'; approvalId: string; time: number; data: object }
  /** Does nothing while an item of the session waits or has a worker: one worker is enough. */
  | { type: 'enqueue_work'; work: NewWork }
  /** Rejects the whole write while the key is in use. */
  | { type: 'put_key'; key: NewKey }
  /** Rejects the whole write unless the document has this revision. The document does not change until the commit. */
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
  /** Closes an approval that the session no longer waits for. Does nothing if it has just been resolved. */
  | { type: 'close_approval'; approvalId: string; time: number; data: object };

/** Changes of a session record. Absent fields stay as they are. */
export interface SessionPatch {
  readonly status?: Status;
  readonly archivedAt?: number;
  readonly data?: object;
}

export type ThreadPatch = SessionPatch;

/** The position of the frames of a write. Without frames, `firstSeq` is `lastSeq + 1`. */
export interface Appended {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Whether a write of a commit was applied. */
export type Outcome = ({ readonly ok: true } & Appended) | { readonly ok: false; readonly error: FleetloomError };

/** Commits writes in order, each completely or not at all. Every store implements it. */
export interface Committer {
  commit(writes: readonly Write[]): Promise<readonly Outcome[]>;
}

export function sessionOf(write: Write<unknown>): string {
  return write.type === 'create' ? write.session.id : write.sessionId;
}

/** Commits a single write and throws its rejection. Frequent writes go through the log, which commits them in groups. */
export async function commitOne(store: Committer, write: Write): Promise<Appended> {
  const [outcome] = await store.commit([write]);
  if (!outcome!.ok) throw outcome!.error;
  return { firstSeq: outcome!.firstSeq, lastSeq: outcome!.lastSeq };
}
