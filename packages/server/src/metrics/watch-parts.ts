import type { ConnectionUse } from '../store/connection-use.ts';
import type { MetricName } from './catalog.ts';
import type { Registry, Sample } from './registry.ts';

/** The parts of a server whose numbers are read for each request to `/metrics`. */
export interface WatchedParts {
  readonly http: {
    readonly openStreams: number;
    readonly streamsByRoute: ReadonlyMap<string, number>;
    readonly isStopping: boolean;
  };
  readonly admission: Readonly<Record<'work' | 'reads', { readonly waiting: number; readonly rejected: number }>>;
  readonly sessions: () => SessionFigures;
  readonly countNodes: () => number;
  readonly lag: { readonly longestMs: number };
  /** Undefined for a store in this process. */
  readonly database: { readonly isAway: boolean } | undefined;
  readonly connections: ConnectionUse | undefined;
  /** Undefined without a model endpoint. */
  readonly endpoint: (() => EndpointFigures) | undefined;
  readonly listWebhooks: () => readonly WebhookFigures[];
}

interface SessionFigures {
  readonly owned: number;
  readonly running: number;
  readonly withoutOwner: number;
  readonly waitingForNode: number;
  readonly takenOver: number;
  readonly lost: Readonly<Record<'lease' | 'failure', number>>;
}

interface EndpointFigures {
  readonly active: number;
  readonly waiting: number;
  readonly limit: number;
}

interface WebhookFigures {
  readonly label: string;
  readonly delivered: number;
  readonly waiting: number;
  readonly oldestWaitMs: number;
}

/** Registers the metrics of the parts. Parts that a server does not have are skipped. */
export function watchParts(registry: Registry<MetricName>, parts: WatchedParts): void {
  const { http, admission, sessions, lag, database, connections, endpoint, listWebhooks } = parts;
  registry.read('fleetloom_open_streams', () => http.openStreams);
  registry.read('fleetloom_streams', () => toSamples('route', http.streamsByRoute));
  registry.read('fleetloom_stopping', () => (http.isStopping ? 1 : 0));
  const admissions = Object.entries(admission);
  const byKind = (of: 'waiting' | 'rejected') =>
    toSamples(
      'kind',
      admissions.map(([kind, each]) => [kind, each[of]]),
    );
  registry.read('fleetloom_admission_waiting', () => byKind('waiting'));
  registry.read('fleetloom_admission_rejected_total', () => byKind('rejected'));
  registry.read('fleetloom_sessions_owned', () => sessions().owned);
  registry.read('fleetloom_sessions_running', () => sessions().running);
  registry.read('fleetloom_sessions_without_owner', () => sessions().withoutOwner);
  registry.read('fleetloom_sessions_waiting_for_node', () => sessions().waitingForNode);
  registry.read('fleetloom_takeovers_total', () => sessions().takenOver);
  registry.read('fleetloom_sessions_lost_total', () => toSamples('reason', Object.entries(sessions().lost)));
  registry.read('fleetloom_nodes', parts.countNodes);
  registry.read('fleetloom_event_loop_lag_seconds', () => lag.longestMs / 1_000);
  if (database !== undefined) registry.read('fleetloom_database_up', () => (database.isAway ? 0 : 1));
  if (connections !== undefined) watchConnections(registry, connections);
  if (endpoint !== undefined) watchEndpoint(registry, endpoint);
  if (listWebhooks().length > 0) watchWebhooks(registry, listWebhooks);
}

function watchConnections(registry: Registry<MetricName>, use: ConnectionUse): void {
  registry.read('fleetloom_database_connections', () =>
    toSamples('state', Object.entries({ used: use.used, open: use.open, max: use.max })),
  );
  registry.read('fleetloom_database_waiting', () => use.waiting);
  registry.read('fleetloom_database_oldest_wait_seconds', () => use.oldestWaitMs / 1_000);
  registry.read('fleetloom_database_queries_total', () => use.queries);
  registry.read('fleetloom_database_wait_seconds_total', () => use.waitedMs / 1_000);
  registry.read('fleetloom_database_errors_total', () => toSamples('kind', Object.entries(use.failures)));
}

function watchEndpoint(registry: Registry<MetricName>, endpoint: () => EndpointFigures): void {
  registry.read('fleetloom_model_requests_active', () => endpoint().active);
  registry.read('fleetloom_model_requests_waiting', () => endpoint().waiting);
  registry.read('fleetloom_model_requests_limit', () => endpoint().limit);
}

/** Webhooks by origin, because their paths are often secret: several URLs of one origin count as one receiver. */
function watchWebhooks(registry: Registry<MetricName>, list: () => readonly WebhookFigures[]): void {
  const byReceiver = (combine: (sum: number, each: WebhookFigures) => number) => () => {
    const values = new Map<string, number>();
    for (const each of list()) values.set(each.label, combine(values.get(each.label) ?? 0, each));
    return toSamples('receiver', values);
  };
  registry.read(
    'fleetloom_webhook_sessions_behind',
    byReceiver((sum, { waiting }) => sum + waiting),
  );
  registry.read(
    'fleetloom_webhook_behind_seconds',
    byReceiver((longest, { oldestWaitMs }) => Math.max(longest, oldestWaitMs / 1_000)),
  );
  registry.read(
    'fleetloom_webhook_delivered_total',
    byReceiver((sum, { delivered }) => sum + delivered),
  );
}

function toSamples(label: string, values: Iterable<readonly [string, number]>): readonly Sample[] {
  return [...values].map(([name, value]) => ({ labels: { [label]: name }, value }));
}
