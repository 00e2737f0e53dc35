import type { IncomingMessage } from 'node:http';
import type { ZodType, z } from 'zod';
import type { CredentialKind, Credential, Target } from '../../keys/credential.ts';
import type { ContentAnswer } from '../response/answer.ts';
import type { ReplayMemory } from '../idempotency/replays.ts';
import type { QuerySchema } from '../request/read-query.ts';
import type { Auditor } from '../../store/audit.ts';
import type { EventStream } from '../streams/sse/event-stream.ts';
import type { StreamForm } from '../streams/sse/event-streams.ts';

/**
 * The contract of one endpoint: its input, the credentials it accepts and its response. Checks, the handler's types and the
 * OpenAPI document are derived from it.
 */
export interface Route<
  Path extends string = string,
  Query extends QuerySchema = QuerySchema,
  Body extends ZodType = ZodType,
> {
  /** The name, such as `agents.create`: begins error messages, and names the operation in logs and in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly method: 'get' | 'post' | 'delete';
  /** The path, with parameters in braces: `/v1/agents/{agent_id}`. */
  readonly path: Path;
  readonly accepts: readonly CredentialKind[];
  readonly query?: Query;
  /** The schema of the body. An absent body counts as an empty object. */
  readonly body?: Body;
  /** Whether the handler reads the body, because it is not JSON (uploads). Responses to such requests are not stored. */
  readonly readsBody?: boolean;
  /** Whether a GET removes an item, as polling for work does. HEAD is rejected, because it returns no body. */
  readonly takes?: boolean;
  /** Whether the route does not need the database, except to look up keys: while it is unreachable, the last known keys are used. */
  readonly isOffline?: true;
  /** Whether the request starts work, or which bodies do. The server rejects such requests first when it is overloaded. */
  readonly startsWork?: true | ((body: z.output<Body>) => boolean);
  /** The schema of the response; `stream` for events, `content` for content that is not JSON. */
  readonly gives: ZodType | 'stream' | 'content';
  readonly handle: (request: RouteRequest<Path, Query, Body>) => Promise<RouteResult>;
}

/** The result of a handler: a value that becomes JSON, or a stream or content that the handler has opened. */
export type RouteResult = object | null | EventStream | ContentAnswer;

/** A request that has passed all checks. */
export interface RouteRequest<
  Path extends string = string,
  Query extends QuerySchema = QuerySchema,
  Body extends ZodType = ZodType,
> {
  readonly id: string;
  readonly credential: Credential;
  readonly params: Readonly<Record<ParamsOf<Path>, string>>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
  readonly headers: IncomingMessage['headers'];
  /** The request of Node, for routes that read the body themselves. */
  readonly incoming: IncomingMessage;
  /** Aborted when the client no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Stores the response of a POST in the transaction that applies the request. */
  readonly memory: ReplayMemory;
  /** Creates audit log entries for the change that this request makes. */
  readonly audit: Auditor;
  /** Throws if the credential is limited and does not include the target. */
  readonly checkReach: (target: Target) => void;
  /** Sends the headers of a stream. Errors must be thrown before. */
  readonly openStream: (form?: StreamForm) => EventStream;
  /** Ends a stream that cannot continue: the client receives an error event, and the reason is logged. */
  readonly fail: (error: unknown) => void;
}

/** The names in braces of a path, as properties. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** Any route, for lists. Handlers have different parameters; only run-route.ts, which has checked the input, calls them. */
export type AnyRoute = Omit<Route, 'handle' | 'startsWork'> & {
  readonly handle: (request: never) => Promise<RouteResult>;
  readonly startsWork?: true | ((body: never) => boolean);
};

/** The query of a route without parameters. */
type NoQuery = z.ZodObject<Record<string, z.ZodNever>>;

/** Infers the types of a handler from the schemas of its route. */
export function defineRoute<
  const Path extends string,
  Query extends QuerySchema = NoQuery,
  Body extends ZodType = z.ZodUndefined,
>(route: Route<Path, Query, Body>): Route<Path, Query, Body> {
  return route;
}
