import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from './base/clock.ts';
import type { Ids } from './base/ids.ts';
import { limits } from './base/limits.ts';
import type { TreeRemover } from './base/remove-tree.ts';
import { systemSchedule } from './base/schedule.ts';
import type { SeenWorkers } from './environments/pollers.ts';
import { createSharedWorkers } from './environments/shared-workers.ts';
import { openKeyDocuments } from './http/auth/key-shelf.ts';
import type { KeyStorePlace } from './http/auth/key-store.ts';
import { checkSecret } from './http/auth/sealed-secret.ts';
import { openSharedSigningKey } from './http/auth/shared-signing-key.ts';
import { openSigningKey } from './http/auth/signing-key.ts';
import { type CatchUp, createCatchUp } from './http/catch-up.ts';
import { LOGIN } from './http/dashboard/logins.ts';
import type { LoginCodes } from './http/dashboard/login-codes.ts';
import { createSharedLoginCodes, LOGIN_CODE } from './http/dashboard/shared-login-codes.ts';
import { type FileStore, openFileStore } from './http/files/file-store.ts';
import { createLaterMounts, createMountSweep, MOUNTING } from './http/files/later-mounts.ts';
import { answerBlob, answerOutputs, createNodeOutputs } from './http/files/node-outputs.ts';
import { createResourceDirectory, createResourceDocuments, SESSION_RESOURCES } from './http/files/resource-shelf.ts';
import { createSessionOutputs, type SessionOutputs } from './http/files/session-outputs.ts';
import { createLocalMounts, createSessionResources, type SessionResources } from './http/files/session-resources.ts';
import { createSharedFileStore } from './http/files/shared-file-store.ts';
import { CATCH_UP, createSharedCatchUp } from './http/shared-catch-up.ts';
import { CLAIM, type Claims, createSharedClaims } from './http/shared-claims.ts';
import { findLeftovers } from './leftovers.ts';
import { answerHealth, createHealthNodes, toOwner } from './nodes/health-mail.ts';
import { createNodeHomes, HOME } from './nodes/node-homes.ts';
import { openNodeId } from './nodes/node-id.ts';
import { createNodeMail, NODE_ANSWER } from './nodes/node-mail.ts';
import { createNodeRegistry } from './nodes/node-registry.ts';
import { sweep } from './nodes/sweep.ts';
import type { HealthNodes, Sessions, SharedParts } from './sessions/index.ts';
import { createWorkspaces } from './sessions/workspaces.ts';
import type { DocumentRecord } from './store/records.ts';
import type { Store } from './store/store.ts';

