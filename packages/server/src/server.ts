import { join } from 'node:path';
import { createAgents } from './agents/agents.ts';
import { systemClock } from './base/clock.ts';
import { prepareDataDirectory } from './base/files/private-files.ts';
import { createTreeRemover } from './base/files/remove-tree.ts';
import { createIds } from './base/ids.ts';
import { inBackground } from './base/in-background.ts';
import { type Lifetime, withLifetime } from './base/lifetime.ts';
import { systemSchedule } from './base/schedule.ts';
import { openAdmission } from './composition/open-admission.ts';
import { createOpenEndpoints, createRoutes } from './composition/create-routes.ts';
import { lockDataDirectory } from './composition/lock-data-directory.ts';
import { openAccess } from './composition/credentials/open-access.ts';
import { openAudit } from './composition/audit/open-audit.ts';
import { type OpenEgressOptions, openEgress } from './composition/egress/open-egress.ts';
import { createMounts } from './composition/egress/open-mounts.ts';
import { openPreparation } from './composition/egress/open-preparation.ts';
import { openDatabase } from './composition/open-database.ts';
import { openLog } from './composition/open-log.ts';
import { modelFacts, openModels } from './composition/open-models.ts';
import { forgetGone, openPrograms } from './composition/open-programs.ts';
import { openPush } from './composition/open-push.ts';
import { createPreparationTurns } from './composition/preparation-turns.ts';
import { openSecrets } from './composition/credentials/open-secrets.ts';
import { openVaults } from './composition/credentials/open-vaults.ts';
import { checkWebhooks, openWebhooks } from './composition/open-webhooks.ts';
import { startSummaries } from './composition/summarise-sessions.ts';
import { openTls, watchTls } from './composition/watch-tls.ts';
import { watchDatabase } from './composition/watch-database.ts';
import { removeDeletedSessions } from './composition/remove-deleted-sessions.ts';
import type { ServerOptions } from './composition/server-options.ts';
import { openLocalStorage, openNodeStorage } from './composition/server-storage.ts';
import { createScriptedHandler } from './engines/model/scripted/http/handler.ts';
import { PROGRAM_HOMES } from './engines/program/launch/program-homes.ts';
import { createEnvironments } from './environments/environments.ts';
import { createWorkQueue } from './environments/work-queue.ts';
import { showFiles, showFilesToPrograms } from './files/show-files.ts';
import { createSessionLimits } from './http/routes/access/key-limits.ts';
import { createHttpServer } from './http/server/http-server.ts';
import { checkSecret } from './keys/sealed-secret.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createRetention, createSessions } from './sessions/index.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';
import { ToolHosts } from './tools/host/server/tool-hosts.ts';
import { ConnectionSlots } from './tools/mcp/connection-slots.ts';
import { HostResolver } from './tools/network/host-resolver.ts';
import { createToolbox } from './tools/registry/create-toolbox.ts';
import { createShownUrls } from './views/shown-urls.ts';

export type { ServerOptions } from './composition/server-options.ts';

/** A running server. */
export interface FleetloomServer {
  /** The base URL for clients. */
  readonly url: string;
  readonly port: number;
  /** The secret of the first API key, only if this start created it. It is not stored: show it to the operator. */
  readonly firstKey: string | undefined;
  /** The signing key of webhooks, only if this start created it. */
  readonly webhookKey: string | undefined;
  /** Creates a link that opens the dashboard signed in; it works once and expires soon. Without keys, the plain address. */
  dashboardUrl(): Promise<string>;
  /** Reads the certificates again. Throws, and leaves them as they are, if the files cannot be used. */
  reloadTls(): Promise<void>;
  /** From now on `/readyz` reports `stopping`, while requests are still served: call it some seconds before `close`. */
  announceStop(): void;
  /** Finishes open requests, stops all sessions and closes the database. The next start resumes the sessions. */
  close(): Promise<void>;
}

/**
 * Starts a server in this process.
 *
 * @example
 * const server = await startServer({ dataDirectory: '.fleetloom', isOpen: true });
 * const client = new Anthropic({ baseURL: httpServer.url, apiKey: 'any' });
 */
