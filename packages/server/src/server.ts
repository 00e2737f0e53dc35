import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgents } from './agents/agents.ts';
import { systemClock } from './base/clock.ts';
import { createIds } from './base/ids.ts';
import { chooseEngine } from './engines/choose-engine.ts';
import { createClaudeCodeEngine } from './engines/claude-code/claude-code-engine.ts';
import type { Upstream } from './engines/claude-code/gateway/upstream.ts';
import { contextWindowOf } from './engines/context-window.ts';
import { costOf } from './engines/cost-of.ts';
import type { Engine } from './engines/engine.ts';
import { knownModels } from './engines/known-models.ts';
import { createGovernor, type Governor } from './engines/messages/governor.ts';
import { createMessagesEngine } from './engines/messages/messages-engine.ts';
import { createNoProgramEngine } from './engines/no-program.ts';
import type { ProgramEngine } from './engines/program.ts';
import { createScriptedEngine } from './engines/scripted/engine.ts';
import { createScriptedHandler } from './engines/scripted/http/handler.ts';
import { createScriptedModel, type ScriptedModel } from './engines/scripted/model.ts';
import { createEnvironments } from './environments/environments.ts';
import { createWorkQueue } from './environments/work-queue.ts';
import type { Access } from './http/auth/authenticate.ts';
import { anyOf, DEFAULT_WORKSPACE } from './http/auth/credential.ts';
import { type KeyStore, type KeyStorePlace, openKeyStore } from './http/auth/key-store.ts';
import { createSessionTokens, type SessionTokens } from './http/auth/session-tokens.ts';
import { createDashboard } from './http/dashboard/dashboard.ts';
import { showFiles, showFilesToPrograms } from './http/files/show-files.ts';
import { createDoor } from './http/door.ts';
import { createMetrics } from './http/metrics/metrics.ts';
import type { RateLimit } from './http/rate-limit.ts';
import type { DoorLog } from './http/request-log.ts';
import { createAgentRoutes } from './http/routes/agents.ts';
import { createEnvironmentKeyRoutes } from './http/routes/environment-keys.ts';
import { createEnvironmentRoutes } from './http/routes/environments.ts';
import { createEventFeeds } from './http/routes/event-feeds.ts';
import { createExportRoutes } from './http/routes/export.ts';
import { createCrewFinder } from './http/routes/find-crew.ts';
import { createFileRoutes } from './http/routes/files.ts';
import { createHealthRoutes } from './http/routes/health.ts';
import { createMetricsRoutes } from './http/routes/metrics.ts';
import { createModelRoutes } from './http/routes/models.ts';
import { createOrchestrateRoutes } from './http/routes/orchestrate.ts';
import { createRequestRoutes } from './http/routes/requests.ts';
import { createFleetRoutes } from './http/routes/fleet.ts';
import { createFleetFeeds } from './http/routes/fleet-feeds.ts';
import { createImportRoutes } from './http/routes/imports.ts';
import { createForkRoutes } from './http/routes/fork.ts';
import { createEventRoutes } from './http/routes/session-events.ts';
import { createResourceRoutes } from './http/routes/session-resources.ts';
import { createSessionRoutes } from './http/routes/sessions.ts';
import { createThreadRoutes } from './http/routes/threads.ts';
import { createWorkRoutes } from './http/routes/work.ts';
import {
  createHealthFinder,
  createImports,
  createRetention,
  createSessions,
  type KeepDeltas,
  type ModelFacts,
} from './sessions/index.ts';
import { openDatabase } from './open-database.ts';
import { checkWebhooks, openWebhooks, type WebhookChoice } from './open-webhooks.ts';
import { createReadiness } from './readiness.ts';
import { openNodePlace, openOwnPlace } from './server-place.ts';
import { createLog } from './store/log.ts';
import { systemSchedule } from './base/schedule.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';
import { createToolbox } from './tools/create-toolbox.ts';
import { createShownUrls } from './views/shown-urls.ts';