/** What a server keeps, and where: all of it in its directory, or with others in a database. */
export interface Place {
  readonly owner: string;
  readonly files: FileStore;
  readonly resources: SessionResources;
  readonly outputs: SessionOutputs;
  /** The directory of a session, where agents find everything that they were given. */
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly signingKey: Uint8Array;
  readonly keyPlace: KeyStorePlace;
  readonly catchUp: CatchUp;
  readonly loginCodes: LoginCodes | undefined;
  readonly workers: SeenWorkers | undefined;
  readonly claims: Claims | undefined;
  /** Set if others share the store. */
  readonly shared: SharedParts | undefined;
  /** How this process is called among those that share the store, and how many they are. */
  readonly node: { readonly id: string | null; readonly count: () => number };
  /** What others can be asked. */
  readonly healthNodes: HealthNodes | undefined;
  /** Whether it is for this process to do what only one should do. */
  readonly isCaretaker: () => boolean;
  /** The session is gone. */
  readonly forget: (sessionId: string) => Promise<void>;
  /** Sessions that were gone before this start, and still have files here. */
  readonly leftovers: readonly string[];
  /** From now on others may ask what sessions do here. */
  readonly start: (sessions: Pick<Sessions, 'health'>) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface PlaceOptions {
  readonly store: Store;
  readonly dataDirectory: string;
  /** Where workspaces are that every node has. */
  readonly sharedWorkspaces?: string | undefined;
  readonly busySessionsMax?: number | undefined;
  /** How long a node may be gone before what sessions have on its disk counts as lost. */
  readonly homeGoneMs?: number | undefined;
  /** What seals the secrets that nodes share in the store. */
  readonly secret?: string | undefined;
  /** Removes the workspaces of deleted sessions. */
  readonly remover: Pick<TreeRemover, 'discard' | 'resume'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onProblem: (problem: unknown) => void;
}

/** One process and its directory. */
export async function openOwnPlace(options: PlaceOptions): Promise<Place> {
  const { store, dataDirectory, remover, clock, ids, onProblem } = options;
  const workspaces = createWorkspaces(join(dataDirectory, 'workspaces'), remover);
  await remover.resume(join(dataDirectory, 'workspaces'));
  const openWorkspace = (sessionId: string) => workspaces.open(sessionId);
  const files = await openFileStore({ directory: join(dataDirectory, 'files'), clock, ids, onProblem });
  const shelf = createResourceDirectory(join(dataDirectory, 'resources'));
  const resources = createSessionResources({ shelf, files, mounts: createLocalMounts(openWorkspace), clock, ids });
  const forget = async (sessionId: string) => {
    await Promise.all([workspaces.remove(sessionId), resources.forget(sessionId)]);
  };
  const leftovers = await findLeftovers({
    store,
    mark: join(dataDirectory, 'store-id'),
    directories: ['workspaces', 'resources'].map((name) => join(dataDirectory, name)),
    ageMs: 0,
    onProblem,
  });
  return {
    owner: randomUUID(),
    files,
    resources,
    outputs: createSessionOutputs({ store, openWorkspace }),
    openWorkspace,
    signingKey: await openSigningKey(join(dataDirectory, 'signing-key')),
    keyPlace: { directory: join(dataDirectory, 'keys') },
    catchUp: createCatchUp(clock),
    loginCodes: undefined,
    workers: undefined,
    claims: undefined,
    shared: undefined,
    node: { id: null, count: () => 1 },
    healthNodes: undefined,
    isCaretaker: () => true,
    forget,
    leftovers,
    start: async () => {},
    close: async () => {},
  };
}

/** One of several nodes: everything but workspaces is in the store, and those too if they are on a disk that all have. */
export async function openNodePlace(options: PlaceOptions): Promise<Place> {
  const { store, dataDirectory, sharedWorkspaces, busySessionsMax, homeGoneMs } = options;
  const { remover, clock, ids, onProblem } = options;
  const nodeId = await openNodeId(dataDirectory);
  const owner = toOwner(nodeId, randomUUID());
  const nodes = createNodeRegistry({ store, nodeId, instance: owner, clock, schedule: systemSchedule, onProblem });
  const workspacesDirectory = sharedWorkspaces ?? join(dataDirectory, 'workspaces');
  const workspaces = createWorkspaces(workspacesDirectory, remover);
  // Where workspaces are shared, another node may be at it too, which changes nothing.
  await remover.resume(workspacesDirectory);
  const files = createSharedFileStore({ store, clock, ids });
  const shelf = createResourceDocuments(store);
  const later = createLaterMounts({ store, shelf, directory: join(dataDirectory, 'mounted'), onProblem });
  const isEverywhere = sharedWorkspaces !== undefined;
  const openPlain = (sessionId: string) => workspaces.open(sessionId);
  const openWorkspace = async (sessionId: string) => {
    const workspace = await workspaces.open(sessionId);
    await later.bring(sessionId, workspace);
    return workspace;
  };
  const mounts = isEverywhere ? createLocalMounts(openPlain) : later;
  const resources = createSessionResources({ shelf, files, mounts, clock, ids });
  const homes = createNodeHomes({
    store,
    nodes,
    workspaces: isEverywhere ? 'shared' : workspaces,
    goneMs: homeGoneMs,
  });
  const mail = createNodeMail({ store, nodeId, schedule: systemSchedule, onProblem });
  const local = createSessionOutputs({ store, openWorkspace: openPlain });
  const outputs = isEverywhere
    ? local
    : createNodeOutputs({
        store,
        local,
        findOther: (sessionId) => homes.findOther(sessionId),
        ask: (to, question) => mail.ask(to, question),
      });
  const sweepables = [
    { kind: CATCH_UP, keepMs: 10 * limits.catchUpMs },
    { kind: LOGIN_CODE, keepMs: limits.loginCodeMs },
    { kind: LOGIN, keepMs: limits.webSessionMs },
    { kind: HOME, isOfSession: true },
    { kind: CLAIM, keepMs: 2 * limits.claimMs },
    {
      kind: NODE_ANSWER,
      keepMs: 2 * limits.nodeMailWaitMs,
      onSwept: ({ id }: DocumentRecord) => store.blobs.delete(answerBlob(id)),
    },
    // Of sessions that were never made, because a node was killed.
    { kind: MOUNTING, keepMs: limits.mountingMs, onSwept: createMountSweep(store, shelf) },
    { kind: SESSION_RESOURCES, isOfSession: true, onSwept: ({ id }: DocumentRecord) => resources.forget(id) },
  ];
  const leftovers = await findLeftovers({
    store,
    mark: isEverywhere ? join(sharedWorkspaces, '.store-id') : join(dataDirectory, 'store-id'),
    directories: isEverywhere ? [sharedWorkspaces] : ['workspaces', 'mounted'].map((name) => join(dataDirectory, name)),
    // Where others have the same files, one of them may be about to make the session.
    ageMs: isEverywhere ? limits.mountingMs : 0,
    onProblem,
  });
  let cancelSweep = () => {};
  const sweepLater = () => {
    cancelSweep = systemSchedule(() => {
      const swept = nodes.isCaretaker() ? sweep(store, sweepables) : Promise.resolve(0);
      void swept.catch(onProblem).finally(sweepLater);
    }, limits.sweepMs);
  };
  return {
    owner,
    files,
    resources,
    outputs,
    openWorkspace: isEverywhere ? openPlain : openWorkspace,
    signingKey: await openSharedSigningKey(store, checkSecret(options.secret)),
    keyPlace: { shelf: openKeyDocuments(store) },
    catchUp: createSharedCatchUp(store),
    loginCodes: createSharedLoginCodes(store),
    workers: createSharedWorkers({ store, clock }),
    claims: createSharedClaims(store, systemSchedule),
    node: { id: nodeId, count: () => nodes.count() },
    healthNodes: createHealthNodes(nodeId, mail),
    shared: { homes, countNodes: () => nodes.count(), busySessionsMax },
    isCaretaker: () => nodes.isCaretaker(),
    forget: async (sessionId) => {
      await Promise.all([workspaces.remove(sessionId), later.drop(sessionId), resources.forget(sessionId)]);
      await homes.leave(sessionId);
    },
    leftovers,
    start: async (sessions) => {
      await nodes.start();
      mail.start(answerHealth((sessionId) => sessions.health(sessionId), answerOutputs(local, store.blobs)));
      sweepLater();
    },
    close: async () => {
      cancelSweep();
      mail.close();
      await nodes.close();
    },
  };
}
