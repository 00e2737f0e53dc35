import type { PageParams } from './page.ts';

/** A session that waits for a worker of its self-hosted environment, or has one. */
export interface Work {
  readonly type: 'work';
  readonly id: string;
  readonly environment_id: string;
  readonly data: { readonly type: 'session' | 'healthcheck'; readonly id: string };
  readonly state: WorkState;
  readonly metadata: Readonly<Record<string, string>>;
  /** Only in the response to a poll: a `WorkSecret` as JSON in base64url. */
  readonly secret: string | null;
  readonly created_at: string;
  readonly acknowledged_at: string | null;
  readonly started_at: string | null;
  readonly latest_heartbeat_at: string | null;
  readonly stop_requested_at: string | null;
  readonly stopped_at: string | null;
}

/** The state of a work item. */
export type WorkState = 'queued' | 'starting' | 'active' | 'stopping' | 'stopped';

/** What a worker needs to run a session. */
export interface WorkSecret {
  /** The worker's key for this session. */
  readonly sessions_token: string;
  readonly api_base_url?: string;
}

/** The response to a heartbeat. */
export interface WorkHeartbeat {
  readonly type: 'work_heartbeat';
  readonly last_heartbeat: string;
  readonly lease_extended: boolean;
  readonly state: WorkState;
  readonly ttl_seconds: number;
}

/** The response to a worker whose heartbeat came too late. */
export interface WorkLeaseState {
  readonly last_heartbeat: string | null;
  readonly lease_extended: boolean;
  readonly state: WorkState;
  readonly ttl_seconds: number;
}

/** Figures of an environment's work queue. */
export interface WorkQueueStats {
  readonly type: 'work_queue_stats';
  readonly depth: number;
  readonly pending: number;
  readonly oldest_queued_at: string | null;
  readonly workers_polling: number | null;
}

/** `GET /v1/environments/{environment}/work/poll` */
export interface WorkPollParams {
  readonly block_ms?: number | null;
  readonly reclaim_older_than_ms?: number | null;
  /** The id of the worker, sent as a header. */
  readonly 'Anthropic-Worker-ID'?: string;
}

/** `POST …/work/{work}/heartbeat`, in the query. */
export interface WorkHeartbeatParams {
  readonly desired_ttl_seconds?: number | null;
  /** `NO_HEARTBEAT` for the first one, then the value of the previous response. */
  readonly expected_last_heartbeat?: string | null;
}

/** `POST …/work/{work}/stop` */
export interface WorkStopParams {
  readonly force?: boolean;
}

/** `POST …/work/{work}`: merged key by key; null removes a key. */
export interface WorkUpdateParams {
  readonly metadata: Readonly<Record<string, string | null>>;
}

/** `GET …/work` */
export type WorkListParams = PageParams;