export interface ServerOptions {
  /** Where everything is kept: the database, keys and workspaces. Made if it is not there. */
  readonly dataDirectory: string;
  /**
   * A PostgreSQL database, `postgres://…`, that any number of servers share. What they have to agree on is in there; the
   * directory keeps what belongs to this one.
   */
  readonly database?: string | undefined;
  /** The same database past a pooler that hands out transactions, where no signals come through. */
  readonly databaseListen?: string | undefined;
  /** A directory that all servers of the database have, for the workspaces of sessions. */
  readonly sharedWorkspaces?: string | undefined;
  /** Sessions that are at work at the same time here, of those that share the database. */
  readonly busySessionsMax?: number | undefined;
  /**
   * How long sessions wait for the server that has their files, of those that share the database, before they are lost. Not
   * shorter than 8 s: until then nobody knows whether a server is gone. One minute unless it is said, and the same for all.
   */
  readonly homeGoneMs?: number | undefined;
  /** Loopback unless told otherwise. */
  readonly host?: string | undefined;
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** Names by which a load balancer or a proxy calls the server. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Lets everybody on this machine in, without a key. */
  readonly isOpen?: boolean | undefined;
  /** Where models other than scripted ones are; without a credential there are only scripted ones. */
  readonly models?: {
    readonly credential: { readonly apiKey: string } | { readonly authToken: string };
    readonly baseURL?: string;
  };
  /** Answers all model requests, whatever the model is called, instead of the engines that models have. */
  readonly engine?: Engine | undefined;
  /** The claude program, which runs sessions whose model is `claude-code/…`. False: it is not used. */
  readonly claudeCode?: ClaudeCodeChoice | false | undefined;
  /** Who coordinates when a request to `/v1/orchestrate` does not say: an id or a name. */
  readonly defaultAgent?: string | undefined;
  /** A directory of scripts for the scripted model. */
  readonly scriptsDirectory?: string | undefined;
  /** Hosts that `web_fetch` may reach although they are private, as `host` or `host:port`. */
  readonly allowedPrivateHosts?: readonly string[] | undefined;
  /** Lets bash run without a sandbox where there is none. */
  readonly allowUnsandboxedBash?: boolean | undefined;
  /** How long one can see how answers grew; what they became is kept. For ever unless it is said. */
  readonly keepDeltas?: KeepDeltas | undefined;
  /** How many requests each key may make. As many as it likes unless it is said. */
  readonly rateLimit?: RateLimit | undefined;
  /** Addresses that are told what becomes of sessions. */
  readonly webhooks?: WebhookChoice | undefined;
  /** Where the built dashboard is; by default what came with this package. */
  readonly dashboardDirectory?: string | undefined;
  readonly log?: DoorLog | undefined;
  /** Told of what nobody asked for. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

export interface ClaudeCodeChoice {
  /** Where it is, by a path or a name on PATH. By default `claude`. */
  readonly program?: string | undefined;
  /** What it finds in its environment; by default what this process has. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** It uses whatever login it has itself, instead of the key of this server or, without one, the scripted model. */
  readonly usesOwnLogin?: boolean | undefined;
}

export interface FleetloomServer {
  /** What clients need as their base URL. */
  readonly url: string;
  readonly port: number;
  /** The first key, told only when it was made. */
  readonly firstKey: string | undefined;
  /** What webhooks are signed with, told only when it was made. */
  readonly webhookKey: string | undefined;
  /** A link that opens the dashboard in one browser, once and soon. Without keys just its address. */
  dashboardUrl(): Promise<string>;
  /** Lets requests finish, stops all work where it is and closes the database. The next start goes on with it. */
  close(): Promise<void>;
}

/**
 * The whole server in this process.
 *
 * @example
 * const server = await startServer({ dataDirectory: '.fleetloom', isOpen: true });
 * const client = new Anthropic({ baseURL: server.url, apiKey: 'any' });
 */
export async function startServer(options: ServerOptions): Promise<FleetloomServer> {
  const { dataDirectory, database: url, databaseListen: listenUrl } = options;
  checkWebhooks(options.webhooks);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  if (url !== undefined) return await startOn(options, await openDatabase({ url, listenUrl }), true);
  return await startOn(options, await openSqliteStore({ path: join(dataDirectory, 'fleetloom.db') }), false);
}

