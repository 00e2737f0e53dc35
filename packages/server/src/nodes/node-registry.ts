import { inBackground, reportAsWarning } from '../base/in-background.ts';
import { FleetloomError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { nodeLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The nodes that share a store, known by their heartbeats. */
export interface NodeRegistry {
  readonly nodeId: string;
  /** Rejects if a live process has the id of this node. A process that sends no heartbeat for the length of a lease counts as dead. */
  checkUnused(): Promise<void>;
  /** Writes the first heartbeat of this node, and repeats it. Rejects if another process with its id has begun to do so. */
  start(): Promise<void>;
  /** The number of live nodes including this one, as of the last heartbeat. */
  count(): number;
  /** The time since the last heartbeat of a node; infinite if the node is unknown. */
  silenceMs(nodeId: string): Promise<number>;
  /** Whether this node does the work that only one node should do, as of the last heartbeat. */
  isLeader(): boolean;
  /** Marks the node as stopped; it may start again. */
  close(): Promise<void>;
}

export interface NodeRegistryOptions {
  readonly store: Pick<Store, 'documents' | 'now'>;
  readonly nodeId: string;
  /** The instance id of this process, which differs for each start of a node. */
  readonly instance: string;
  /** Instances of this node that are known to have ended. */
  readonly endedInstances?: readonly string[];
  readonly clock: Pick<Clock, 'steady'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Registers this node, and renews its registration until it is closed. */
export function createNodeRegistry(options: NodeRegistryOptions): NodeRegistry {
  const { store, nodeId, instance, endedInstances = [], clock, schedule, onProblem } = options;
  const { documents } = store;
  let cancel = () => {};
  let revision: number | undefined;
  let nodes = 1;
  let isLeader = false;
  let isClosed = false;
  /** The time since which the store has been available. While it was unavailable no node could send heartbeats, so a missing one means nothing. */
  let heardSince = Number.POSITIVE_INFINITY;

  return {
    nodeId,
    checkUnused,
    start: async () => {
      await sayHello().catch((error: unknown) => {
        throw isStoreError(error, 'version_conflict') ? inUse() : error;
      });
      await beat();
      beatLater();
    },
    count: () => nodes,
    silenceMs: async (id) => {
      if (clock.steady() - heardSince < nodeLimits.nodeAliveMs) return 0;
      const [found, now] = await Promise.all([documents.get(NODE, id), store.now()]);
      return found === undefined ? Number.POSITIVE_INFINITY : now - found.updatedAt;
    },
    isLeader: () => isLeader,
    close: async () => {
      isClosed = true;
      isLeader = false;
      cancel();
      await documents.put({ kind: NODE, id: nodeId, data: { instance, has_left: true } }).catch(() => {});
    },
  };

  function beatLater(): void {
    if (isClosed) return;
    const onFailed = () => {
      // Callers that need the store report that it is unavailable.
      heardSince = Number.POSITIVE_INFINITY;
      isLeader = false;
    };
    cancel = schedule(
      () => inBackground(beat().catch(onFailed).finally(beatLater), reportAsWarning),
      nodeLimits.nodeBeatMs,
    );
  }

  async function checkUnused(): Promise<void> {
    const first = await documents.get(NODE, nodeId);
    revision = first?.revision ?? 0;
    if (first === undefined || first.data['has_left'] === true) return;
    const { instance: holder } = first.data;
    if (typeof holder === 'string' && endedInstances.includes(holder)) return;
    while ((await store.now()) - first.updatedAt < nodeLimits.nodeClaimMs) {
      await new Promise<void>((resolve) => void schedule(resolve, nodeLimits.nodeClaimPollMs));
      const found = await documents.get(NODE, nodeId);
      revision = found?.revision ?? 0;
      if (found === undefined || found.data['has_left'] === true) return;
      if (found.revision !== first.revision) throw inUse();
    }
  }

  function inUse(): FleetloomError {
    return new FleetloomError({
      code: 'node_in_use',
      kind: 'terminal',
      problem: `another process that is alive has the node id ${nodeId}`,
      advice: 'if the data directory was copied from another node, remove the file node-id from the copy',
    });
  }

  async function beat(): Promise<void> {
    await repeatHello();
    const now = await store.now();
    const known = await listNodes();
    const alive = known.filter(({ updatedAt, data }) => isAlive(updatedAt, now) && data['has_left'] !== true);
    nodes = Math.max(1, alive.length);
    heardSince = Math.min(heardSince, clock.steady());
    // Every node computes the same leader. For a short time two nodes may both be the leader, so the work of a leader has to be repeatable.
    isLeader = !isClosed && alive.map(({ id }) => id).toSorted()[0] === nodeId;
    if (isLeader) await forgetOld(known, now);
  }

  async function sayHello(): Promise<void> {
    const ifRevision = revision === undefined ? {} : { ifRevision: revision };
    revision = (await documents.put({ kind: NODE, id: nodeId, data: { instance }, ...ifRevision })).revision;
  }

  /** Writes a heartbeat. While this process was frozen for longer than a lease, another process may have started with its node id. */
  async function repeatHello(): Promise<void> {
    try {
      await sayHello();
    } catch (error) {
      if (!isStoreError(error, 'version_conflict')) throw error;
      revision = undefined;
      await sayHello();
      onProblem(new Error(`another process uses the node id ${nodeId}: give each node a data directory of its own`));
    }
  }

  async function listNodes(): Promise<readonly DocumentRecord[]> {
    return (await documents.list({ kind: NODE, order: 'asc', limit: storeLimits.pageItemsMax })).items;
  }

  async function forgetOld(known: readonly DocumentRecord[], now: number): Promise<void> {
    const old = known.filter(({ updatedAt }) => now - updatedAt > nodeLimits.nodeForgottenMs);
    for (const { id } of old) await documents.delete(NODE, id);
  }
}

function isAlive(updatedAt: number, now: number): boolean {
  return now - updatedAt < nodeLimits.nodeAliveMs;
}

const NODE = 'node';
