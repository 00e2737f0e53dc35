import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { inBackground } from '../base/in-background.ts';
import type { Ids } from '../base/ids.ts';
import type { JsonObject } from '../base/json/json.ts';
import { compositionLimits } from './limits.ts';
import { httpLimits } from '../http/limits.ts';
import { nodeLimits } from '../nodes/limits.ts';
import type { TreeRemover } from '../base/files/remove-tree.ts';
import { systemSchedule } from '../base/schedule.ts';
import type { SeenWorkers } from '../environments/pollers.ts';
import { createSharedWorkers } from '../environments/shared-workers.ts';
import { createKeyDocuments } from '../keys/key-storage.ts';
import type { KeyLocation } from '../keys/key-store.ts';
import type { Sealer } from '../keys/sealer.ts';
import { checkSecret } from '../keys/sealed-secret.ts';
import { openSharedSigningKey } from '../keys/shared-signing-key.ts';
import { openSigningKey } from '../keys/signing-key.ts';
import { type CatchUp, createCatchUp } from '../http/streams/catch-up.ts';
import { LOGIN } from '../http/dashboard/logins.ts';
import { LOGIN_CODE, LOGIN_CODES } from '../http/dashboard/login-codes.ts';
import { type FileStore, openFileStore } from '../files/file-store.ts';
import { createDeferredMounts, createMountSweep, MOUNTING } from '../files/deferred-mounts.ts';
import { answerBlob, answerOutputs, createNodeOutputs } from '../files/node-outputs.ts';
import { createResourceDirectory, createResourceDocuments, SESSION_RESOURCES } from '../files/resource-store.ts';
import { createSessionOutputs, type SessionOutputs } from '../files/session-outputs.ts';
import { createLocalMounts, createSessionResources, type SessionResources } from '../files/session-resources.ts';
import { createSharedFileStore } from '../files/shared-file-store.ts';
import { CATCH_UP, createSharedCatchUp } from '../http/streams/shared-catch-up.ts';
import { CLAIM, type Claims, createSharedClaims } from '../http/idempotency/shared-claims.ts';
import { findOrphanedSessions } from './find-orphaned-sessions.ts';
import type { DirectoryLock } from './lock-data-directory.ts';
import { openNodeRegistry } from './open-node-registry.ts';
import { openRepositories } from './open-repositories.ts';
import type { InTurn } from '../workspaces/clone/in-turn.ts';
import { REPOSITORY_TOKENS } from '../workspaces/clone/repository-tokens.ts';
import type { RepositorySources } from '../workspaces/repository-sources.ts';
import type { Repositories } from '../workspaces/clone/repositories.ts';
import type { GitPush } from '../workspaces/relay/git-proxy.ts';
import { answerControl, type ControlNodes, createControlNodes } from '../nodes/node-controls.ts';
import { answerHealth, createHealthNodes, type HealthNodes, toOwner } from '../nodes/node-health.ts';
import { createStoredWorkspaceLocations, WORKSPACE_LOCATION } from '../nodes/stored-workspace-locations.ts';
import { openNodeId } from '../nodes/node-id.ts';
import { createNodeMessages, NODE_ANSWER } from '../nodes/node-messages.ts';
import { HostResolver } from '../tools/network/host-resolver.ts';
import { sweep } from '../nodes/sweep.ts';
import type { SessionControl, Sessions, SharedParts } from '../sessions/index.ts';
import type { Changes, ChangesOwner } from '../workspaces/changes/changes.ts';
import { answerChanges, createNodeChanges } from '../workspaces/changes/node-changes.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { ThreadWorkspaces } from '../workspaces/isolation/thread-workspaces.ts';
import { IN_PLACE_LOCK } from '../workspaces/sources/in-place-locks.ts';
import { RECORDS } from '../workspaces/sources/source-records.ts';
import {
  answerForks,
  createLocalForks,
  createNodeForks,
  type ForkedWorkspaces,
} from '../workspaces/sources/node-forks.ts';
import type { SessionSources } from '../workspaces/sources/session-sources.ts';
import { createSnapshotBackups, SNAPSHOT_BACKUP } from '../workspaces/snapshots/snapshot-backups.ts';
import type { Snapshots } from '../workspaces/snapshots/snapshots.ts';
import { openWorkspaces, SNAPSHOTS, type WorkspaceServerOptions } from './open-workspaces.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** The storage of a server: in its data directory, or in a database that nodes share. */
export interface ServerStorage {
  readonly owner: string;
  readonly files: FileStore;
  readonly resources: SessionResources;
  /** Checks the sources of workspaces of new sessions. */
  readonly sources: SessionSources;
  readonly workspaces: Workspaces;
  /** The recorded files of sessions. */
  readonly snapshots: Snapshots;
  /** Copies the recorded files of a session for a fork of it, on whichever node they are. */
  readonly copyFiles: ForkedWorkspaces['copyFiles'];
  /** Removes a workspace whose changes were discarded, and the records that would restore them. */
  readonly discardWorkspace: (sessionId: string) => Promise<void>;
  /** The worktrees of threads that do not work in the workspace of their session. */
  readonly threadWorkspaces: ThreadWorkspaces;
  /** Opens the API for changes in workspaces, on any node. */
  readonly openChanges: (sessions: OwnedSessions) => Changes;
  readonly outputs: SessionOutputs;
  readonly repositories: Repositories;
  readonly repositorySources: RepositorySources;
  /** Opens the workspace of a session with its mounted files. */
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly signingKey: Uint8Array;
  readonly keyLocation: KeyLocation;
  readonly catchUp: CatchUp;
  readonly workers: SeenWorkers | undefined;
  readonly claims: Claims | undefined;
  /** Set if several nodes share the store. */
  readonly shared: SharedParts | undefined;
  /** The id of this node, null for a single server, and the number of live nodes. */
  readonly node: { readonly id: string | null; readonly count: () => number };
  /** Requests to other nodes; undefined for a single server. */
  readonly healthNodes: HealthNodes | undefined;
  readonly controlNodes: ControlNodes | undefined;
  /** Whether this process does the work that only one node should do. */
  readonly isLeader: () => boolean;
  /** Removes the files of a deleted session. */
  readonly forget: (sessionId: string) => Promise<void>;
  /** Sessions that were deleted before this start and still have files on this disk. */
  readonly orphanedSessions: readonly string[];
  /** Starts heartbeats and answers requests of other nodes. */
  readonly start: (sessions: Pick<Sessions, 'health' | 'control'> & OwnedSessions) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Operations on workspaces that the owner of the session executes. */
export type OwnedSessions = Pick<Sessions, 'logApplied' | 'discardWorkspace' | 'restoreWorkspace' | 'mergeChanges'>;

function toOwnerOfChanges(sessions: OwnedSessions): ChangesOwner {
  return {
    logApplied: ({ workspaceId, sessionId }, applied) => sessions.logApplied(workspaceId, sessionId, applied),
    discard: ({ workspaceId, sessionId }, by) => sessions.discardWorkspace(workspaceId, sessionId, by),
    restore: ({ workspaceId, sessionId }, { from, tree }, by) =>
      sessions.restoreWorkspace(workspaceId, sessionId, { from, tree, by }),
    merge: ({ workspaceId, sessionId }, threadId, by) =>
      sessions.mergeChanges(workspaceId, sessionId, { threadId, by }),
  };
}

/** Options of the storage of a server. */
export interface ServerStorageOptions extends WorkspaceServerOptions {
  readonly store: Store;
  readonly dataDirectory: string;
  /** Set for nodes: the lock, with the processes that used the data directory before. */
  readonly directoryLock?: DirectoryLock | undefined;
  /** The directory of workspaces that every node mounts. */
  readonly sharedWorkspaces?: string | undefined;
  readonly busySessionsMax?: number | undefined;
  /** How long a node may be offline before the workspaces on its disk count as lost. */
  readonly homeGoneMs?: number | undefined;
  /** Hosts that repositories may be cloned from in addition to github.com. */
  readonly gitHosts?: readonly string[] | undefined;
  readonly gitPush?: GitPush | undefined;
  /** Encrypts the secrets that nodes share in the store. */
  readonly secret?: string | undefined;
  /** Opens the encryption of the secrets of users. */
  readonly openSealer: () => Promise<Sealer>;
  /** Removes the workspaces of deleted sessions. */
  readonly remover: Pick<TreeRemover, 'discard' | 'resume'>;
  /** Resolves the names of git hosts. */
  readonly resolver?: HostResolver | undefined;
  readonly inTurn: InTurn;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the storage of a single server in its data directory. */
export async function openLocalStorage(options: ServerStorageOptions): Promise<ServerStorage> {
  const { store, dataDirectory, clock, ids, onProblem } = options;
  const directory = join(dataDirectory, 'workspaces');
  const resourceStore = createResourceDirectory(join(dataDirectory, 'resources'));
  const { repositories, repositorySources } = await openRepositories({
    ...options,
    resourceStore,
    workspacesDirectory: directory,
  });
  const {
    workspaces,
    snapshots,
    threadWorkspaces,
    toChanges,
    toSources,
    resume: resumeWorkspaces,
    close: closeWorkspaces,
  } = openWorkspaces({
    ...options,
    directory,
    stateDirectory: dataDirectory,
    resourceStore,
    repositorySources,
  });
  await resumeWorkspaces(onProblem);
  const openWorkspace = (sessionId: string) => workspaces.open(sessionId);
  const files = await openFileStore({ directory: join(dataDirectory, 'files'), clock, ids, onProblem });
  const resources = createSessionResources({
    resourceStore,
    files,
    mounts: createLocalMounts(openWorkspace),
    clock,
    ids,
  });
  const forget = async (sessionId: string) => {
    await repositories.remove(sessionId);
    await Promise.all([workspaces.remove(sessionId), snapshots.remove(sessionId), resources.forget(sessionId)]);
  };
  const orphanedSessions = await findOrphanedSessions({
    store,
    mark: join(dataDirectory, 'store-id'),
    directories: ['workspaces', 'resources', RECORDS, SNAPSHOTS].map((name) => join(dataDirectory, name)),
    ageMs: 0,
    onProblem,
  });
  return {
    owner: randomUUID(),
    files,
    resources,
    sources: toSources(resources),
    workspaces,
    snapshots,
    copyFiles: (from, to, tree) => snapshots.copyTo(from, to, tree),
    discardWorkspace: (sessionId) => workspaces.remove(sessionId),
    threadWorkspaces,
    openChanges: (sessions) => toChanges(toOwnerOfChanges(sessions)),
    outputs: createSessionOutputs({ store, openWorkspace }),
    repositories,
    repositorySources,
    openWorkspace,
    signingKey: await openSigningKey(join(dataDirectory, 'signing-key')),
    keyLocation: { directory: join(dataDirectory, 'keys') },
    catchUp: createCatchUp(clock),
    workers: undefined,
    claims: undefined,
    shared: undefined,
    node: { id: null, count: () => 1 },
    healthNodes: undefined,
    controlNodes: undefined,
    isLeader: () => true,
    forget,
    orphanedSessions,
    start: async () => {},
    close: async () => {
      await closeWorkspaces();
      await repositories.close();
    },
  };
}

/** Opens the storage of one of several nodes: everything is in the store except workspaces, which are on its disk or on a shared one. */
export async function openNodeStorage(options: ServerStorageOptions): Promise<ServerStorage> {
  const { store, dataDirectory, sharedWorkspaces, busySessionsMax, homeGoneMs } = options;
  const { directoryLock, clock, ids, onProblem } = options;
  const nodeId = await openNodeId(dataDirectory);
  const owner = toOwner(nodeId, randomUUID());
  const nodes = await openNodeRegistry({ store, nodeId, instance: owner, directoryLock, clock, onProblem });
  const workspacesDirectory = sharedWorkspaces ?? join(dataDirectory, 'workspaces');
  // The state of shared workspaces is shared, too.
  const stateDirectory = sharedWorkspaces === undefined ? dataDirectory : join(sharedWorkspaces, '.sources');
  const resourceStore = createResourceDocuments(store);
  const backups = createSnapshotBackups({ store, onProblem });
  const secret = checkSecret(options.secret);
  const { repositories, repositorySources } = await openRepositories({
    ...options,
    resourceStore,
    workspacesDirectory,
  });
  const {
    workspaces,
    snapshots,
    threadWorkspaces,
    toChanges,
    toSources,
    resume: resumeWorkspaces,
    close: closeWorkspaces,
  } = openWorkspaces({
    ...options,
    directory: workspacesDirectory,
    stateDirectory,
    resourceStore,
    repositorySources,
    backups: sharedWorkspaces === undefined ? backups : undefined,
  });
  await resumeWorkspaces(onProblem);
  const files = createSharedFileStore({ store, clock, ids });
  const later = createDeferredMounts({ store, resourceStore, directory: join(dataDirectory, 'mounted'), onProblem });
  const isEverywhere = sharedWorkspaces !== undefined;
  const openPlain = (sessionId: string) => workspaces.open(sessionId);
  const openWorkspace = async (sessionId: string) => {
    const workspace = await workspaces.open(sessionId);
    await later.bring(sessionId, workspace);
    return workspace;
  };
  const mounts = isEverywhere ? createLocalMounts(openPlain) : later;
  const resources = createSessionResources({ resourceStore, files, mounts, clock, ids });
  const locations = createStoredWorkspaceLocations({
    store,
    nodes,
    workspaces: isEverywhere ? 'shared' : workspaces,
    goneMs: homeGoneMs,
  });
  const messages = createNodeMessages({ store, nodeId, schedule: systemSchedule, onProblem });
  const local = createSessionOutputs({ store, openWorkspace: openPlain });
  const findOther = (sessionId: string) => locations.findOther(sessionId);
  const ask = (to: string, question: JsonObject) => messages.ask(to, question);
  const outputs = isEverywhere ? local : createNodeOutputs({ store, local, findOther, ask });
  const settle = (sessionId: string) => locations.settle(sessionId, 'workspace');
  const localSources = toSources(resources, settle);
  const localForks = createLocalForks(localSources, (from, to, tree) => snapshots.copyTo(from, to, tree), settle);
  const forks = isEverywhere ? localForks : createNodeForks({ local: localForks, findOther, ask });
  const localChanges = (sessions: OwnedSessions) => toChanges(toOwnerOfChanges(sessions));
  const sweepables = [
    { kind: CATCH_UP, keepMs: 10 * httpLimits.catchUpMs },
    { kind: LOGIN_CODE, keepMs: httpLimits.loginCodeMs },
    { kind: LOGIN_CODES, keepMs: httpLimits.loginCodeMs },
    { kind: LOGIN, keepMs: httpLimits.webSessionMs },
    { kind: WORKSPACE_LOCATION, isOfSession: true },
    { kind: IN_PLACE_LOCK, isOfSession: true },
    { kind: CLAIM, keepMs: 2 * httpLimits.claimMs },
    {
      kind: NODE_ANSWER,
      keepMs: 2 * nodeLimits.nodeMessageWaitMs,
      onSwept: ({ id }: DocumentRecord) => store.blobs.delete(answerBlob(id)),
    },
    // Files of sessions that were never created because a node was killed.
    { kind: MOUNTING, keepMs: compositionLimits.mountingMs, onSwept: createMountSweep(store, resourceStore) },
    { kind: REPOSITORY_TOKENS, isOfSession: true },
    { kind: SNAPSHOT_BACKUP, isOfSession: true, onSwept: ({ id }: DocumentRecord) => backups.remove(id) },
    { kind: SESSION_RESOURCES, isOfSession: true, onSwept: ({ id }: DocumentRecord) => resources.forget(id) },
  ];
  const orphanedSessions = await findOrphanedSessions({
    store,
    mark: isEverywhere ? join(sharedWorkspaces, '.store-id') : join(dataDirectory, 'store-id'),
    directories: isEverywhere
      ? [sharedWorkspaces, join(stateDirectory, RECORDS), join(stateDirectory, SNAPSHOTS)]
      : ['workspaces', 'mounted', RECORDS, SNAPSHOTS].map((name) => join(dataDirectory, name)),
    // If nodes share the files, another node may be about to create the session.
    ageMs: isEverywhere ? compositionLimits.mountingMs : 0,
    onProblem,
  });
  let cancelSweep = () => {};
  const sweepLater = () => {
    cancelSweep = systemSchedule(() => {
      const swept = nodes.isLeader() ? sweep(store, sweepables) : Promise.resolve(0);
      inBackground(swept.catch(onProblem).finally(sweepLater), onProblem);
    }, compositionLimits.sweepMs);
  };
  const healthNodes = createHealthNodes(nodeId, messages);
  return {
    owner,
    files,
    resources,
    sources: { ...localSources, addAgain: forks.addAgain },
    workspaces,
    snapshots,
    copyFiles: forks.copyFiles,
    discardWorkspace: async (sessionId) =>
      void (await Promise.all([backups.remove(sessionId), workspaces.remove(sessionId)])),
    threadWorkspaces,
    openChanges: (sessions) =>
      isEverywhere
        ? localChanges(sessions)
        : createNodeChanges({ local: localChanges(sessions), findOther, ask, blobs: store.blobs }),
    outputs,
    repositories,
    repositorySources,
    openWorkspace: isEverywhere ? openPlain : openWorkspace,
    signingKey: await openSharedSigningKey(store, secret),
    keyLocation: { storage: createKeyDocuments(store) },
    catchUp: createSharedCatchUp(store),
    workers: createSharedWorkers({ store, clock }),
    claims: createSharedClaims(store, systemSchedule),
    node: { id: nodeId, count: () => nodes.count() },
    healthNodes,
    controlNodes: createControlNodes(messages, healthNodes.nodeOf),
    shared: { locations, countNodes: () => nodes.count(), busySessionsMax, sharesWorkspaces: isEverywhere },
    isLeader: () => nodes.isLeader(),
    forget: async (sessionId) => {
      await repositories.remove(sessionId);
      await Promise.all([
        workspaces.remove(sessionId),
        snapshots.remove(sessionId),
        backups.remove(sessionId),
        later.drop(sessionId),
        resources.forget(sessionId),
      ]);
      await locations.leave(sessionId);
    },
    orphanedSessions,
    start: async (sessions) => {
      await nodes.start();
      // The other node runs the same program.
      const control = (sessionId: string, asked: object) => sessions.control(sessionId, asked as SessionControl);
      const changes = answerChanges(localChanges(sessions), store.blobs, answerOutputs(local, store.blobs));
      const others = answerControl(control, answerForks(localForks, changes));
      messages.start(answerHealth((sessionId) => sessions.health(sessionId), others));
      sweepLater();
    },
    close: async () => {
      cancelSweep();
      messages.close();
      await closeWorkspaces();
      await repositories.close();
      await nodes.close();
    },
  };
}
