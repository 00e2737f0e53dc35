import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import { modelsOf } from '../../agents/models-of.ts';
import type { Environments } from '../../environments/environments.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { resolveSessionAgent, updateSessionAgent } from '../../agents/session-agent.ts';
import { nameOf } from '../../keys/name-of.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { toSession } from '../../views/managed-agents/to-session.ts';
import { fromWireBudget } from '../../views/managed-agents/to-usage.ts';
import type { CatchUp } from '../streams/catch-up.ts';
import { requestError } from '../../base/request-error.ts';
import { checkShownFiles } from '../../files/check-shown-files.ts';
import { discardFailedSession } from '../../files/discard-failed-session.ts';
import type { FileStore } from '../../files/file-store.ts';
import type { SessionResources } from '../../files/session-resources.ts';
import type { SessionSources } from '../../workspaces/sources/session-sources.ts';
import { toPageRequest, toWirePageBothWays, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { deletedSession, session, sessionCreateBody, sessionListQuery, sessionUpdateBody } from '../schemas/session.ts';
import { headOf } from '../feeds/head-of.ts';
import { addResources } from './add-resources.ts';
import { recorded } from './access/recorded.ts';
import { dataOf, readSession } from './read-session.ts';
import { checkDirectories, checkEngines } from './access/key-limits.ts';
import { checkMountable } from './session-resources.ts';
import { toClientEvents } from '../convert/to-client-events.ts';
import { toSessionEnvironment } from '../convert/to-session-environment.ts';
import { toSessionSource } from '../convert/to-session-source.ts';

/** The services that create and store sessions. */
export interface SessionRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly environments: Environments;
  readonly clock: Clock;
  readonly catchUp: CatchUp;
  readonly ids: Ids;
  readonly files: FileStore;
  readonly resources: SessionResources;
  readonly sources: SessionSources;
  /** Removes the files of a session that was not created in the end. */
  readonly discard: (sessionId: string) => Promise<void>;
  /** Throws if a new session with these models cannot have the vaults. */
  readonly checkVaults: CheckVaults;
  /** Throws if a session of the workspace may not use the model, or could not start with it. */
  readonly checkModel?: CheckModel | undefined;
  /** Throws if the metadata, or a change of it, sets an option that sessions with these models cannot have. */
  readonly checkOptions?: CheckOptions | undefined;
}

/** Rejects vaults that a session with these models, of its own agent and its roster, cannot use. */
export type CheckVaults = (
  workspaceId: string,
  vaultIds: readonly string[],
  models: readonly string[],
) => Promise<void>;
/** Rejects a model that a session of the workspace cannot use. */
export type CheckModel = (workspaceId: string, model: string) => Promise<void>;
/** Rejects program options in metadata that the models of a session and its roster do not support. */
export type CheckOptions = (
  models: readonly string[],
  metadata: Readonly<Record<string, string | null>>,
) => Promise<void>;

