import { createHash } from 'node:crypto';
import { cutText } from '@fleetloom/protocol/fleet';
import { modelsOf } from '../../agents/models-of.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import type { Budget } from '../../frames/payload-parts.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { requestError } from '../../base/request-error.ts';
import { checkShownFiles } from '../../files/check-shown-files.ts';
import { discardFailedSession } from '../../files/discard-failed-session.ts';
import type { FileStore } from '../../files/file-store.ts';
import type { SessionResources } from '../../files/session-resources.ts';
import type { SessionSources } from '../../workspaces/sources/session-sources.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { fleetQuery } from '../schemas/fleet.ts';
import { type OrchestrateBody, orchestrateBody } from '../schemas/orchestrate.ts';
import { addResources } from './add-resources.ts';
import { type FoundRoster, type RosterFinder, isUnknownAgent } from './find-roster.ts';
import type { FleetFeeds } from '../feeds/fleet-feeds.ts';
import { checkDirectories, checkEngines, isEngineAllowed } from './access/key-limits.ts';
import { checkMountable } from './session-resources.ts';
import type { CheckModel } from './sessions.ts';
import { toClientEvents } from '../convert/to-client-events.ts';
import { toSessionEnvironment } from '../convert/to-session-environment.ts';
import { toSessionSource } from '../convert/to-session-source.ts';
import type { Credential } from '../../keys/credential.ts';
import { nameOf } from '../../keys/name-of.ts';

/** The services that run an orchestrated request. */
export interface OrchestrateRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly findRoster: RosterFinder;
  readonly files: FileStore;
  readonly resources: SessionResources;
  readonly sources: SessionSources;
  /** Removes the files that were prepared for a session that was not created. */
  readonly discard: (sessionId: string) => Promise<void>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly feeds: FleetFeeds;
  /** Throws if a session of the workspace may not use the model, or could not start with it. */
  readonly checkModel?: CheckModel | undefined;
}

