import type { AgentSnapshot } from './agent-snapshot.ts';
import type { DeltaType } from './event.ts';
import type { PageParams } from './page.ts';
import type { Status } from './session.ts';
import type { Usage } from './usage.ts';

/** One thread of a session. The primary thread has no parent. All fields are always present. */
export interface SessionThread {
  readonly type: 'session_thread';
  readonly id: string;
  readonly session_id: string;
  readonly parent_thread_id: string | null;
  readonly agent: AgentSnapshot;
  readonly status: Status;
  /** The times of the thread; null until its status has changed for the first time. */
  readonly stats: ThreadStats | null;
  /** The usage of the thread; null until it is idle for the first time. */
  readonly usage: Usage | null;
  /** Always null: workflow runs are not supported. */
  readonly workflow_run_id: null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** Times of a thread. */
export interface ThreadStats {
  /** How long the thread ran. */
  readonly active_seconds: number;
  /** The time since the creation; for an archived thread, until it was archived. */
  readonly duration_seconds: number;
  /** The time from the creation until the thread ran for the first time. */
  readonly startup_seconds: number;
}

/** `GET /v1/sessions/{session}/threads` */
export interface ThreadListParams extends PageParams {
  readonly statuses?: readonly Status[];
}

/** `GET /v1/sessions/{session}/threads/{thread}/events` */
export type ThreadEventListParams = PageParams;

/** `GET /v1/sessions/{session}/threads/{thread}/stream` */
export interface ThreadStreamParams {
  readonly event_deltas?: readonly DeltaType[];
}
