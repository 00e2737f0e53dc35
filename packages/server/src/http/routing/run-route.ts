import { idPrefixes } from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { type Answer, ContentAnswer, sendAnswer, writePage } from '../response/answer.ts';
import { type Access, identify } from '../auth/authenticate.ts';
import { orKnown } from '../auth/known-access.ts';
import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import { checkScopes } from './route-scopes.ts';
import type { Credential } from '../../keys/credential.ts';
import type { CredentialWatch } from '../auth/credential-watch.ts';
import { CheckedRequest, checkReach, unknownId, watchCredential } from './checked-request.ts';
import { requestError } from '../../base/request-error.ts';
import type { Admission, AdmissionKind } from '../connections/admission.ts';
import { ClientGone } from '../request/client-gone.ts';
import type { Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import type { PageScope, PageSeals } from '../paging/page-seals.ts';
import type { ReplayMemory, Replays } from '../idempotency/replays.ts';
import { checkInput } from '../request/check-input.ts';
import { holdBody } from '../request/held-bodies.ts';
import { parseBody, readBody } from '../request/read-body.ts';
import { type QuerySchema, readQuery } from '../request/read-query.ts';
import { pathOf } from './request-path.ts';
import type { AnyRoute } from './route.ts';
import type { EventStreams } from '../streams/sse/event-streams.ts';

/** Services shared by all routes. */
export interface RouteServices {
  readonly access: Access;
  /** Counts a request of a key, or throws. */
  readonly countRequest: (key: string) => void;
  readonly replays: Replays;
  readonly pages: PageSeals;
  readonly streams: EventStreams;
  readonly credentials: CredentialWatch;
  /** Throws if the limits of a key do not allow it to change or continue a session. */
  readonly checkSessionLimits?: ((credential: Credential, sessionId: string) => Promise<void>) | undefined;
  readonly bodyBytesMax: number;
  readonly schedule: Schedule;
  /** Delays and rejects requests of a kind while the server is overloaded. Undefined: all requests are admitted. */
  readonly admission?: Readonly<Record<AdmissionKind, Admission>> | undefined;
  readonly clock: Pick<Clock, 'steady'>;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** Creates the endpoint of a route: its handler behind all checks of the contract. */
export function routeEndpoint(route: AnyRoute, services: RouteServices): Endpoint {
  const { method, path, name } = route;
  return {
    method: method.toUpperCase(),
    path,
    name,
    isOffline: route.isOffline === true,
    isRead: method === 'get' && route.gives !== 'stream' && route.takes !== true,
    handle: async (exchange, params) => {
      // HEAD is routed as GET. A stream without a body would never end, and a poll would take work that is then lost.
      const isPossible = (route.gives !== 'stream' && route.takes !== true) || exchange.incoming.method !== 'HEAD';
      if (!isPossible) throw requestError('unknown_path', `there is no HEAD of ${name}`);
      // Before the key and the body are read: a rejection must be much cheaper than a response.
      const kind = kindOf(route);
      if (kind !== undefined) services.admission?.[kind].check();
      const answer = await answerRoute(route, services, exchange, params);
      if (answer !== undefined) sendAnswer(exchange.outgoing, answer);
    },
  };
}

/** Checks a request from the cheapest check to the most expensive one; without a key the body is not read. */
async function answerRoute(
  route: AnyRoute,
  services: RouteServices,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
): Promise<Answer | undefined> {
  const { incoming, outgoing } = exchange;
  const { method } = route;
  const arrivedAt = services.clock.steady();
  const enter = async (kind: AdmissionKind | undefined) =>
    kind === undefined ? undefined : await services.admission?.[kind].enter(arrivedAt);
  const access = route.isOffline === true ? orKnown(services.access, services.schedule) : services.access;
  const identity = await identify(access, incoming.headers, incoming.method ?? '');
  const { credential } = identity;
  exchange.authenticated(credential);
  outgoing.setHeader('anthropic-workspace-id', credential.workspaceId);
  services.countRequest(credential.id);
  checkKind(route, credential);
  checkScopes(route.name, credential);
  checkParams(params, credential);
  const { session_id: sessionId } = params;
  // A limited key may not continue sessions that it may not start.
  if (method !== 'get' && sessionId !== undefined) await services.checkSessionLimits?.(credential, sessionId);
  const querySchema = route.query ?? NO_QUERY;
  const sentQuery = readCheckedQuery(route.name, querySchema, incoming.url ?? '');
  const scope = isPaged(route)
    ? { workspaceId: credential.workspaceId, route: route.name, params, query: sentQuery }
    : undefined;
  const query = scope === undefined ? sentQuery : openPage(services.pages, scope);
  // The body may take minutes to arrive, and the credential may end in the meantime.
  if (route.method === 'post') watchCredential(services.credentials, exchange, identity.secret);
  exchange.acceptBody();
  if (route.method !== 'post' || route.readsBody === true) {
    const leave = await enter(kindOf(route));
    try {
      const input = { params, query, body: undefined };
      const request = new CheckedRequest(exchange, services, identity, input, NO_MEMORY);
      return await runHandler(route, services, request, scope);
    } finally {
      leave?.();
    }
  }

  // The body counts as held until the handler is done: until then it is in memory, several times.
  const held = holdBody(credential.id);
  let leave: (() => void) | undefined;
  try {
    const bytes = await readBody(incoming, services.bodyBytesMax, { held, isJson: true });
    const body = checkInput(route.name, route.body ?? NO_BODY, await parseBody(bytes));
    const run = async (memory: ReplayMemory) => {
      const input = { params, query, body };
      return await runHandler(route, services, new CheckedRequest(exchange, services, identity, input, memory), scope);
    };
    leave = await enter(startsWork(route, body) ? 'work' : undefined);
    if (outgoing.destroyed) throw new ClientGone();
    // The events of a stream are in the log, so a repeated request is another reader, not a replay.
    if (route.gives === 'stream') return await run(NO_MEMORY);
    const repeatable = {
      credential,
      secret: identity.secret,
      method: 'POST',
      // With the query: heartbeats of a worker differ only there.
      path: `${pathOf(incoming)} ${JSON.stringify(query)}`,
      body: bytes,
      idempotencyKey: headerOf(exchange, 'idempotency-key'),
      retryCount: Number(headerOf(exchange, 'x-stainless-retry-count') ?? 0),
    };
    return await services.replays.run(repeatable, async (memory) => (await run(memory))!);
  } finally {
    leave?.();
    held.release();
  }
}

/** The kind for admission. Undefined for requests that are never delayed, and for requests whose body decides. */
function kindOf({ startsWork: starts, method, gives, takes, isOffline }: AnyRoute): AdmissionKind | undefined {
  if (starts === true) return 'work';
  const isRead = method === 'get' && gives !== 'stream' && gives !== 'content' && takes !== true && isOffline !== true;
  return isRead ? 'reads' : undefined;
}

/** Reads and checks a query. Most requests have none, and the result for an empty query is cached per schema. */
function readCheckedQuery(name: string, schema: QuerySchema, url: string): Record<string, unknown> {
  if (url.includes('?')) return checkInput(name, schema, readQuery(schema, url));
  const known = emptyQueries.get(schema) ?? checkInput(name, schema, {});
  emptyQueries.set(schema, known);
  return { ...known };
}

const emptyQueries = new WeakMap<QuerySchema, Record<string, unknown>>();

function startsWork({ startsWork: starts }: AnyRoute, body: unknown): boolean {
  // The cast: the body has passed the schema of the route.
  return typeof starts === 'function' ? starts(body as never) : starts === true;
}

/** Runs the handler. Undefined if it opened a stream, or its content has been sent. */
async function runHandler(
  route: AnyRoute,
  { pages }: RouteServices,
  request: CheckedRequest,
  scope: PageScope | undefined,
): Promise<Answer | undefined> {
  // The cast: the parts were checked by the schemas that the handler's type is made of.
  const result = await route.handle(request as never);
  if (result instanceof ContentAnswer) {
    await request.sendContent(result);
    return undefined;
  }
  if (request.isStream(result)) return undefined;
  if (scope === undefined || result === null) return { status: 200, body: result };
  const page = pages.seal(scope, result);
  return { status: 200, body: page, text: await writePage(page) };
}

/** Whether the route returns a list in pages. */
function isPaged({ query }: AnyRoute): boolean {
  return query !== undefined && Object.hasOwn(query.shape, 'page');
}

function openPage(pages: PageSeals, scope: PageScope): PageScope['query'] {
  const { page } = scope.query;
  return typeof page === 'string' ? { ...scope.query, page: pages.open(scope, page) } : scope.query;
}

// --- checks ---

function checkKind({ name, accepts }: AnyRoute, { kind }: Credential): void {
  if (accepts.includes(kind)) return;
  const whose = kind === 'session' ? 'a session token' : 'an environment key';
  throw requestError('key_not_allowed', `${name} is not for ${whose}`);
}

/** Throws for an id with the prefix of another resource, and for an id that a limited credential does not include. */
function checkParams(params: Readonly<Record<string, string>>, credential: Credential): void {
  for (const [name, id] of Object.entries(params)) {
    const prefix = PREFIXES[name];
    const isPossible = id.length <= httpLimits.pathIdCharsMax && (prefix === undefined || id.startsWith(`${prefix}_`));
    if (!isPossible) throw unknownId(id);
  }
  checkReach(credential, { environmentId: params['environment_id'], sessionId: params['session_id'] });
}

const PREFIXES: Readonly<Record<string, string | undefined>> = {
  agent_id: idPrefixes.agent,
  environment_id: idPrefixes.environment,
  session_id: idPrefixes.session,
  thread_id: idPrefixes.session_thread,
  resource_id: idPrefixes.session_resource,
  work_id: idPrefixes.work,
  file_id: idPrefixes.file,
  flow_id: idPrefixes.oauth_flow,
};

function headerOf({ incoming }: Exchange, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const NO_QUERY: QuerySchema = z.strictObject({});
const NO_BODY = z.strictObject({});
const NO_MEMORY: ReplayMemory = {
  toKey: () => {
    throw new TypeError('only responses to POST are stored');
  },
};