/** `POST /v1/orchestrate`: one request, run to its end, on one stream. It is a session like any other. */
export function createOrchestrateRoutes(options: OrchestrateRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, findRoster, files, resources, sources, discard, ids, clock, feeds } = options;

  return [
    defineRoute({
      name: 'orchestrate',
      summary: 'Give a task to an agent and watch it, and every agent it delegates to, until it is done',
      method: 'post',
      path: '/v1/orchestrate',
      accepts: ['api'],
      query: fleetQuery.omit({ after: true, follow: true, from: true }),
      body: orchestrateBody,
      startsWork: true,
      gives: 'stream',
      handle: async ({ credential, query, body, headers, openStream, audit }) => {
        const { workspaceId, id: keyId } = credential;
        const key = toKey(keyId, headers['idempotency-key']);
        const known = key === undefined ? undefined : await findFirst(workspaceId, key, body);
        const sessionId = known ?? (await begin(credential, body, key, audit));
        const run = { id: null, before: 0, last: null };
        const all = { ...query, follow: true, from: 'start' as const };
        // A client that repeats the request may have received some events.
        return feeds.open({ sessionId, query: all, headers: known === undefined ? {} : headers, openStream, run });
      },
    }),
  ];

  /** Starts a run, or finds the run that an earlier request with the same key has started. */
  async function begin(
    credential: Credential,
    body: OrchestrateBody,
    key: string | undefined,
    audit: Auditor,
  ): Promise<string> {
    const { workspaceId } = credential;
    const content = typeof body.message === 'string' ? [] : body.message;
    await checkShownFiles(files, workspaceId, [{ content }], 'message');
    const roster = limitRoster(credential, await findRoster(workspaceId, body, audit));
    await options.checkModel?.(workspaceId, roster.agent.model.id);
    const sessionId = ids.next('sesn');
    const make = async () => {
      const mounted = await addMounted(credential, sessionId, body, roster);
      const made = { ...toSession(workspaceId, body, roster, key), ...toSessionSource(mounted) };
      return await sessions.create({ ...made, id: sessionId, createdBy: nameOf(credential) });
    };
    try {
      // Without resources, no files are prepared that would have to be removed.
      const { id } =
        toAsked(body, roster).length === 0
          ? await make()
          : await discardFailedSession({ store, sessionId, discard }, make);
      return id;
    } catch (error) {
      const first = isStoreError(error, 'key_taken') ? await findFirst(workspaceId, key!, body) : undefined;
      if (first === undefined) throw error;
      return first;
    }
  }

  async function addMounted(credential: Credential, sessionId: string, body: OrchestrateBody, roster: FoundRoster) {
    const { workspaceId } = credential;
    const asked = toAsked(body, roster);
    if (asked.length === 0 || isUnknownAgent(roster)) return [];
    checkMountable(roster.environment.config.type);
    await checkDirectories(credential, asked);
    const mounted = await addResources({ resources, sources }, { workspaceId, sessionId }, asked);
    // Checked again with the path of the session: a symbolic link may have changed.
    await checkDirectories(credential, mounted);
    return mounted;
  }

  function toSession(workspaceId: string, body: OrchestrateBody, roster: FoundRoster, key: string | undefined) {
    const content = typeof body.message === 'string' ? [{ type: 'text' as const, text: body.message }] : body.message;
    const { events } = toClientEvents('orchestrate', [{ type: 'user.message', content }]);
    const refusal = isUnknownAgent(roster)
      ? { code: 'unknown_agent', reason: roster.problem, message: toExcerpt(textOf(content)) }
      : undefined;
    const { original_query: query } = body;
    return {
      workspaceId,
      agent: roster.agent,
      members: roster.members,
      environment: toSessionEnvironment(roster.environment),
      title: toExcerpt(query ?? textOf(content)),
      metadata: { started_by: 'orchestrate', ...(query === undefined ? {} : { original_query: query }) },
      budget: toBudget(body.budget),
      endsAtBudget: true,
      depthMax: httpLimits.orchestrateDepthMax,
      hasTextCommands: true,
      isRecorded: toAsked(body, roster).some(({ type }) => type !== 'file'),
      ...(refusal === undefined ? { events: events.filter((event) => event.type === 'user.message') } : { refusal }),
      ...(key === undefined ? {} : { toKey: ({ id }: SessionRecord) => toRecord(key, body, id) }),
    };
  }

  function toRecord(key: string, body: OrchestrateBody, sessionId: string) {
    return {
      key,
      expiresAt: clock.now() + httpLimits.idempotencyMs,
      result: { session_id: sessionId, body: digest(body) },
    };
  }

  async function findFirst(workspaceId: string, key: string, body: OrchestrateBody): Promise<string | undefined> {
    const record = await store.keys.get(workspaceId, key);
    if (record === undefined) return undefined;
    // The cast: this file wrote the record.
    const { session_id: sessionId, body: first } = record.result as { session_id: string; body: string };
    if (first === digest(body)) return sessionId;
    throw requestError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
  }
}

/** Rejects an agent whose engine the key may not use, and removes such members from the roster. */
function limitRoster<Roster extends FoundRoster>(credential: Credential, roster: Roster): Roster {
  if (!isUnknownAgent(roster)) checkEngines(credential, modelsOf(roster.agent));
  const engines = credential.kind === 'api' ? credential.limits?.engines : undefined;
  if (engines === undefined) return roster;
  return { ...roster, members: roster.members.filter(({ model }) => isEngineAllowed(engines, model.id)) };
}

/** The resources of the request, otherwise the resources of the environment. */
function toAsked({ resources }: OrchestrateBody, { environment }: FoundRoster) {
  return resources ?? environment.resources ?? [];
}

function toKey(keyId: string, header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  if (header.length > 0 && header.length <= httpLimits.orchestrateKeyCharsMax)
    return `orchestrate ${digest([keyId, header])}`;
  const problem = `an Idempotency-Key has 1 to ${httpLimits.orchestrateKeyCharsMax} characters`;
  throw requestError('invalid_request', problem, { advice: 'use a random id' });
}

function digest(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.find(({ type }) => type === 'text')?.text ?? '';
}

function toExcerpt(text: string): string {
  return text.length <= baseLimits.excerptCharsMax ? text : `${cutText(text, baseLimits.excerptCharsMax)}…`;
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
