import type { FileResource } from '@fleetloom/protocol/managed-agents';
import type { Environments } from '../../environments/environments.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { resolveSessionAgent, updateSessionAgent } from '../../agents/session-agent.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { toSession } from '../../views/managed-agents/to-session.ts';
import { fromWireBudget } from '../../views/managed-agents/to-usage.ts';
import type { CatchUp } from '../catch-up.ts';
import { doorError } from '../door-error.ts';
import { checkShownFiles } from '../files/check-shown-files.ts';
import { discardUnmade } from '../files/discard-unmade.ts';
import type { FileStore } from '../files/file-store.ts';
import type { SessionResources } from '../files/session-resources.ts';
import { toPageRequest, toWirePageBothWays, wirePage } from '../paging.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { deletedSession, session, sessionCreateBody, sessionListQuery, sessionUpdateBody } from '../schemas/session.ts';
import { dataOf, headOf, readSession } from './read-session.ts';
import { checkMountable } from './session-resources.ts';
import { toClientEvents } from './to-client-events.ts';
import { toSessionEnvironment } from './to-session-environment.ts';

export interface SessionRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly environments: Environments;
  readonly clock: Clock;
  readonly catchUp: CatchUp;
  readonly ids: Ids;
  readonly files: FileStore;
  readonly resources: SessionResources;
  /** Removes what was prepared for a session that was not made. */
  readonly discard: (sessionId: string) => Promise<void>;
  /** Throws where a session of the workspace may not have the model, or could not begin with it. */
  readonly checkModel?: CheckModel | undefined;
  /** Throws where a session with the model cannot have an option that its metadata, or a change of it, names. */
  readonly checkOptions?: CheckOptions | undefined;
}

export type CheckModel = (workspaceId: string, model: string) => Promise<void>;
export type CheckOptions = (model: string, metadata: Readonly<Record<string, string | null>>) => Promise<void>;

/** `/v1/sessions`. */
export function createSessionRoutes(options: SessionRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, environments, clock, catchUp, ids, files, resources, discard, checkModel, checkOptions } =
    options;
  const showWith = (record: SessionRecord, mounted: readonly FileResource[]) => ({
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
      summary: 'Create a session; with initial events it begins at once',
      method: 'post',
      path: '/v1/sessions',
      accepts: ['api'],
      body: sessionCreateBody,
      gives: session,
      handle: async ({ credential: { workspaceId }, body, memory }) => {
        refuseUnsupported(body);
        const { events } = toClientEvents('sessions.create', body.initial_events ?? [], { field: 'initial_events' });
        await checkShownFiles(files, workspaceId, events, 'initial_events');
        const agent = await resolveSessionAgent({ store, workspaceId, agent: body.agent });
        await checkModel?.(workspaceId, agent.model.id);
        const environment = await environments.getForSession(workspaceId, body.environment_id);
        checkMetadata(body.metadata ?? {});
        await checkOptions?.(agent.model.id, body.metadata ?? {});
        const sessionId = ids.next('sesn');
        const make = async () => {
          let mounted: readonly FileResource[] = [];
          if (body.resources !== undefined && body.resources.length > 0) {
            checkMountable(environment.config.type);
            // Before there is a session: with its first event it may begin to read them.
            mounted = await resources.add({ workspaceId, sessionId }, body.resources);
          }
          let answer: ReturnType<typeof showWith> | undefined;
          const toKey = (made: SessionRecord) => {
            // As it is made. A fast agent has ended its turn soon, and that is for whoever asks next.
            answer = showWith(events.length === 0 ? made : { ...made, status: 'running' }, mounted);
            return memory.toKey(answer);
          };
          // Before it begins: who has to repeat the request finds that it was made, and no more.
          if (events.length > 0) await catchUp.sent(sessionId, 0);
          await sessions.create({
            workspaceId,
            id: sessionId,
            agent,
            environment: toSessionEnvironment(environment),
            title: body.title ?? null,
            metadata: body.metadata ?? {},
            budget: body.budget === undefined ? null : fromWireBudget(body.budget),
            // Its schema lets nothing else in.
            events: events.filter((event) => event.type === 'user.message'),
            toKey,
          });
          return answer!;
        };
        return await discardUnmade({ store, sessionId, discard }, make);
      },
    }),
    defineRoute({
      name: 'sessions.list',
      summary: 'List sessions, the newest first unless asked otherwise',
      method: 'get',
      path: '/v1/sessions',
      accepts: ['api'],
      query: sessionListQuery,
      gives: wirePage(session),
      handle: async ({ credential: { workspaceId }, query }) => {
        // Neither exists here, so no session has one.
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
        // A client that reads only the headers has not seen the session.
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
      handle: async ({ credential, params, body }) => {
        const { agent: change, metadata: patch, budget, title } = body;
        if (body.vault_ids !== undefined) throw noVaults();
        const record = await readSession(store, credential, params.session_id);
        await checkOptions?.(dataOf(record).agent.model.id, patch ?? {});
        const updated = await sessions.update({
          workspaceId: credential.workspaceId,
          sessionId: record.id,
          ...(title === undefined ? {} : { title }),
          ...(patch === undefined || patch === null ? {} : { metadata: (before) => merge(before, patch) }),
          ...(change === undefined ? {} : { agent: (agent) => updateSessionAgent(agent, change) }),
          ...(budget === undefined ? {} : { budget: budget === null ? null : fromWireBudget(budget) }),
        });
        return show(updated);
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
      summary: 'Delete a session with everything that happened in it',
      method: 'delete',
      path: '/v1/sessions/{session_id}',
      accepts: ['api'],
      gives: deletedSession,
      handle: async ({ credential, params }) => {
        await sessions.delete(credential.workspaceId, params.session_id);
        return { type: 'session_deleted', id: params.session_id };
      },
    }),
  ];
}

/** What would be kept and do nothing is refused: who sends it counts on it. */
function refuseUnsupported({ vault_ids: vaults = [] }: { vault_ids?: readonly string[] }): void {
  if (vaults.length > 0) throw noVaults();
}

function noVaults(): Error {
  return doorError('invalid_request', 'vault_ids: are not supported', { advice: 'leave vault_ids out' });
}

function checkMetadata(metadata: object): void {
  const pairs = Object.keys(metadata).length;
  if (pairs <= limits.metadataPairsMax) return;
  const problem = `metadata: has ${pairs} keys, and ${limits.metadataPairsMax} are allowed`;
  throw doorError('invalid_request', problem, { advice: 'remove keys with null, or keep the rest elsewhere' });
}

function merge(before: object, patch: Readonly<Record<string, string | null>>): Record<string, string> {
  const all: Record<string, string | null> = { ...before, ...patch };
  const merged = Object.fromEntries(
    Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
  checkMetadata(merged);
  return merged;
}
