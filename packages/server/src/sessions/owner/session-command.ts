import { isDeepStrictEqual } from 'node:util';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../base/json.ts';
import type { FramePayloads } from '../../frames/frames.ts';
import { sessionError } from '../session-errors.ts';
import type { SessionState } from '../state.ts';
import { toUpdate } from '../to-update.ts';

/** What somebody wants of a session that only its owner can do, as data: it may have to travel to another process. */
export type SessionCommand =
  | {
      readonly type: 'update';
      readonly changes: Omit<FramePayloads['session.updated'], 'id'>;
      /** What the changes were made on. If it is different by now, they have to be made anew. */
      readonly made_on: { readonly metadata?: JsonObject; readonly agent?: SessionAgent };
    }
  | { readonly type: 'archive' }
  | { readonly type: 'delete' }
  | { readonly type: 'archive_thread'; readonly thread_id: string }
  /** One for which nobody waits any more. */
  | { readonly type: 'too_late' };

/** What is to be done, now that it is known how the session is. Throws what it is refused for. */
export type Deed =
  | { readonly type: 'nothing' }
  | { readonly type: 'outdated' }
  | { readonly type: 'delete' }
  | { readonly type: 'update'; readonly changes: Omit<FramePayloads['session.updated'], 'id'> }
  | { readonly type: 'archive' }
  | { readonly type: 'archive_thread'; readonly threadId: string };

/** The owner looks at the command with the session before it. */
export function toDeed(state: SessionState, command: SessionCommand): Deed {
  switch (command.type) {
    case 'update':
      return toUpdateDeed(state, command);
    case 'archive':
      if (state.isArchived) return { type: 'nothing' };
      checkResting(state);
      return { type: 'archive' };
    case 'delete':
      checkResting(state);
      return { type: 'delete' };
    case 'archive_thread':
      return toThreadDeed(state, command.thread_id);
    case 'too_late':
      throw sessionError('session_elsewhere', `nobody carried it out for ${state.id} in time`);
  }
}

function toUpdateDeed(state: SessionState, command: Extract<SessionCommand, { type: 'update' }>): Deed {
  const { changes, made_on: madeOn } = command;
  if (state.status === 'terminated') throw over(state);
  if (!isAsKnown(madeOn.metadata, state.metadata) || !isAsKnown(madeOn.agent, state.agent)) return { type: 'outdated' };
  const { agent, ...rest } = changes;
  const still = toUpdate(state, { ...rest, ...(agent === undefined ? {} : { agent: () => agent }) });
  return Object.keys(still).length === 0 ? { type: 'nothing' } : { type: 'update', changes: still };
}

/** What was made on has travelled as JSON; what is here may have fields that are undefined. */
function isAsKnown(madeOn: object | undefined, current: object): boolean {
  return madeOn === undefined || isDeepStrictEqual(madeOn, JSON.parse(JSON.stringify(current)));
}

function toThreadDeed(state: SessionState, threadId: string): Deed {
  const thread = state.threads.get(threadId);
  if (thread === undefined) throw sessionError('thread_not_found', `${state.id} has no thread ${threadId}`);
  if (thread.parentId === null) throw sessionError('thread_is_primary', `${threadId} is the primary thread`);
  if (thread.status === 'running' || thread.status === 'rescheduling') {
    throw sessionError('thread_running', `${threadId} is running`);
  }
  if (thread.isArchived) return { type: 'nothing' };
  if (state.status === 'terminated') throw over(state);
  return { type: 'archive_thread', threadId };
}

function checkResting({ id, status }: SessionState): void {
  if (status === 'running' || status === 'rescheduling') throw sessionError('session_running', `${id} is ${status}`);
}

/** Nothing can be done with it any more. */
export function over({ id, isArchived }: Pick<SessionState, 'id' | 'isArchived'>): Error {
  return isArchived
    ? sessionError('session_archived', `${id} is archived`)
    : sessionError('session_terminated', `${id} has ended for good`);
}
