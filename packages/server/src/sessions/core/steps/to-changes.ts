import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import { sessionLimits } from '../limits.ts';
import { runKey } from '../../../frames/run-key.ts';
import type { Change } from '../../../store/write.ts';
import { resultApprovalId } from '../state/approval-id.ts';
import type { Draft } from '../draft.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import type { ApprovalClosedBy } from '../../../frames/payload-parts.ts';
import type { WithdrawnData } from '../../../frames/record-data.ts';
import { toSessionData, toThreadData } from '../state/record-data.ts';
import { type SessionState, type ThreadState, threadOf } from '../state/state.ts';
import { type ThreadActivity, toSummary } from '../state/to-summary.ts';

/** The changes of records that belong to a draft, so that lists need not fold logs. They are committed with the frames. */
export function toChanges({ state, frames, now }: Draft, activity?: ReadonlyMap<string, ThreadActivity>): Change[] {
  if (frames.length === 0) return [];
  const created = new Set<ThreadState>();
  const changed = new Set<ThreadState>();
  const others: Change[] = [];
  let isSessionChanged = false;
  for (const frame of frames) {
    if (frame.type === 'session.thread_created') created.add(threadOf(state, frame.payload.session_thread_id));
    else if (frame.type === 'run.started') others.push(toRunKey(state, frame));
    for (const thread of toChangedThreads(state, frame)) changed.add(thread);
    for (const change of toApprovalChanges(state, frame)) others.push(change);
    isSessionChanged ||= isSessionChange(frame);
  }
  // A new thread is created with its current state.
  const older = [...changed].filter((thread) => !created.has(thread));
  return [
    ...[...created].map((thread) => toCreation(state, thread)),
    ...older.map((thread) => toThreadChange(state, thread, now)),
    ...others,
    ...(isSessionChanged ? [toSessionChange(state, now)] : []),
    { type: 'put_summary', summary: toSummary(state, activity) },
  ];
}

function toChangedThreads(state: SessionState, { type, payload, threadId }: NewSessionFrame): ThreadState[] {
  if (type.startsWith('session.thread_status_') || type === 'span.model_request_end')
    return [threadOf(state, threadId!)];
  // Threads of the session's own agent follow its updates.
  const isNewAgent = type === 'session.updated' && payload.agent !== undefined;
  return isNewAgent ? [...state.threads.values()].filter(({ member }) => member === null) : [];
}

/**
 * Whether a frame changes the status, the usage or the inbox of the session, or is an event of the session outside of its turns,
 * which readers of all sessions find by the time of the change.
 */
function isSessionChange({ type, turn, payload }: NewSessionFrame): boolean {
  if (type.startsWith('session.status_') || sessionChanges.has(type)) return true;
  if (type === 'session.error') return turn === null;
  // The next request of a client is checked against the size in the record.
  const isResult = type === 'user.custom_tool_result' || type === 'user.tool_result';
  return isResult && jsonBytesAtLeast(payload.content) > sessionLimits.sendAtOnceBytesMax;
}

const sessionChanges: ReadonlySet<string> = new Set([
  'session.updated',
  'program.files_rewound',
  // The report of an archived thread is content that waits for its parent.
  'session.thread_status_terminated',
  'span.model_request_end',
  'user.message',
  'system.message',
  'turn.flushed',
  'run.started',
  'run.ended',
]);

/** Runs are found by their own ids. */
function toRunKey({ id }: SessionState, { turn, time }: NewSessionFrame): Change {
  const key = { key: runKey(turn!.run), expiresAt: time + sessionLimits.runKeyMs, result: { session_id: id } };
  return { type: 'put_key', key };
}

/** The change that creates the record of a thread. */
export function toCreation(state: SessionState, thread: ThreadState): Change {
  const { id, parentId: parentThreadId, createdAt } = thread;
  const data = toThreadData(state, thread);
  return { type: 'create_thread', thread: { id, parentThreadId, status: thread.status, createdAt, data } };
}

function toThreadChange(state: SessionState, thread: ThreadState, now: number): Change {
  const archived = thread.isArchived ? { archivedAt: thread.updatedAt } : {};
  const patch = { status: thread.status, data: toThreadData(state, thread), ...archived };
  return { type: 'update_thread', threadId: thread.id, updatedAt: now, patch };
}

function toSessionChange(state: SessionState, now: number): Change {
  const archived = state.isArchived ? { archivedAt: now } : {};
  return {
    type: 'update_session',
    updatedAt: now,
    patch: { status: state.status, data: toSessionData(state), ...archived },
  };
}

/**
 * A call that waits for a decision or a result has a record, so that a client's event is checked without the log. A call of a
 * program can be decided before the program asks: the decision is applied when it does.
 */
function toApprovalChanges({ threads }: SessionState, frame: NewSessionFrame): Change[] {
  const { type, payload, threadId, time } = frame;
  const open = (id: string, data: object): Change[] => [
    { type: 'create_approval', approval: { id, threadId: threadId!, createdAt: time, data } },
  ];
  switch (type) {
    case 'agent.tool_use':
      if (payload.evaluated_permission === 'ask')
        return open(payload.id, toApprovalData('confirmation', 'builtin', payload));
      if (payload.evaluated_permission === 'deny' || payload.runs_at !== 'worker') return [];
      return open(resultApprovalId(payload.id), toApprovalData('result', 'builtin', payload));
    case 'agent.mcp_tool_use':
      return payload.evaluated_permission === 'ask'
        ? open(payload.id, toApprovalData('confirmation', 'mcp', payload, payload.mcp_server_name))
        : [];
    case 'approval.requested': {
      const call = threads.get(threadId!)?.calls.get(payload.tool_use_id);
      // Others have had their record since they were announced.
      const isNew = call !== undefined && call.kind !== 'custom' && !call.isAsked;
      return isNew ? open(call.id, toApprovalData('confirmation', call.kind, call, call.serverName)) : [];
    }
    case 'agent.custom_tool_use':
      return open(resultApprovalId(payload.id), toApprovalData('result', 'custom', payload));
    case 'user.tool_confirmation': {
      const call = threads.get(threadId!)?.calls.get(payload.tool_use_id);
      if (payload.not_applied !== undefined || payload.result === 'deny' || call?.runsAt !== 'worker') return [];
      return open(
        resultApprovalId(call.id),
        toApprovalData('result', 'builtin', { id: call.id, name: call.name, input: call.input }),
      );
    }
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return payload.closes_ask ? [toClosing(payload.closes_ask, payload.closed_by, time)] : [];
    default:
      return [];
  }
}

function toApprovalData(
  expects: 'confirmation' | 'result',
  kind: string,
  use: { id: string; name: string; input: unknown },
  serverName: string | null = null,
): object {
  const { id, name, input } = use;
  const server = serverName === null ? {} : { mcp_server_name: serverName };
  return { expects, kind, tool_use_id: id, name, input, ...server };
}

/** `closed_by` is left out where the program ended the call without a decision. */
function toClosing(approvalId: string, closedBy: ApprovalClosedBy | undefined, time: number): Change {
  const data: WithdrawnData = { interrupted: true, ...(closedBy === undefined ? {} : { closed_by: closedBy }) };
  return { type: 'close_approval', approvalId, time, data };
}
