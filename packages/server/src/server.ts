import { join } from 'node:path';
import { createAgents } from './agents/agents.ts';
import { systemClock } from './base/clock.ts';
import { createIds } from './base/ids.ts';
import { type Lifetime, withLifetime } from './base/lifetime.ts';
import { inBackground } from './base/in-background.ts';
import { prepareDataDirectory } from './base/private-files.ts';
import { createTreeRemover } from './base/remove-tree.ts';
import { chooseEngine } from './engines/choose-engine.ts';
import { PROGRAM_HOMES } from './engines/claude-code/launch/program-homes.ts';
import { contextWindowOf } from './engines/context-window.ts';
import { costOf } from './engines/cost-of.ts';
import type { Engine } from './engines/engine.ts';
import { knownModels } from './engines/known-models.ts';
import { createGovernor, type Governor } from './engines/messages/governor.ts';
import { createMessagesEngine } from './engines/messages/messages-engine.ts';
import { createScriptedEngine } from './engines/scripted/engine.ts';
import { createScriptedHandler } from './engines/scripted/http/handler.ts';
import { createScriptedModel, type ScriptedModel } from './engines/scripted/model.ts';
import { createEnvironments } from './environments/environments.ts';
import { createWorkQueue } from './environments/work-queue.ts';
import type { Access } from './http/auth/authenticate.ts';
import { anyOf, DEFAULT_WORKSPACE } from './http/auth/credential.ts';
import { type KeyStore, type KeyStorePlace, openKeyStore } from './http/auth/key-store.ts';
import { checkSecret } from './http/auth/sealed-secret.ts';
import { createSessionTokens, type SessionTokens } from './http/auth/session-tokens.ts';
import { createTokenIssuers } from './http/auth/token-issuers.ts';
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
import { createProgramRoutes } from './http/routes/programs.ts';
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
import { openLog } from './open-log.ts';
import { checkWebhooks, openWebhooks, type WebhookChoice } from './open-webhooks.ts';
import { createReadiness } from './readiness.ts';
import { type ClaudeCodeChoice, forgetGone, openPrograms } from './open-programs.ts';
import { openNodePlace, openOwnPlace } from './server-place.ts';
import { systemSchedule } from './base/schedule.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';
import { createToolbox } from './tools/create-toolbox.ts';
import { ConnectionSlots } from './tools/mcp/connection-slots.ts';
import { ToolHosts } from './tools/host/server/tool-hosts.ts';
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
  /**
   * With a database: what seals the secrets that its servers share, so that the database alone does not have them. The same
   * for all of them, 32 characters or more. `FLEETLOOM_SECRET` of the environment unless it is given.
   */
  readonly secret?: string | undefined;
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
  /** Connections at the same time. As many as half of the descriptors of the process allow, unless it is said. */
  readonly connectionsMax?: number | undefined;
  /** Connections of one address other than loopback. Half of them unless it is said: more for a proxy on another machine. */
  readonly connectionsPerAddressMax?: number | undefined;
  /** Lets everybody on this machine in, without a key. */
  readonly isOpen?: boolean | undefined;
  /** Where models other than scripted ones are; without a credential there are only scripted ones. */
  readonly models?: {
    readonly credential: { readonly apiKey: string } | { readonly authToken: string };
    readonly baseURL?: string;
  };
  /** Answers all model requests, whatever the model is called, instead of the engines that models have. */
  readonly engine?: Engine | undefined;
  /** The claude program, which runs sessions whose model is `claude-code/…` in workspaces that are named. False: it is not used. */
  readonly claudeCode?: ClaudeCodeChoice | false | undefined;
  /** Who coordinates when a request to `/v1/orchestrate` does not say: an id or a name. */
  readonly defaultAgent?: string | undefined;
  /** A directory of scripts for the scripted model. */
  readonly scriptsDirectory?: string | undefined;
  /** Hosts that `web_fetch` and MCP may reach although they are private, as `host` or `host:port`. */
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
  await prepareDataDirectory(dataDirectory);
  if (url !== undefined) checkSecret(secretOf(options));
  if (url !== undefined) return await startOn(options, await openDatabase({ url, listenUrl }), true);
  return await startOn(
    options,
    await openSqliteStore({ path: join(dataDirectory, 'fleetloom.db'), onProblem: options.onProblem }),
    false,
  );
}

