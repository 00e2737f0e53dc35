import { idPrefixes } from '@fleetloom/protocol/managed-agents';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import { type Answer, ContentAnswer, sendAnswer, sendContent, writePage } from './answer.ts';
import type { App } from './app.ts';
import { type Access, identify } from './auth/authenticate.ts';
import type { Credential } from './auth/credential.ts';
import type { CredentialWatch } from './auth/credential-watch.ts';
import { CheckedRequest, checkReach, unknownId } from './checked-request.ts';
import { doorError } from './door-error.ts';
import { type Exchange, pathOf } from './exchange.ts';
import type { PageScope, PageSeals } from './page-seals.ts';
import type { ReplayMemory, Replays } from './replays.ts';
import { checkInput } from './request/check-input.ts';
import { type HeldBody, holdBody } from './request/held-bodies.ts';
import { parseBody, readBody } from './request/read-body.ts';
import { type QuerySchema, readQuery } from './request/read-query.ts';
import type { AnyRoute } from './route.ts';
import type { EventStream } from './sse/event-stream.ts';
import type { EventStreams } from './sse/event-streams.ts';

/** What all routes share. */
export interface RouteServices {
  readonly access: Access;
  /** Counts a request of a key, or throws. */
  readonly countRequest: (key: string) => void;
  readonly replays: Replays;
  readonly pages: PageSeals;
  readonly streams: EventStreams;
  readonly credentials: CredentialWatch;
  readonly bodyBytesMax: number;
  readonly onMishap: (error: unknown, requestId: string) => void;
}

/** Lets a route be reached, behind all checks that its contract asks for. */
export function mountRoute(app: App, route: AnyRoute, services: RouteServices): void {
  const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
  app.on(route.method.toUpperCase(), path, async (context) => {
    const { exchange } = context.env;
    try {
      // Hono routes HEAD as GET. A stream without a body would never end, and taken work would be lost.
      const isPossible = (route.gives !== 'stream' && route.takes !== true) || exchange.incoming.method !== 'HEAD';
      if (!isPossible) throw doorError('unknown_path', `there is no HEAD of ${route.name}`);
      const answer = await holdingBody((hold) =>
        answerRoute(route, services, exchange, { params: context.req.param(), hold }),
      );
      if (answer !== undefined) sendAnswer(exchange.outgoing, answer);
    } catch (error) {
      exchange.refuse(error, services.onMishap);
    }
    return RESPONSE_ALREADY_SENT;
  });
}

/** The body that work reads counts as held until the work is over: until then it is in memory, several times. */
async function holdingBody<Result>(work: (hold: (key: string) => HeldBody) => Promise<Result>): Promise<Result> {
  let held: HeldBody | undefined;
  try {
    return await work((key) => (held = holdBody(key)));
  } finally {
    held?.release();
  }
}

/** From the cheapest check to the dearest, and nothing of a stranger is read. Undefined: it became a stream. */
async function answerRoute(
  route: AnyRoute,
  services: RouteServices,
  exchange: Exchange,
  { params, hold }: { params: Record<string, string>; hold: (key: string) => HeldBody },
): Promise<Answer | undefined> {
  const { incoming, outgoing } = exchange;
  exchange.route = route.name;
  const { credential, secret } = await identify(services.access, incoming.headers, incoming.method ?? '');
  exchange.authenticated(credential);
  outgoing.setHeader('anthropic-workspace-id', credential.workspaceId);
  services.countRequest(credential.id);
  checkKind(route, credential);
  checkParams(params, credential);
  const asked = checkInput(route.name, route.query ?? NO_QUERY, readQuery(route.query ?? NO_QUERY, incoming.url ?? ''));
  const scope = isPaged(route)
    ? { workspaceId: credential.workspaceId, route: route.name, params, query: asked }
    : undefined;
  const query = scope === undefined ? asked : openPage(services.pages, scope);
  const isRead = route.method === 'post' && route.readsBody !== true;
  exchange.acceptBody();
  const reading = () => ({ held: hold(credential.id), isJson: true });
  const bytes = isRead ? await readBody(incoming, services.bodyBytesMax, reading()) : EMPTY;
  const body = isRead ? checkInput(route.name, route.body ?? NO_BODY, await parseBody(bytes)) : undefined;

  const execute = async (memory: ReplayMemory): Promise<Answer | undefined> => {
    const watch = () => watchCredential(services, exchange, secret);
    const request = new CheckedRequest(exchange, services, { credential, params, query, body, memory, watch });
    // The cast: the parts were checked right here by the schemas that the handler's type is made of.
    const result = await route.handle(request as never);
    if (result instanceof ContentAnswer) {
      watch();
      await sendContent(outgoing, result);
    } else if (!isStream(result, exchange)) {
      if (scope === undefined || result === null) return { status: 200, body: result };
      const page = services.pages.seal(scope, result);
      return { status: 200, body: page, text: await writePage(page) };
    }
    return undefined;
  };
  // What a stream gives is in the log, so its repetition is another reader and no replay.
  if (!isRead || route.gives === 'stream') return await execute(NO_MEMORY);
  const repeatable = {
    credential,
    secret,
    method: 'POST',
    // With its query: the heartbeats of a worker differ in nothing else.
    path: `${pathOf(incoming)} ${JSON.stringify(query)}`,
    body: bytes,
    idempotencyKey: headerOf(exchange, 'idempotency-key'),
    retryCount: Number(headerOf(exchange, 'x-stainless-retry-count') ?? 0),
  };
  return await services.replays.run(repeatable, async (memory) => (await execute(memory))!);
}

/** What may last for long ends with the credential that it was opened with. */
export function watchCredential({ credentials }: RouteServices, exchange: Exchange, secret: string): void {
  exchange.outgoing.once(
    'close',
    credentials.add(secret, () => exchange.expel()),
  );
}

/** Whether it is a list that is given page by page. */
function isPaged({ query }: AnyRoute): boolean {
  return query !== undefined && Object.hasOwn(query.shape, 'page');
}

function openPage(pages: PageSeals, scope: PageScope): PageScope['query'] {
  const { page } = scope.query;
  return typeof page === 'string' ? { ...scope.query, page: pages.open(scope, page) } : scope.query;
}

function isStream(result: object | null, { stream }: Exchange): result is EventStream {
  if (stream === undefined || result === stream) return result === stream;
  throw new TypeError('a route that has opened a stream has to give it back');
}

// --- checks ---

function checkKind({ name, accepts }: AnyRoute, { kind }: Credential): void {
  if (accepts.includes(kind)) return;
  const whose = kind === 'session' ? 'a session token' : 'an environment key';
  throw doorError('key_not_allowed', `${name} is not for ${whose}`);
}

/** An id of another kind cannot exist here, and neither can one that a limited credential does not reach. */
function checkParams(params: Readonly<Record<string, string>>, credential: Credential): void {
  for (const [name, id] of Object.entries(params)) {
    const prefix = PREFIXES[name];
    const isPossible = id.length <= limits.pathIdCharsMax && (prefix === undefined || id.startsWith(`${prefix}_`));
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
};

function headerOf({ incoming }: Exchange, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const EMPTY = Buffer.alloc(0);
const NO_QUERY: QuerySchema = z.strictObject({});
const NO_BODY = z.strictObject({});
const NO_MEMORY: ReplayMemory = {
  toKey: () => {
    throw new TypeError('only what a POST does is kept for its repetition');
  },
};