/** The server on a store that is open, which it closes when it is closed. */
export async function startOn(options: ServerOptions, store: Store, isShared: boolean): Promise<FleetloomServer> {
  const { dataDirectory, onProblem = (problem) => process.emitWarning(String(problem)) } = options;
  const clock = systemClock;
  const ids = createIds({ now: clock.now, random: Math.random });
  const { sharedWorkspaces, busySessionsMax, homeGoneMs } = options;
  const about = { store, dataDirectory, sharedWorkspaces, busySessionsMax, homeGoneMs, clock, ids, onProblem };
  const place = isShared ? await openNodePlace(about) : await openOwnPlace(about);
  const { files, resources, outputs, openWorkspace, catchUp, signingKey } = place;
  const metrics = createMetrics(clock);
  const workspaces = async () => listWorkspaces((await keys?.list()) ?? []);
  const { webhooks, newKey } = await openWebhooks({
    choice: options.webhooks,
    store,
    dataDirectory,
    workspaces,
    holder: isShared ? place.owner : undefined,
    isMine: () => place.isCaretaker(),
    clock,
    schedule: systemSchedule,
    onProblem,
  });
  const log = metrics.measureLog(webhooks.watch(createLog({ store })));
  const scripted = createScriptedModel({ scriptsDirectory: options.scriptsDirectory });
  const governor = options.models === undefined ? undefined : createGovernor();
  const engine = metrics.measureEngine(showFiles(options.engine ?? createEngine(options, scripted, governor), files));
  const programs = showFilesToPrograms(createPrograms(options, scripted, onProblem), files);
  const agents = createAgents({ store, clock, ids });
  const environments = createEnvironments({ store, clock, ids });
  const sessions = createSessions({
    store,
    log,
    engine,
    programs,
    models: modelFacts,
    openToolbox: (sessionId, { networking }) =>
      createToolbox({ ...pickTools(options), networking, readShownUrls: createShownUrls(store, sessionId) }),
    openWorkspace,
    clock,
    ids,
    random: Math.random,
    owner: place.owner,
    shared: place.shared,
    onProblem: (_, error) => onProblem(error),
  });

  const feeds = createEventFeeds({ store, log, catchUp, clock, ids, onMishap: onProblem });
  const fleetFeeds = createFleetFeeds({ store, log, clock, onMishap: onProblem });
  const findCrew = createCrewFinder({ store, agents, environments, ids, defaultAgent: options.defaultAgent });
  const tokens = createSessionTokens({ signingKey, clock });
  const { access, keys, firstKey } = await openAccess(options, place.keyPlace, tokens);
  const dashboard = createDashboard({
    directory: options.dashboardDirectory,
    keys,
    signingKey,
    clock,
    codes: place.loginCodes,
  });
  const workQueue = createWorkQueue({ store, clock, ids, workers: place.workers });
  const door = await createDoor({
    routes: [
      ...createAgentRoutes(agents),
      ...createEnvironmentRoutes(environments),
      ...createEnvironmentKeyRoutes({ environments, keys }),
      ...createWorkRoutes({ queue: workQueue, tokens }),
      ...createModelRoutes({ listScripts: () => scripted.listScripts(), known: toKnownModels(options) }),
      ...createMetricsRoutes(metrics),
      ...createSessionRoutes({ store, sessions, environments, clock, catchUp, ids, files, resources }),
      ...createForkRoutes({ store, sessions, clock, ids, resources }),
      ...createEventRoutes({ store, log, sessions, catchUp, feeds, files }),
      ...createResourceRoutes({ store, resources }),
      ...createFileRoutes({ files, outputs, clock }),
      ...createThreadRoutes({ store, sessions, clock, feeds }),
      ...createExportRoutes({ store }),
      ...createImportRoutes({
        imports: createImports({ store, log, ids, models: modelFacts }),
        environments,
        clock,
        ids,
      }),
      ...createFleetRoutes({ store, feeds: fleetFeeds }),
      ...createHealthRoutes({
        store,
        findHealth: createHealthFinder({
          leases: store.leases,
          own: (sessionId) => sessions.health(sessionId),
          nodes: place.healthNodes,
        }),
        node: place.node,
        endpoint: governor === undefined ? undefined : () => governor.counters(),
      }),
      ...createOrchestrateRoutes({ store, sessions, findCrew, files, clock, feeds: fleetFeeds }),
      ...createRequestRoutes({ store, log, sessions, feeds: fleetFeeds }),
    ],
    dashboard,
    access: access === 'open' || dashboard.sessions === undefined ? access : anyOf(dashboard.sessions, access),
    keys: store.keys,
    claims: place.claims,
    host: options.host,
    port: options.port,
    allowedHosts: options.allowedHosts,
    mounts: [
      {
        name: 'scripted',
        path: SCRIPTED_PATH,
        handle: createScriptedHandler({ model: scripted, basePath: SCRIPTED_PATH }),
      },
    ],
    rateLimit: options.rateLimit,
    isReady: isShared ? createReadiness(store, systemSchedule) : undefined,
    log: metrics.measureDoor(options.log ?? {}),
    clock,
    ids,
  });
  metrics.watchStreams(() => door.openStreams);
  // Nobody can ask for what a deleted session has left.
  store.subscribe((signals) => {
    for (const { type, sessionId } of signals) {
      if (type !== 'deleted') continue;
      place.forget(sessionId).catch(onProblem);
    }
  });
  const retention = createRetention({
    store,
    clock,
    schedule: systemSchedule,
    keep: options.keepDeltas ?? 'all',
    workspaces,
    isMine: () => place.isCaretaker(),
    onProblem: (_, error) => onProblem(error),
  });
  // What a server that was killed has left must not go on beside what is begun now.
  await programs.reap();
  await place.start(sessions);
  await sessions.start();
  retention.start();
  webhooks.start();

  return {
    url: door.url,
    port: door.port,
    firstKey,
    webhookKey: newKey,
    dashboardUrl: () => dashboard.makeLink(door.url),
    close: async () => {
      retention.close();
      workQueue.close();
      // Others go on with its sessions as soon as they have them; alone, requests that are under way come first.
      if (isShared) await Promise.all([door.close(), sessions.close()]);
      else await door.close().then(() => sessions.close());
      await webhooks.close();
      await place.close();
      await programs.close();
      await engine.close();
      await log.close();
      await store.close();
    },
  };
}

