import { inBackground, reportAsWarning } from '../base/in-background.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The nodes that share a store, as each of them says of itself. */
export interface NodeRegistry {
  readonly nodeId: string;
  /** Says for the first time that this node is there, and goes on saying so. */
  start(): Promise<void>;
  /** How many are at work, this one included, as of the last beat. */
  count(): number;
  /** How long ago a node was heard of; infinitely long if nobody knows it. */
  silenceMs(nodeId: string): Promise<number>;
  /** Whether it is for this node to do what only one should do, as of the last beat. */
  isCaretaker(): boolean;
  /** It goes, and may come back. */
  close(): Promise<void>;
}

export interface NodeRegistryOptions {
  readonly store: Pick<Store, 'documents' | 'now'>;
  readonly nodeId: string;
  /** Another one with each start. */
  readonly instance: string;
  readonly clock: Pick<Clock, 'steady'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

export function createNodeRegistry(options: NodeRegistryOptions): NodeRegistry {
  const { store, nodeId, instance, clock, schedule, onProblem } = options;
  const { documents } = store;
  let cancel = () => {};
  let revision: number | undefined;
  let nodes = 1;
  let isCaretaker = false;
  let isClosed = false;
  /** Since when the store was always there. After it was away, all nodes have been silent, and none is gone. */
  let heardSince = Number.POSITIVE_INFINITY;

  return {
    nodeId,
    start: async () => {
      await beat();
      beatLater();
    },
    count: () => nodes,
    silenceMs: async (id) => {
      if (clock.steady() - heardSince < limits.nodeAliveMs) return 0;
      const [found, now] = await Promise.all([documents.get(NODE, id), store.now()]);
      return found === undefined ? Number.POSITIVE_INFINITY : now - found.updatedAt;
    },
    isCaretaker: () => isCaretaker,
    close: async () => {
      isClosed = true;
      isCaretaker = false;
      cancel();
      await documents.put({ kind: NODE, id: nodeId, data: { instance, has_left: true } }).catch(() => {});
    },
  };

  function beatLater(): void {
    if (isClosed) return;
    const onFailed = () => {
      // That the store is away is said by others, who need it more.
      heardSince = Number.POSITIVE_INFINITY;
      isCaretaker = false;
    };
    cancel = schedule(
      () => inBackground(beat().catch(onFailed).finally(beatLater), reportAsWarning),
      limits.nodeBeatMs,
    );
  }

  async function beat(): Promise<void> {
    await sayHello();
    const now = await store.now();
    const known = await listNodes();
    const alive = known.filter(({ updatedAt, data }) => isAlive(updatedAt, now) && data['has_left'] !== true);
    nodes = Math.max(1, alive.length);
    heardSince = Math.min(heardSince, clock.steady());
    // The same one for everybody, as long as it lives. Two may believe it for a moment, and what they do then is done twice.
    isCaretaker = !isClosed && alive.map(({ id }) => id).toSorted()[0] === nodeId;
    if (isCaretaker) await forgetOld(known, now);
  }

  async function sayHello(): Promise<void> {
    const document = { kind: NODE, id: nodeId, data: { instance } };
    try {
      const put = await documents.put({ ...document, ...(revision === undefined ? {} : { ifRevision: revision }) });
      revision = put.revision;
    } catch (error) {
      if (!isStoreError(error, 'version_conflict')) throw error;
      revision = (await documents.put(document)).revision;
      onProblem(new Error(`another process says that it is ${nodeId}: give each node a data directory of its own`));
    }
  }

  async function listNodes(): Promise<readonly DocumentRecord[]> {
    return (await documents.list({ kind: NODE, order: 'asc', limit: limits.pageItemsMax })).items;
  }

  async function forgetOld(known: readonly DocumentRecord[], now: number): Promise<void> {
    const old = known.filter(({ updatedAt }) => now - updatedAt > limits.nodeForgottenMs);
    for (const { id } of old) await documents.delete(NODE, id);
  }
}

function isAlive(updatedAt: number, now: number): boolean {
  return now - updatedAt < limits.nodeAliveMs;
}

const NODE = 'node';