export async function startServer(options: ServerOptions): Promise<FleetloomServer> {
  const { dataDirectory, database: url, databaseListen: listenUrl, databaseTls: tls } = options;
  checkWebhooks(options.webhooks);
  await prepareDataDirectory(dataDirectory);
  if (url !== undefined) checkSecret(secretOf(options));
  if (url !== undefined) {
    return await startOn(options, await openDatabase({ url, listenUrl, tls, checksSignals: true }), true);
  }
  return await startOn(
    options,
    await openSqliteStore({ path: join(dataDirectory, 'fleetloom.db'), onProblem: options.onProblem }),
    false,
  );
}

/** Starts a server on an open store. The store is closed with the server, and if the start fails. */
export async function startOn(options: ServerOptions, store: Store, isShared: boolean): Promise<FleetloomServer> {
  return await withLifetime(async (lifetime) => {
    lifetime.onClose(() => store.close());
    return await start(options, store, isShared, lifetime);
  });
}

/** Opens the parts in order of dependency, each registered on the lifetime, which closes them in reverse order. */
async function start(
  options: ServerOptions,
  store: Store,
  isShared: boolean,
  lifetime: Lifetime,
): Promise<FleetloomServer> {
  const { dataDirectory, onProblem = (problem) => process.emitWarning(String(problem)) } = options;
  const clock = systemClock;
  const ids = createIds({ now: clock.now, random: Math.random });
  const secret = secretOf(options);
  const remover = lifetime.add(createTreeRemover({ onProblem }), (opened) => opened.close());
  const resolver = lifetime.add(new HostResolver(), (opened) => opened.close());
  const shared = { store, resolver, inTurn: createPreparationTurns(store), clock, ids, onProblem };
  const openLock = async () => lifetime.add(await lockDataDirectory(dataDirectory), (lock) => lock.close());
  const directoryLock = isShared ? await openLock() : undefined;
  const masterKeys = await openSecrets({ options, store, isShared, secret });
  const openStorage = isShared ? openNodeStorage : openLocalStorage;
  const storage = lifetime.add(
    await openStorage({
      ...pickShared(options),
      ...shared,
      dataDirectory,
      directoryLock,
      secret,
      openSealer: () => masterKeys.openSealer(),
      remover,
    }),
    (opened) => opened.close(),
  );
  const { files, openWorkspace, repositories, signingKey } = storage;
  const metrics = createMetrics(clock);
  const workspaces = () => listWorkspaces();
  const { webhooks, newKey } = await openWebhooks({
    choice: options.webhooks,
    store,
    dataDirectory,
    secret,
    workspaces,
    holder: isShared ? storage.owner : undefined,
    isMine: () => storage.isLeader(),
    clock,
    schedule: systemSchedule,
    onProblem,
  });
  lifetime.onClose(() => webhooks.close());
  const { allowedPrivateHosts, allowUnsandboxedBash, strictNetwork } = options;
  const vaults = lifetime.add(
    openVaults({ store, masterKeys, onEvents: webhooks.onResourceEvents, allowedPrivateHosts, resolver, clock, ids }),
    (opened) => opened.close(),
  );
  const common = { options, ...shared, variablesOf: vaults.variablesOf };
  const write: OpenEgressOptions['write'] = (...entries) => sessions.logConnections(...entries);
  const egress = lifetime.add(await openEgress({ ...common, write, onEntry: metrics.countEgress }), (opened) =>
    opened.closeAll(),
  );
  const preparation = lifetime.add(await openPreparation({ ...common, egress, repositories }), (opened) =>
    opened.close(),
  );
  const openMounts = createMounts(storage, egress, preparation);
  const push = lifetime.add(
    openPush({
      options,
      store,
      storage,
      resolver,
      secret: isShared ? secret : undefined,
      keys: () => keys,
      logins: () => dashboard.logins,
      clock,
      onProblem,
    }),
    (opened) => opened.close(),
  );
  const { log: plainLog, onLong, catchUp: catchUpLog } = openLog(store, onProblem);
  const log = lifetime.add(metrics.measureLog(push.watch(webhooks.watch(plainLog))), (opened) => opened.close());
  const models = openModels(options, lifetime);
  const { scripted } = models;
  const {
    all,
    programOf: findEngine,
    ...checks
  } = await openPrograms({
    options,
    store,
    scripted,
    remover,
    openMounts,
    openAuthorization: vaults.authorizationOf,
    openEgress: egress.openProgram,
    resolver,
    onProblem,
  });
  const programs = lifetime.add(all, (opened) => opened.close());
  const programOf = (model: string) => showFilesToPrograms(findEngine(model), files, onProblem);
  const agents = createAgents({ store, clock, ids, checkModel: checks.checkModel });
  const environments = createEnvironments({ store, clock, ids });
  const pools = { hosts: new ToolHosts(), mcpSlots: new ConnectionSlots() };
  const tools = { allowUnsandboxedBash, allowedPrivateHosts, strictNetwork, ...pools };
  const sessions = createSessions({
    store,
    log,
    engine: models.engine,
    programOf,
    models: modelFacts,
    prepareRequest: (request) => showFiles(request, files, onProblem),
    onRequestEnd: metrics.countModelRequest,
    openToolbox: (sessionId, { networking }) => {
      const readShownUrls = createShownUrls(store, sessionId);
      const openOwnMounts = (worktreeOwner: string | null) => openMounts(sessionId, worktreeOwner);
      const toolbox = createToolbox({
        ...tools,
        networking,
        resolveHost: resolver.forSession(),
        findTenant: () => store.sessions.findWorkspace(sessionId),
        readShownUrls,
        openMounts: openOwnMounts,
        mcpAuthorization: vaults.authorizationOf(sessionId),
      });
      const close = async () => {
        await toolbox.close();
        await Promise.all([repositories.closeRelay(sessionId), egress.close(sessionId)]);
      };
      return { ...toolbox, close };
    },
    openWorkspace,
    removeWorkspace: storage.discardWorkspace,
    prepareWorkspace: preparation.prepare,
    openRecorder: (sessionId, tree, opened) => storage.snapshots.openRecorder(sessionId, tree, opened),
    threadWorkspaces: storage.threadWorkspaces,
    copyFiles: storage.copyFiles,
    clock,
    ids,
    random: Math.random,
    owner: storage.owner,
    shared: storage.shared,
    onLongLog: onLong,
    onProblem: (_, error) => onProblem(error),
  });
  const workQueue = createWorkQueue({ store, clock, ids, workers: storage.workers });
  const opened = lifetime.add(await openAccess({ options, storage, store, clock, onProblem }), (access) =>
    access.close(),
  );
  const { access, keys, firstKey, tokens, dashboard, listWorkspaces } = opened;
  lifetime.add(
    await openAudit({
      store,
      dataDirectory,
      options,
      serverName: storage.node.id ?? 'local',
      isMine: () => storage.isLeader(),
      clock,
      schedule: systemSchedule,
      onProblem,
    }),
    (audit) => audit.close(),
  );
  const removeFiles = async (sessionId: string) => {
    await Promise.all([storage.forget(sessionId), programs.forget(sessionId)]);
  };
  const parts = {
    store,
    log,
    storage,
    agents,
    environments,
    vaults,
    sessions,
    workQueue,
    models,
    programOf,
    checks,
    keys,
    dashboard,
    webhooks,
    keepDeltas: options.keepDeltas ?? 'all',
    defaultAgent: options.defaultAgent,
    push,
  };
  const database = isShared
    ? lifetime.add(watchDatabase({ store, schedule: systemSchedule, onProblem }), (watch) => watch.close())
    : undefined;
  const { admission, lag } = openAdmission({ store, log, clock, schedule: systemSchedule, onProblem });
  lifetime.onClose(() => lag.close());
  const tls = await openTls(options.tls, clock, onProblem);
  const httpServer = await createHttpServer({
    tls,
    routes: createRoutes({ ...parts, tokens, metrics, removeFiles, onLong, clock, ids, onProblem }),
    dashboard,
    open: createOpenEndpoints(vaults, dashboard),
    access,
    keys: store.keys,
    signingKey,
    claims: storage.claims,
    host: options.host,
    port: options.port,
    allowedHosts: options.allowedHosts,
    trustedProxies: options.trustedProxies,
    connectionsMax: options.connectionsMax,
    connectionsPerAddressMax: options.connectionsPerAddressMax,
    checkSessionLimits: createSessionLimits(store, storage.resources),
    mounts: [
      {
        name: 'scripted',
        path: SCRIPTED_PATH,
        handle: createScriptedHandler({ model: models.scripted, basePath: SCRIPTED_PATH }),
      },
    ],
    rateLimit: options.rateLimit,
    database,
    admission,
    log: metrics.measureRequests(options.log ?? {}),
    clock,
    ids,
  });
  metrics.watch({
    http: httpServer,
    admission,
    sessions: () => sessions.figures(),
    countNodes: () => storage.node.count(),
    lag,
    database,
    connections: store.connections,
    endpoint: models.governor === undefined ? undefined : () => models.governor!.counters(),
    listWebhooks: () => webhooks.list(),
  });
  const deletedSessions = lifetime.add(removeDeletedSessions(store, removeFiles, onProblem), (started) =>
    started.close(),
  );
  lifetime.onClose(async () => {
    // Other nodes take over the sessions of this node as soon as they are released; a single server finishes requests first.
    if (isShared) await Promise.all([httpServer.close(), sessions.close()]);
    else await httpServer.close().then(() => sessions.close());
  });
  const tlsWatch =
    options.tls === undefined
      ? undefined
      : lifetime.add(
          watchTls({
            files: options.tls,
            onChange: (changed) => httpServer.setTls(changed),
            schedule: systemSchedule,
            onProblem,
          }),
          (watch) => watch.close(),
        );
  storage.orphanedSessions.forEach((sessionId) => deletedSessions.remove(sessionId));
  const retention = createRetention({
    store,
    clock,
    schedule: systemSchedule,
    keep: options.keepDeltas ?? 'all',
    workspaces,
    isMine: () => storage.isLeader(),
    onProblem: (_, error) => onProblem(error),
  });
  lifetime.onClose(() => workQueue.close());
  lifetime.onClose(() => retention.close());

  // Processes that a killed server has left must end before sessions start new ones.
  await programs.reap();
  inBackground(remover.resume(join(dataDirectory, PROGRAM_HOMES)), onProblem);
  inBackground(forgetGone(programs, store), onProblem);
  await storage.start(sessions);
  await sessions.start();
  retention.start();
  webhooks.start();
  push.start();
  inBackground(workspaces().then(catchUpLog), onProblem);
  lifetime.add(startSummaries(store, onProblem), (summaries) => summaries.close());

  return {
    url: httpServer.url,
    port: httpServer.port,
    firstKey,
    webhookKey: newKey,
    dashboardUrl: () => dashboard.makeLink(httpServer.url),
    reloadTls: async () => await tlsWatch?.reload(),
    announceStop: () => httpServer.announceStop(),
    close: () => lifetime.close(),
  };
}

function secretOf({ secret }: ServerOptions): string | undefined {
  return secret ?? process.env['FLEETLOOM_SECRET'];
}

function pickShared(options: ServerOptions) {
  const { sharedWorkspaces, busySessionsMax, homeGoneMs, allowedDirectories, allowUnsandboxedBash } = options;
  const { gitHosts, gitPush, snapshotFileBytesMax } = options;
  const sources = { allowedDirectories, allowUnsandboxedBash, gitHosts, gitPush, snapshotFileBytesMax };
  return { sharedWorkspaces, busySessionsMax, homeGoneMs, ...sources };
}

/** The path under which the scripted model serves the Messages API. */
const SCRIPTED_PATH = '/scripted';