/** The server on a store that is open. It closes the store when it is closed, and when it cannot start. */
export async function startOn(options: ServerOptions, store: Store, isShared: boolean): Promise<FleetloomServer> {
  return await withLifetime(async (lifetime) => {
    lifetime.onClose(() => store.close());
    return await start(options, store, isShared, lifetime);
  });
}

async function start(
  options: ServerOptions,
  store: Store,
  isShared: boolean,
  lifetime: Lifetime,
): Promise<FleetloomServer> {
  const { dataDirectory, onProblem = (problem) => process.emitWarning(String(problem)) } = options;
  const clock = systemClock;
  const ids = createIds({ now: clock.now, random: Math.random });
  const { sharedWorkspaces, busySessionsMax, homeGoneMs } = options;
  const secret = secretOf(options);
  const remover = lifetime.add(createTreeRemover({ onProblem }), (opened) => opened.close());
  const shared = { sharedWorkspaces, busySessionsMax, homeGoneMs, secret };
  const about = { store, dataDirectory, ...shared, remover, clock, ids, onProblem };
  const place = lifetime.add(isShared ? await openNodePlace(about) : await openOwnPlace(about), (opened) =>
    opened.close(),
  );
  const { files, resources, outputs, openWorkspace, catchUp, signingKey } = place;
  const metrics = createMetrics(clock);
  const workspaces = async () => listWorkspaces((await keys?.list()) ?? []);
  const { webhooks, newKey } = await openWebhooks({
    choice: options.webhooks,
    store,
    dataDirectory,
    secret,
    workspaces,
    holder: isShared ? place.owner : undefined,
    isMine: () => place.isCaretaker(),
    clock,
    schedule: systemSchedule,
    onProblem,
  });
  lifetime.onClose(() => webhooks.close());
  const { log: plainLog, onLong, catchUp: catchUpLog } = openLog(store, onProblem);
  const log = lifetime.add(metrics.measureLog(webhooks.watch(plainLog)), (opened) => opened.close());
  const scripted = createScriptedModel({ scriptsDirectory: options.scriptsDirectory });
  const governor = options.models === undefined ? undefined : createGovernor();
  const engine = lifetime.add(
    metrics.measureEngine(showFiles(options.engine ?? createEngine(options, scripted, governor), files, onProblem)),
    (opened) => opened.close(),
  );
  const opened = openPrograms({ options, store, scripted, remover, onProblem });
  const { engine: ownPrograms, checkModel, checkSession, checkOptions } = opened;
  const programs = lifetime.add(showFilesToPrograms(ownPrograms, files, onProblem), (opened) => opened.close());
  const agents = createAgents({ store, clock, ids, checkModel });
  const environments = createEnvironments({ store, clock, ids });
  const hosts = new ToolHosts();
  const mcpSlots = new ConnectionSlots();
  const sessions = createSessions({
    store,
    log,
    engine,
    programs,
    models: modelFacts,
    openToolbox: (sessionId, { networking }) =>
      createToolbox({
        ...pickTools(options),
        hosts,
        mcpSlots,
        networking,
        readShownUrls: createShownUrls(store, sessionId),
      }),
    openWorkspace,
    clock,
    ids,
    random: Math.random,
    owner: place.owner,
    shared: place.shared,
    onLongLog: onLong,
    onProblem: (_, error) => onProblem(error),
  });

  const imports = createImports({ store, log, ids, models: modelFacts });
  const discardFork = async (sessionId: string) => {
    await Promise.all([place.forget(sessionId), programs.forget(sessionId)]);
  };
  const feeds = createEventFeeds({ store, log, catchUp, clock, ids, onMishap: onProblem });
  const fleetFeeds = createFleetFeeds({ store, log, clock, onLong, onMishap: onProblem });
  const findCrew = createCrewFinder({ store, agents, environments, ids, defaultAgent: options.defaultAgent });
  const isIssuerCurrent = createTokenIssuers({ keys: () => keys, store, clock });
  const tokens = createSessionTokens({ signingKey, clock, isIssuerCurrent });
  const { access, keys, firstKey } = await openAccess(options, place.keyPlace, tokens);
  const dashboard = createDashboard({
    directory: options.dashboardDirectory,
    keys,
    signingKey,
    clock,
    store,
    codes: place.loginCodes,
  });
  const workQueue = createWorkQueue({ store, clock, ids, workers: place.workers });
  const door = await createDoor({
    routes: [
      ...createAgentRoutes(agents),
      ...createEnvironmentRoutes(environments, keys),
      ...createEnvironmentKeyRoutes({ environments, keys }),
      ...createWorkRoutes({ queue: workQueue, tokens }),
      ...createModelRoutes({ listScripts: () => scripted.listScripts(), known: toKnownModels(options) }),
      ...createMetricsRoutes(metrics),
      ...createSessionRoutes({
        store,
        sessions,
        environments,
        clock,
        catchUp,
        ids,
        files,
        resources,
        discard: place.forget,
        checkModel: checkSession,
        checkOptions,
      }),
      ...createForkRoutes({ store, sessions, clock, ids, resources, discard: discardFork, checkModel: checkSession }),
      ...createProgramRoutes({ engine: programs, checkModel }),
      ...createEventRoutes({ store, log, sessions, catchUp, feeds, files }),
      ...createResourceRoutes({ store, resources }),
      ...createFileRoutes({ files, outputs, clock }),
      ...createThreadRoutes({ store, sessions, clock, feeds }),
      ...createExportRoutes({ store }),
      ...createImportRoutes({
        imports,
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
          imported: (sessionId) => imports.health(sessionId),
          nodes: place.healthNodes,
        }),
        node: place.node,
        endpoint: governor === undefined ? undefined : () => governor.counters(),
      }),
      ...createOrchestrateRoutes({
        store,
        sessions,
        findCrew,
        files,
        clock,
        feeds: fleetFeeds,
        checkModel: checkSession,
      }),
      ...createRequestRoutes({ store, log, sessions, feeds: fleetFeeds }),
    ],
    dashboard,
    access: access === 'open' || dashboard.sessions === undefined ? access : anyOf(dashboard.sessions, access),
    keys: store.keys,
    signingKey,
    claims: place.claims,
    host: options.host,
    port: options.port,
    allowedHosts: options.allowedHosts,
    connectionsMax: options.connectionsMax,
    connectionsPerAddressMax: options.connectionsPerAddressMax,
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
  const forgetting = new Set<Promise<void>>();
  lifetime.onClose(() => Promise.all(forgetting));
  lifetime.onClose(async () => {
    // Other nodes take over this one's sessions as soon as they are released; alone, requests under way come first.
    if (isShared) await Promise.all([door.close(), sessions.close()]);
    else await door.close().then(() => sessions.close());
  });
  const forget = (sessionId: string) => {
    const work = Promise.all([place.forget(sessionId), programs.forget(sessionId)]);
    const forgotten: Promise<void> = work.then(() => undefined, onProblem);
    forgetting.add(forgotten);
    inBackground(
      forgotten.finally(() => forgetting.delete(forgotten)),
      onProblem,
    );
  };
  store.subscribe((signals) => {
    for (const { type, sessionId } of signals) if (type === 'deleted') forget(sessionId);
  });
  place.leftovers.forEach(forget);
  const retention = createRetention({
    store,
    clock,
    schedule: systemSchedule,
    keep: options.keepDeltas ?? 'all',
    workspaces,
    isMine: () => place.isCaretaker(),
    onProblem: (_, error) => onProblem(error),
  });
  lifetime.onClose(() => workQueue.close());
  lifetime.onClose(() => retention.close());
  // What a server that was killed has left must not go on beside what is begun now.
  await programs.reap();
  inBackground(remover.resume(join(dataDirectory, PROGRAM_HOMES)), onProblem);
  inBackground(forgetGone(programs, store), onProblem);
  await place.start(sessions);
  await sessions.start();
  retention.start();
  webhooks.start();
  inBackground(workspaces().then(catchUpLog), onProblem);

  return {
    url: door.url,
    port: door.port,
    firstKey,
    webhookKey: newKey,
    dashboardUrl: () => dashboard.makeLink(door.url),
    close: () => lifetime.close(),
  };
}

function secretOf({ secret }: ServerOptions): string | undefined {
  return secret ?? process.env['FLEETLOOM_SECRET'];
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
