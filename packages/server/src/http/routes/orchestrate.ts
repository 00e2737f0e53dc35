import { createHash } from 'node:crypto';
import { cutText } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Budget } from '../../frames/frames.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { doorError } from '../door-error.ts';
import { checkShownFiles } from '../files/check-shown-files.ts';
import type { FileStore } from '../files/file-store.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { fleetQuery } from '../schemas/fleet.ts';
import { type OrchestrateBody, orchestrateBody } from '../schemas/orchestrate.ts';
import { type Crew, type CrewFinder, isUnknownAgent } from './find-crew.ts';
import type { FleetFeeds } from './fleet-feeds.ts';
import type { CheckModel } from './sessions.ts';
import { toClientEvents } from './to-client-events.ts';
import { toSessionEnvironment } from './to-session-environment.ts';

export interface OrchestrateRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly findCrew: CrewFinder;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly feeds: FleetFeeds;
  /** Throws where a session of the workspace may not have the model, or could not begin with it. */
  readonly checkModel?: CheckModel | undefined;
}

/** `POST /v1/orchestrate`: one request, run to its end, on one stream. It is a session like any other. */
export function createOrchestrateRoutes(options: OrchestrateRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, findCrew, files, clock, feeds } = options;

  return [
    defineRoute({
      name: 'orchestrate',
      summary: 'Give a task to an agent and watch it and everybody it delegates to, until it is done',
      method: 'post',
      path: '/v1/orchestrate',
      accepts: ['api'],
      query: fleetQuery.omit({ after: true, follow: true, from: true }),
      body: orchestrateBody,
      gives: 'stream',
      handle: async ({ credential: { workspaceId, id: keyId }, query, body, headers, openStream }) => {
        const key = toKey(keyId, headers['idempotency-key']);
        const known = key === undefined ? undefined : await findFirst(workspaceId, key, body);
        const sessionId = known ?? (await begin(workspaceId, body, key));
        const run = { id: null, before: 0, last: null };
        const all = { ...query, follow: true, from: 'start' as const };
        // Who repeats the request may have seen some of it.
        return feeds.open({ sessionId, query: all, headers: known === undefined ? {} : headers, openStream, run });
      },
    }),
  ];

  /** Of two requests with one key only the first begins something; the other one watches it. */
  async function begin(workspaceId: string, body: OrchestrateBody, key: string | undefined): Promise<string> {
    const content = typeof body.message === 'string' ? [] : body.message;
    await checkShownFiles(files, workspaceId, [{ content }], 'message');
    const crew = await findCrew(workspaceId, body);
    await options.checkModel?.(workspaceId, crew.agent.model.id);
    try {
      const { id } = await sessions.create(toSession(workspaceId, body, crew, key));
      return id;
    } catch (error) {
      const first = isStoreError(error, 'key_taken') ? await findFirst(workspaceId, key!, body) : undefined;
      if (first === undefined) throw error;
      return first;
    }
  }

  function toSession(workspaceId: string, body: OrchestrateBody, crew: Crew, key: string | undefined) {
    const content = typeof body.message === 'string' ? [{ type: 'text' as const, text: body.message }] : body.message;
    const { events } = toClientEvents('orchestrate', [{ type: 'user.message', content }]);
    const refusal = isUnknownAgent(crew)
      ? { code: 'unknown_agent', reason: crew.problem, message: toExcerpt(textOf(content)) }
      : undefined;
    const { original_query: query } = body;
    return {
      workspaceId,
      agent: crew.agent,
      members: crew.members,
      environment: toSessionEnvironment(crew.environment),
      title: toExcerpt(query ?? textOf(content)),
      metadata: { started_by: 'orchestrate', ...(query === undefined ? {} : { original_query: query }) },
      budget: toBudget(body.budget),
      endsAtBudget: true,
      depthMax: limits.orchestrateDepthMax,
      hasTextCommands: true,
      ...(refusal === undefined ? { events: events.filter((event) => event.type === 'user.message') } : { refusal }),
      ...(key === undefined ? {} : { toKey: ({ id }: SessionRecord) => toRecord(key, body, id) }),
    };
  }

  function toRecord(key: string, body: OrchestrateBody, sessionId: string) {
    return {
      key,
      expiresAt: clock.now() + limits.idempotencyMs,
      result: { session_id: sessionId, body: digest(body) },
    };
  }

  async function findFirst(workspaceId: string, key: string, body: OrchestrateBody): Promise<string | undefined> {
    const record = await store.keys.get(workspaceId, key);
    if (record === undefined) return undefined;
    // We put it there ourselves.
    const { session_id: sessionId, body: first } = record.result as { session_id: string; body: string };
    if (first === digest(body)) return sessionId;
    throw doorError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
  }
}

function toKey(keyId: string, header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  if (header.length > 0 && header.length <= limits.orchestrateKeyCharsMax)
    return `orchestrate ${digest([keyId, header])}`;
  const problem = `an Idempotency-Key has 1 to ${limits.orchestrateKeyCharsMax} characters`;
  throw doorError('invalid_request', problem, { advice: 'use a random id' });
}

function digest(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.find(({ type }) => type === 'text')?.text ?? '';
}

function toExcerpt(text: string): string {
  return text.length <= limits.excerptCharsMax ? text : `${cutText(text, limits.excerptCharsMax)}…`;
}

function toBudget(budget: OrchestrateBody['budget']): Budget | null {
  if (budget === undefined) return null;
  return {
    cost_nano_usd: budget.cost_usd === undefined ? null : Math.round(budget.cost_usd * 1_000_000_000),
    tokens: budget.tokens ?? null,
    requests: budget.turns ?? null,
    wall_ms: budget.wall_ms ?? null,
  };
}
