/** The description of a metric. `HELP` lines and docs/reference/metrics.md are generated from it. */
export interface MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The names of its labels. */
  readonly labels?: readonly string[];
  /** When the metric exists; by default always. */
  readonly only?: 'database' | 'endpoint' | 'webhooks';
}

/** Every metric of `/metrics`. A metric that is not in this table cannot be registered. */
export const metricCatalog = {
  fleetloom_http_requests_total: {
    type: 'counter',
    help: 'Requests that are over, by route and status.',
    labels: ['route', 'status'],
  },
  fleetloom_http_errors_total: {
    type: 'counter',
    help: 'Requests that were answered with a server error, by status; the checks of /readyz are not counted.',
    labels: ['status'],
  },
  fleetloom_http_request_duration_seconds: {
    type: 'histogram',
    help: 'How long requests took, streams not counted.',
  },
  fleetloom_open_streams: { type: 'gauge', help: 'Event streams that are open.' },
  fleetloom_streams: { type: 'gauge', help: 'Event streams that are open, by route.', labels: ['route'] },
  fleetloom_admission_waiting: {
    type: 'gauge',
    help: 'Requests that wait to be let in: for new work, and reads.',
    labels: ['kind'],
  },
  fleetloom_admission_rejected_total: {
    type: 'counter',
    help: 'Requests that were rejected with 529 because of overload: for new work, and reads.',
    labels: ['kind'],
  },

  fleetloom_sessions_owned: {
    type: 'gauge',
    help: 'Sessions that this node owns: leases that it holds.',
  },
  fleetloom_sessions_running: { type: 'gauge', help: 'Sessions at work in this process.' },
  fleetloom_sessions_without_owner: {
    type: 'gauge',
    help: 'Sessions with work to do that no node owns, as of the last look of this node, which sees those of all nodes.',
  },
  fleetloom_sessions_waiting_for_node: {
    type: 'gauge',
    help: 'Those of them that wait for the node with their files.',
  },
  fleetloom_takeovers_total: {
    type: 'counter',
    help: 'Sessions at work that this node took over, from another node or from an earlier process of its own.',
  },
  fleetloom_sessions_lost_total: {
    type: 'counter',
    help: 'Sessions that this node stopped running: `lease`: its lease expired or another node took over; `failure`: a write failed.',
    labels: ['reason'],
  },

  fleetloom_frames_appended_total: { type: 'counter', help: 'Frames that were committed.' },
  fleetloom_commit_latency_seconds: {
    type: 'histogram',
    help: 'From the moment that something is to be written until it is durable.',
  },
  fleetloom_commit_failures_total: {
    type: 'counter',
    help: 'Writes that failed because the database or the disk did.',
  },
  fleetloom_commit_queue_writes: { type: 'gauge', help: 'Writes that are not durable yet.' },
  fleetloom_commit_oldest_wait_seconds: {
    type: 'gauge',
    help: 'How long the oldest write that is not durable has waited.',
  },

  fleetloom_egress_connections_total: {
    type: 'counter',
    help: 'Connections of commands to other hosts, by outcome: `opened` or `refused`.',
    labels: ['outcome'],
  },
  fleetloom_egress_bytes_total: {
    type: 'counter',
    help: 'Bytes of such connections that are closed, by direction.',
    labels: ['direction'],
  },

  fleetloom_model_requests_total: {
    type: 'counter',
    help: 'Model requests that are over, by outcome.',
    labels: ['outcome'],
  },
  fleetloom_model_retries_total: {
    type: 'counter',
    help: 'Model requests that failed and are repeated, by the reason of the failure.',
    labels: ['reason'],
  },
  fleetloom_model_requests_active: {
    type: 'gauge',
    help: 'Model requests in flight at the configured endpoint.',
    only: 'endpoint',
  },
  fleetloom_model_requests_waiting: {
    type: 'gauge',
    help: 'Model requests that wait until the endpoint may receive another one.',
    only: 'endpoint',
  },
  fleetloom_model_requests_limit: {
    type: 'gauge',
    help: 'How many model requests may be in flight now: fewer after the endpoint answered 429 or 529.',
    only: 'endpoint',
  },
  fleetloom_tool_calls_total: {
    type: 'counter',
    help: 'Calls of tools by what kind of tool it is.',
    labels: ['kind'],
  },

  fleetloom_webhook_sessions_behind: {
    type: 'gauge',
    help: 'Sessions with events that a webhook has not received yet, by its origin.',
    labels: ['receiver'],
    only: 'webhooks',
  },
  fleetloom_webhook_behind_seconds: {
    type: 'gauge',
    help: 'For how long the oldest of these sessions has had undelivered events, as far as this process knows.',
    labels: ['receiver'],
    only: 'webhooks',
  },
  fleetloom_webhook_delivered_total: {
    type: 'counter',
    help: 'Events that a webhook has accepted.',
    labels: ['receiver'],
    only: 'webhooks',
  },

  fleetloom_nodes: { type: 'gauge', help: 'Live nodes as of the last heartbeat of this node, itself included.' },
  fleetloom_stopping: { type: 'gauge', help: '1 from SIGTERM on, otherwise 0.' },
  fleetloom_event_loop_lag_seconds: {
    type: 'gauge',
    help: 'The longest delay of the event loop in the last 15 to 30 s.',
  },
  fleetloom_database_up: {
    type: 'gauge',
    help: '1 while the database answers the check of every second, otherwise 0.',
    only: 'database',
  },
  fleetloom_database_connections: {
    type: 'gauge',
    help: 'Connections for reads and records: `used` are in use, `open` are open, `max` is the limit.',
    labels: ['state'],
    only: 'database',
  },
  fleetloom_database_waiting: {
    type: 'gauge',
    help: 'Queries that wait for a connection.',
    only: 'database',
  },
  fleetloom_database_oldest_wait_seconds: {
    type: 'gauge',
    help: 'How long the oldest of these queries has waited.',
    only: 'database',
  },
  fleetloom_database_queries_total: {
    type: 'counter',
    help: 'Times that a connection was taken for a query or a transaction.',
    only: 'database',
  },
  fleetloom_database_wait_seconds_total: {
    type: 'counter',
    help: 'How long all of these have waited for a connection.',
    only: 'database',
  },
  fleetloom_database_errors_total: {
    type: 'counter',
    help: 'Failures of the database: `unreachable`: no connection; `lost`: it broke; `refused`: an error was the response.',
    labels: ['kind'],
    only: 'database',
  },

  process_start_time_seconds: { type: 'gauge', help: 'When this process started, in seconds since 1970.' },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of this process.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of this process.' },
  nodejs_heap_used_bytes: { type: 'gauge', help: 'The part of the heap that is in use.' },
  nodejs_heap_max_bytes: { type: 'gauge', help: 'The size up to which the heap may grow.' },
} as const satisfies Readonly<Record<string, MetricDescription>>;

/** The name of a metric in the table. */
export type MetricName = keyof typeof metricCatalog;