/** `/v1/sessions`. */
export function createSessionRoutes(options: SessionRoutesOptions): readonly AnyRoute[] {
  const {
    store,
    sessions,
    environments,
    clock,
    catchUp,
    ids,
    files,
    resources,
    sources,
    discard,
    checkVaults,
    checkModel,
    checkOptions,
  } = options;
  const showWith = (record: SessionRecord, mounted: readonly MountedResource[]) => ({
    ...toSession(record, clock.now()),
    resources: mounted,
  });
  const show = async (record: SessionRecord) => showWith(record, await resources.list(record.id));
  const showAll = async (records: readonly SessionRecord[]) => {
    const mounted = await resources.listAll(records.map(({ id }) => id));
    return records.map((record) => showWith(record, mounted.get(record.id) ?? []));
  };

  return [
    defineRoute({
      name: 'sessions.create',
      summary: 'Create a session; with initial events it starts at once',
      method: 'post',
      path: '/v1/sessions',
      accepts: ['api'],
      body: sessionCreateBody,
      startsWork: true,
      gives: session,
      handle: async ({ credential, body, memory }) => {
        const { workspaceId } = credential;
        const { events } = toClientEvents('sessions.create', body.initial_events ?? [], { field: 'initial_events' });
        await checkShownFiles(files, workspaceId, events, 'initial_events');
        const agent = await resolveSessionAgent({ store, workspaceId, agent: body.agent });
        checkEngines(credential, modelsOf(agent));
        await checkModel?.(workspaceId, agent.model.id);
        const environment = await environments.getForSession(workspaceId, body.environment_id);
        checkMetadata(body.metadata ?? {});
        const vaultIds = [...new Set(body.vault_ids)];
        await checkVaults(workspaceId, vaultIds, modelsOf(agent));
        await checkOptions?.(modelsOf(agent), body.metadata ?? {});
        const sessionId = ids.next('sesn');
        const make = async () => {
          let mounted: readonly MountedResource[] = [];
          const asked = body.resources ?? environment.resources ?? [];
          if (asked.length > 0) {
            checkMountable(environment.config.type);
            await checkDirectories(credential, asked);
            // Mounted before the session exists: its first event may start an agent that reads them.
            mounted = await addResources({ resources, sources }, { workspaceId, sessionId }, asked);
            // Checked again with the path of the session: a symbolic link may have changed.
            await checkDirectories(credential, mounted);
          }
          let answer: ReturnType<typeof showWith> | undefined;
          const toKey = (made: SessionRecord) => {
            // The state at creation: the end of a turn, however fast, belongs to a later response.
            answer = showWith(events.length === 0 ? made : { ...made, status: 'running' }, mounted);
            return memory.toKey(answer);
          };
          // Before the session starts: a client that repeats the request must not start it twice.
          if (events.length > 0) await catchUp.sent(sessionId, 0);
          await sessions.create({
            workspaceId,
            id: sessionId,
            agent,
            environment: toSessionEnvironment(environment),
            title: body.title ?? null,
            metadata: body.metadata ?? {},
            budget: body.budget === undefined ? null : fromWireBudget(body.budget),
            // The schema accepts no other type.
            events: events.filter((event) => event.type === 'user.message'),
            isRecorded: mounted.some(({ type }) => type !== 'file'),
            ...toSessionSource(mounted),
            vaultIds,
            createdBy: nameOf(credential),
            toKey,
          });
          // A session with an event has already begun.
          const hasRepository = mounted.some(({ type }) => type !== 'file' && type !== 'directory');
          if (hasRepository && events.length === 0) sessions.prepare(sessionId);
          return answer!;
        };
        return await discardFailedSession({ store, sessionId, discard }, make);
      },
    }),
    defineRoute({
      name: 'sessions.list',
      summary: 'List sessions, the newest first by default',
      method: 'get',
      path: '/v1/sessions',
      accepts: ['api'],
      query: sessionListQuery,
      gives: wirePage(session),
      handle: async ({ credential: { workspaceId }, query }) => {
        // Deployments and memory stores do not exist on this server, so no session matches.
        const isNone = query.deployment_id !== undefined || query.memory_store_id !== undefined;
        const page = await store.sessions.list({
          ...toPageRequest(query),
          workspaceId,
          includeArchived: query.include_archived,
          ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
          ...(query.agent_version === undefined ? {} : { agentVersion: query.agent_version }),
          ...(query.statuses === undefined ? {} : { statuses: query.statuses }),
        });
        const shown = isNone
          ? { items: [], next: null, previous: null }
          : { ...page, items: await showAll(page.items) };
        return toWirePageBothWays(shown);
      },
    }),
    defineRoute({
      name: 'sessions.retrieve',
      summary: 'Read a session',
      method: 'get',
      path: '/v1/sessions/{session_id}',
      accepts: ['api', 'environment', 'session'],
      gives: session,
      handle: async ({ credential, params, incoming }) => {
        const head = await headOf(store, params.session_id);
        const record = await readSession(store, credential, params.session_id);
        // HEAD returns no body, so its client has not seen the session.
        if (record.status === 'idle' && incoming.method !== 'HEAD') await catchUp.seen(record.id, head);
        return show(record);
      },
    }),
    defineRoute({
      name: 'sessions.update',
      summary: 'Change the title, metadata, tools or budget of a session',
      method: 'post',
      path: '/v1/sessions/{session_id}',
      accepts: ['api'],
      body: sessionUpdateBody,
      gives: session,
      handle: async ({ credential, params, body, audit }) => {
        const { agent: change, metadata: patch, budget, title } = body;
        if (body.vault_ids !== undefined) throw fixedVaults();
        const record = await readSession(store, credential, params.session_id);
        await checkOptions?.(modelsOf(dataOf(record).agent), patch ?? {});
        const run = () =>
          sessions.update({
            workspaceId: credential.workspaceId,
            sessionId: record.id,
            ...(title === undefined ? {} : { title }),
            ...(patch === undefined || patch === null ? {} : { metadata: (before) => merge(before, patch) }),
            ...(change === undefined ? {} : { agent: (agent) => updateSessionAgent(agent, change) }),
            ...(budget === undefined ? {} : { budget: budget === null ? null : fromWireBudget(budget) }),
          });
        if (change === undefined) return show(await run());
        // Changed permissions may allow calls that a person would have decided.
        const details = { changed: Object.keys(change) };
        return show(await recorded(store.audit, audit, { action: 'session.update', target: record.id, details }, run));
      },
    }),
    defineRoute({
      name: 'sessions.archive',
      summary: 'End a session and keep it readable',
      method: 'post',
      path: '/v1/sessions/{session_id}/archive',
      accepts: ['api'],
      gives: session,
      handle: async ({ credential, params }) => show(await sessions.archive(credential.workspaceId, params.session_id)),
    }),
    defineRoute({
      name: 'sessions.delete',
      summary: 'Delete a session with its events and files',
      method: 'delete',
      path: '/v1/sessions/{session_id}',
      accepts: ['api'],
      gives: deletedSession,
      handle: async ({ credential, params: { session_id: target }, audit }) => {
        await readSession(store, credential, target);
        const run = () => sessions.delete(credential.workspaceId, target);
        await recorded(store.audit, audit, { action: 'session.delete', target }, run);
        return { type: 'session_deleted', id: target };
      },
    }),
  ];
}

function fixedVaults(): Error {
  const advice = 'leave vault_ids out; add or change credentials of its vaults, or create another session';
  return requestError('invalid_request', 'vault_ids: a session keeps the vaults it was created with', { advice });
}

function checkMetadata(metadata: object): void {
  const pairs = Object.keys(metadata).length;
  if (pairs <= baseLimits.metadataPairsMax) return;
  const problem = `metadata: has ${pairs} keys, and ${baseLimits.metadataPairsMax} are allowed`;
  throw requestError('invalid_request', problem, { advice: 'remove keys with null, or keep the rest elsewhere' });
}

function merge(before: object, patch: Readonly<Record<string, string | null>>): Record<string, string> {
  const all: Record<string, string | null> = { ...before, ...patch };
  const merged = Object.fromEntries(
    Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
  checkMetadata(merged);
  return merged;
}
