import type { Agents } from '../agents/agents.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Environments } from '../environments/environments.ts';
import type { WorkQueue } from '../environments/work-queue.ts';
import { createAgentRoutes } from '../http/routes/agents.ts';
import { createAuditRoute } from '../http/routes/access/audit.ts';
import { createKeyRoutes } from '../http/routes/access/keys.ts';
import { createSessionLimits } from '../http/routes/access/key-limits.ts';
import { createApprovalRuleRoutes } from '../http/routes/rules/approval-rules.ts';
import type { Dashboard } from '../http/dashboard/dashboard.ts';
import { sendPage } from '../http/dashboard/send-page.ts';
import { createLoginRoutes } from '../http/dashboard/login-routes.ts';
import { createLoginLinkRoute } from '../http/dashboard/login-link-route.ts';
import { createEnvironmentKeyRoutes } from '../http/routes/environment-keys.ts';
import { createEnvironmentRoutes, createResourceCheck } from '../http/routes/environments.ts';
import { createEventFeeds } from '../http/feeds/event-feeds.ts';
import { createExportRoutes } from '../http/routes/export.ts';
import { createRosterFinder } from '../http/routes/find-roster.ts';
import { createFileRoutes } from '../http/routes/files.ts';
import { createChangesRoutes } from '../http/routes/changes.ts';
import { createEgressRoutes } from '../http/routes/egress/connections.ts';
import { createSessionProgramRoutes } from '../http/routes/session-program.ts';
import { createHealthRoutes } from '../http/routes/health.ts';
import { createMetricsRoutes } from '../http/routes/metrics.ts';
import { createModelRoutes } from '../http/routes/models.ts';
import { createProgramRoutes } from '../http/routes/programs.ts';
import { createPushRoutes } from '../http/routes/push/push-routes.ts';
import { createOrchestrateRoutes } from '../http/routes/orchestrate.ts';
import { createRequestRoutes } from '../http/routes/requests.ts';
import { createFleetRoutes } from '../http/routes/fleet.ts';
import { createFleetFeeds } from '../http/feeds/fleet-feeds.ts';
import { createImportRoutes } from '../http/routes/imports.ts';
import { createForkRoutes } from '../http/routes/fork.ts';
import { createEventRoutes } from '../http/routes/session-events.ts';
import { createResourceRoutes } from '../http/routes/session-resources.ts';
import { createSettingsRoute } from '../http/dashboard/settings-route.ts';
import { createSessionRoutes } from '../http/routes/sessions.ts';
import { createCredentialRoutes } from '../http/routes/vaults/credentials.ts';
import { createOAuthCallback } from '../http/routes/vaults/oauth-callback.ts';
import { createOAuthFlowRoutes } from '../http/routes/vaults/oauth-flows.ts';
import { createSecretsRoutes } from '../http/routes/vaults/secrets.ts';
import { createVaultRoutes } from '../http/routes/vaults/vaults.ts';
import { createThreadRoutes } from '../http/routes/threads.ts';
import { createWorkRoutes } from '../http/routes/work.ts';
import type { Endpoint } from '../http/routing/endpoint.ts';
import type { AnyRoute } from '../http/routing/route.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { SessionTokens } from '../keys/session-tokens.ts';
import type { SessionLog } from '../log/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createRules } from '../rules/rules.ts';
import {
  createHealthFinder,
  createImports,
  createProgramControl,
  type KeepDeltas,
  type Sessions,
} from '../sessions/index.ts';
import type { Push } from '../push/push.ts';
import type { Store } from '../store/store.ts';
import { webhookLimits } from '../webhooks/limits.ts';
import { toFleetWebhook } from '../webhooks/to-fleet-webhook.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { createMachineFinder } from './find-machine.ts';
import { modelFacts, type OpenedModels } from './open-models.ts';
import type { OpenedPrograms } from './open-programs.ts';
import { createVaultCheck, type OpenedVaults } from './credentials/open-vaults.ts';
import type { ServerStorage } from './server-storage.ts';

/** The services of a server that its routes call. */
export interface RouteParts {
  readonly store: Store;
  readonly log: SessionLog;
  readonly storage: ServerStorage;
  readonly agents: Agents;
  readonly environments: Environments;
  readonly vaults: OpenedVaults;
  readonly sessions: Sessions;
  readonly workQueue: WorkQueue;
  readonly models: OpenedModels;
  readonly programOf: OpenedPrograms['programOf'];
  readonly checks: Pick<OpenedPrograms, 'checkModel' | 'checkSession' | 'checkOptions' | 'namedEngines'>;
  readonly keys: KeyStore | undefined;
  readonly dashboard: Pick<Dashboard, 'codes' | 'logins' | 'auditLog'>;
  readonly webhooks: Pick<Webhooks, 'list'>;
  readonly keepDeltas: KeepDeltas;
  readonly tokens: SessionTokens;
  readonly push: Push;
  readonly metrics: Metrics;
  /** The id or name of the coordinator for requests to `/v1/orchestrate` that do not name one. */
  readonly defaultAgent: string | undefined;
  /** Removes the files of a session whose creation failed. */
  readonly removeFiles: (sessionId: string) => Promise<void>;
  /** Requests checkpoints for a session with a long log. */
  readonly onLong: (sessionId: string, head: number) => void;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onProblem: (problem: unknown) => void;
}