function pickTools({ allowUnsandboxedBash = false, allowedPrivateHosts }: ServerOptions) {
  return { allowUnsandboxedBash, allowedPrivateHosts };
}

/** Where the scripted model is, for clients of the Messages API. */
const SCRIPTED_PATH = '/scripted';

function createEngine({ models }: ServerOptions, model: ScriptedModel, governor: Governor | undefined): Engine {
  const scripted = createScriptedEngine({ model });
  const messages = models === undefined ? undefined : createMessagesEngine({ ...models, governor });
  return chooseEngine({ scripted, messages });
}

function createPrograms(
  { claudeCode, models, dataDirectory }: ServerOptions,
  model: ScriptedModel,
  onProblem: (problem: unknown) => void,
): ProgramEngine {
  if (claudeCode === false) return createNoProgramEngine('this server runs no programs: choose another model');
  const directory = join(dataDirectory, 'programs');
  const { usesOwnLogin = false, ...choice } = claudeCode ?? {};
  const baseURL = models?.baseURL ?? 'https://api.anthropic.com';
  const credential = usesOwnLogin ? 'program' : models?.credential;
  const upstream: Upstream =
    credential === undefined
      ? { type: 'handler', handle: createScriptedHandler({ model }) }
      : { type: 'endpoint', baseURL, credential };
  return createClaudeCodeEngine({ directory, upstream, onProblem, ...choice });
}

/** An endpoint of somebody's own has models that only it knows. */
function toKnownModels({ models }: ServerOptions) {
  return models !== undefined && models.baseURL === undefined ? knownModels() : [];
}

function listWorkspaces(keys: readonly { readonly workspaceId: string }[]): readonly string[] {
  return [...new Set([DEFAULT_WORKSPACE, ...keys.map(({ workspaceId }) => workspaceId)])];
}

const NANO = 1_000_000_000;

const modelFacts: ModelFacts = {
  costNanoUsd: (model, usage, speed) => {
    const cost = costOf(model, usage, speed);
    return cost === null ? null : Math.round(cost * NANO);
  },
  windowTokens: (model) => contextWindowOf(model),
};

/** Who may do what: keys of people and of environments, which are kept, and tokens of sessions, which are signed. */
async function openAccess(
  { isOpen = false }: ServerOptions,
  place: KeyStorePlace,
  tokens: SessionTokens,
): Promise<{ access: Access; keys: KeyStore | undefined; firstKey: string | undefined }> {
  if (isOpen) return { access: 'open', keys: undefined, firstKey: undefined };
  const { keys, firstSecret } = await openKeyStore(place);
  return { access: anyOf(tokens, keys), keys, firstKey: firstSecret };
}
