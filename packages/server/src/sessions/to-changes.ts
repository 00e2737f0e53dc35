import { limits } from '../base/limits.ts';
import { runKey } from '../frames/run-key.ts';
import type { Change } from '../store/write.ts';
import { resultAskId } from './ask-id.ts';
import type { Draft } from './draft.ts';
import type { NewSessionFrame } from '../frames/frames.ts';
import { toSessionData, toThreadData } from './record-data.ts';
import { type SessionState, type ThreadState, threadOf } from './state.ts';

/** What a draft changes in the records beside the log, so that lists need not fold logs. It is written with the frames. */
export function toChanges({ state, frames, now }: Draft): Change[] {
  const created = new Set<ThreadState>();
  const changed = new Set<ThreadState>();
  const others: Change[] = [];
  let isSessionChanged = false;
  for (const frame of frames) {
    if (frame.type === 'session.thread_created') created.add(threadOf(state, frame.payload.session_thread_id));
    else if (frame.type === 'run.started') others.push(toRunKey(state, frame));
    for (const thread of toChangedThreads(state, frame)) changed.add(thread);
    for (const change of toAskChanges(state, frame)) others.push(change);
    isSessionChanged ||= isSessionChange(frame);
  }
  // What is made now is made as it is now.
  const older = [...changed].filter((thread) => !created.has(thread));
  return [
    ...[...created].map((thread) => toCreation(state, thread)),
    ...older.map((thread) => toThreadChange(state, thread, now)),
    ...others,
    ...(isSessionChanged ? [toSessionChange(state, now)] : []),
  ];
}

function toChangedThreads(state: SessionState, { type, payload, threadId }: NewSessionFrame): ThreadState[] {
  if (type.startsWith('session.thread_status_') || type === 'span.model_request_end')
    return [threadOf(state, threadId!)];
  // Whoever works as the session's own agent follows its updates.
  const isNewAgent = type === 'session.updated' && payload.agent !== undefined;
  return isNewAgent ? [...state.threads.values()].filter(({ member }) => member === null) : [];
}

/** Of its status, its usage, or what waits to be taken up. */
function isSessionChange({ type }: NewSessionFrame): boolean {
  return type.startsWith('session.status_') || sessionChanges.has(type);
}

const sessionChanges: ReadonlySet<string> = new Set([
  'session.updated',
  'span.model_request_end',
  'user.message',
  'system.message',
  'turn.flushed',
  'run.started',
  'run.ended',
]);

/** Runs are asked for by their own ids. */
function toRunKey({ id }: SessionState, { turn, time }: NewSessionFrame): Change {
  const key = { key: runKey(turn!.run), expiresAt: time + limits.runKeyMs, result: { session_id: id } };
  return { type: 'put_key', key };
}

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
 * A call that can be answered is a record of its own, so that an answer is checked without the log. A call of a program can
 * be answered before the program asks: the answer is applied when it does.
 */
function toAskChanges({ threads }: SessionState, frame: NewSessionFrame): Change[] {
  const { type, payload, threadId, time } = frame;
  const open = (id: string, data: object): Change[] => [
    { type: 'create_approval', approval: { id, threadId: threadId!, createdAt: time, data } },
  ];
  switch (type) {
    case 'agent.tool_use':
      if (payload.evaluated_permission === 'ask') return open(payload.id, toAsk('confirmation', 'builtin', payload));
      if (payload.evaluated_permission === 'deny' || payload.runs_at !== 'worker') return [];
      return open(resultAskId(payload.id), toAsk('result', 'builtin', payload));
    case 'agent.mcp_tool_use':
      return payload.evaluated_permission === 'ask' ? open(payload.id, toAsk('confirmation', 'mcp', payload)) : [];
    case 'approval.requested': {
      const call = threads.get(threadId!)?.calls.get(payload.tool_use_id);
      // Others have had their record since they were announced.
      const isNew = call !== undefined && call.kind !== 'custom' && !call.isAsked;
      return isNew ? open(call.id, toAsk('confirmation', call.kind, call)) : [];
    }
    case 'agent.custom_tool_use':
      return open(resultAskId(payload.id), toAsk('result', 'custom', payload));
    case 'user.tool_confirmation': {
      const call = threads.get(threadId!)?.calls.get(payload.tool_use_id);
      if (payload.result === 'deny' || call?.runsAt !== 'worker') return [];
      return open(
        resultAskId(call.id),
        toAsk('result', 'builtin', { id: call.id, name: call.name, input: call.input }),
      );
    }
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return payload.closes_ask ? [toClosing(payload.closes_ask, time)] : [];
    default:
      return [];
  }
}

function toAsk(
  expects: 'confirmation' | 'result',
  kind: string,
  use: { id: string; name: string; input: unknown },
): object {
  const { id, name, input } = use;
  return { expects, kind, tool_use_id: id, name, input };
}

function toClosing(approvalId: string, time: number): Change {
  return { type: 'close_approval', approvalId, time, data: { interrupted: true } };
}