/** Creates every route of the HTTP API. */
export function createRoutes(parts: RouteParts): readonly AnyRoute[] {
  const { store, log, storage, agents, environments, sessions, workQueue, programOf, keys, tokens, metrics } = parts;
  const { vaults } = parts;
  const { defaultAgent, removeFiles, onLong, clock, ids, onProblem } = parts;
  const { files, resources, sources, outputs, catchUp } = storage;
  const { checkModel, checkSession, checkOptions } = parts.checks;
  const { scripted, governor, known } = parts.models;
  const onControlled = (sessionId: string) => sessions.watchFollowed(sessionId);
  const imports = createImports({ store, log, ids, models: modelFacts, onControlled });
  const feeds = createEventFeeds({ store, log, catchUp, clock, ids, onError: onProblem });
  const fleetFeeds = createFleetFeeds({ store, log, clock, onLong, onError: onProblem });
  const findRoster = createRosterFinder({ store, agents, environments, ids, defaultAgent });
  return [
    ...createAgentRoutes(agents),
    ...createEnvironmentRoutes(environments, keys, createResourceCheck(sources)),
    ...createVaultRoutes(vaults.vaults),
    ...createCredentialRoutes(vaults.credentials, vaults.validate),
    ...createOAuthFlowRoutes(vaults.oauthFlows),
    ...createSecretsRoutes(vaults.secretKeys),
    ...createEnvironmentKeyRoutes({ environments, keys }),
    ...createWorkRoutes({ queue: workQueue, tokens }),
    ...createModelRoutes({ listScripts: () => scripted.listScripts(), known }),
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
      sources,
      discard: storage.forget,
      checkVaults: createVaultCheck(vaults.vaults, programOf),
      checkModel: checkSession,
      checkOptions,
    }),
    ...createForkRoutes({
      store,
      sessions,
      clock,
      ids,
      resources,
      sources,
      discard: removeFiles,
      checkModel: checkSession,
    }),
    ...createProgramRoutes({ programOf, checkModel, namedEngines: parts.checks.namedEngines }),
    ...createSessionProgramRoutes({
      store,
      controlProgram: createProgramControl({
        leases: store.leases,
        own: (sessionId, control) => sessions.control(sessionId, control),
        nodes: storage.controlNodes,
      }),
    }),
    ...createEventRoutes({ store, log, sessions, catchUp, feeds, files }),
    ...createChangesRoutes({ store, changes: storage.openChanges(sessions) }),
    ...createResourceRoutes({ store, resources, repositories: storage.repositorySources }),
    ...createFileRoutes({ files, outputs, clock }),
    ...createEgressRoutes({ store }),
    ...createThreadRoutes({ store, sessions, clock, feeds }),
    ...createExportRoutes({ store }),
    ...createImportRoutes({
      imports,
      environments,
      clock,
      ids,
    }),
    ...createFleetRoutes({ store, feeds: fleetFeeds, clock }),
    ...createApprovalRuleRoutes({
      store,
      agents,
      sessions,
      rules: createRules({ store, clock, ids }),
      checkSessionLimits: createSessionLimits(store, resources),
    }),
    ...createHealthRoutes({
      store,
      findHealth: createHealthFinder({
        leases: store.leases,
        own: (sessionId) => sessions.health(sessionId),
        imported: (sessionId) => imports.health(sessionId),
        nodes: storage.healthNodes,
      }),
      node: storage.node,
      endpoint: governor === undefined ? undefined : () => governor.counters(),
    }),
    ...createOrchestrateRoutes({
      store,
      sessions,
      findRoster,
      files,
      resources,
      sources,
      discard: storage.forget,
      ids,
      clock,
      feeds: fleetFeeds,
      checkModel: checkSession,
    }),
    ...createPushRoutes(parts.push),
    ...createRequestRoutes({ store, log, sessions, feeds: fleetFeeds }),
    createLoginLinkRoute(parts.dashboard),
    ...createLoginRoutes(parts.dashboard),
    createAuditRoute(store),
    ...createKeyRoutes({ keys, clock }),
    createSettingsRoute({
      node: storage.node,
      keys,
      modelEndpoint: parts.models.endpoint,
      findMachine: createMachineFinder(clock),
      listWebhooks: () => parts.webhooks.list().map(toFleetWebhook),
      webhookEventMs: webhookLimits.webhookKeepMs,
      keepDeltas: parts.keepDeltas,
    }),
  ];
}

/** Creates the endpoints that need no key. */
export function createOpenEndpoints(
  { oauthFlows }: Pick<OpenedVaults, 'oauthFlows'>,
  dashboard: Dashboard,
): readonly Endpoint[] {
  return createOAuthCallback(oauthFlows, async (exchange, { status, problem }) => {
    const files = await dashboard.files();
    if (files?.has(PAGE) === true) return await sendPage(exchange, dashboard, PAGE, { status, problem });
    exchange.outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
    exchange.outgoing.end(`${problem}\n`);
  });
}

/** The page that a browser shows after an authorization server has redirected back. */
const PAGE = '/connected.html';
