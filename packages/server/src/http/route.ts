import type { IncomingMessage } from 'node:http';
import type { ZodType, z } from 'zod';
import type { CredentialKind, Credential, Target } from './auth/credential.ts';
import type { ContentAnswer } from './answer.ts';
import type { ReplayMemory } from './replays.ts';
import type { QuerySchema } from './request/read-query.ts';
import type { EventStream } from './sse/event-stream.ts';
import type { StreamForm } from './sse/event-streams.ts';

/**
 * The contract of one endpoint: what it takes, who may use it and what it gives. Checks, handlers and the OpenAPI document
 * are all made from it.
 */
export interface Route<
  Path extends string = string,
  Query extends QuerySchema = QuerySchema,
  Body extends ZodType = ZodType,
> {
  /** `agents.create`: begins error messages, and names the operation in logs and in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly method: 'get' | 'post' | 'delete';
  /** With parameters in braces: `/v1/agents/{agent_id}`. */
  readonly path: Path;
  readonly accepts: readonly CredentialKind[];
  readonly query?: Query;
  /** A body that is left out counts as an empty object. */
  readonly body?: Body;
  /** Whether the handler reads the body itself, because it is no JSON: uploads. Such requests are not kept for repetition. */
  readonly readsBody?: boolean;
  /** Whether a GET takes something away, as polling for work does. HEAD is refused, because it gets nothing in return. */
  readonly takes?: boolean;
  /** What comes out; `stream` for events, `content` for what is no JSON. */
  readonly gives: ZodType | 'stream' | 'content';
  readonly handle: (request: RouteRequest<Path, Query, Body>) => Promise<RouteResult>;
}

/** What a handler gives: something that becomes JSON, or what it has opened. */
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
  /** For routes that read the body themselves. */
  readonly incoming: IncomingMessage;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Of a POST: to keep its answer in the transaction that carries it out. */
  readonly memory: ReplayMemory;
  /** Refuses what a limited credential is not for. */
  readonly checkReach: (target: Target) => void;
  /** Sends the headers of a stream. What can be refused has to be refused before. */
  readonly openStream: (form?: StreamForm) => EventStream;
  /** Ends a stream that cannot go on: the client receives an error event, and the log the reason. */
  readonly fail: (error: unknown) => void;
}

export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** A route of any kind, for lists of them. */
// The handler's parameter differs from route to route; only mount-route.ts, which has checked the parts, calls it.
export type AnyRoute = Omit<Route, 'handle'> & { readonly handle: (request: never) => Promise<RouteResult> };

/** Of a route that takes none. */
type NoQuery = z.ZodObject<Record<string, z.ZodNever>>;

export function defineRoute<
  const Path extends string,
  Query extends QuerySchema = NoQuery,
  Body extends ZodType = z.ZodUndefined,
>(route: Route<Path, Query, Body>): Route<Path, Query, Body> {
  return route;
}
