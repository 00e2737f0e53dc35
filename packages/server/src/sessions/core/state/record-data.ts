import type { SessionData, ThreadData } from '../../../frames/record-data.ts';
import { agentOf } from './agent-of.ts';
import { contentBytesOf } from './content-bytes.ts';
import type { SessionState, ThreadState } from './state.ts';

/** The data of the session record. */
export function toSessionData(state: SessionState): SessionData {
  return {
    agent: state.agent,
    environment_type: state.created.environment.type,
    primary_thread_id: state.created.primary_thread_id,
    title: state.title,
    metadata: state.metadata,
    budget: state.budget,
    usage: state.usage,
    stop: state.stop,
    active: { ...state.active },
    thread_active_ms: [...state.threads.values()].reduce((sum, { active }) => sum + active.totalMs, 0),
    run: state.newestRun,
    waiting_ids: [...state.threads.values()].flatMap(({ inbox }) =>
      inbox.filter(({ type }) => type !== 'letter').map(({ id }) => id),
    ),
    content_bytes: contentBytesOf(state),
    ...(state.created.vault_ids === undefined ? {} : { vault_ids: state.created.vault_ids }),
    ...(state.created.is_read_only === true ? { is_read_only: true } : {}),
  };
}

/** The data of a thread record. */
export function toThreadData(state: SessionState, thread: ThreadState): ThreadData {
  const { depth, usage, stop, startedAt } = thread;
  return {
    agent: agentOf(state, thread),
    depth,
    usage,
    stop,
    active: { ...thread.active },
    started_at: startedAt,
    ...(thread.programKey === null ? {} : { is_sub_agent: true as const }),
  };
}
