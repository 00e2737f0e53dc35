import type { Clock } from '../base/clock.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createNodeRegistry, type NodeRegistry } from '../nodes/node-registry.ts';
import type { Store } from '../store/store.ts';
import type { DirectoryLock } from './lock-data-directory.ts';

interface OpenNodeRegistry {
  readonly store: Store;
  readonly nodeId: string;
  /** The id of this process, different at each start. */
  readonly instance: string;
  /** The lock of the data directory; undefined in tests that share one data directory. */
  readonly directoryLock: DirectoryLock | undefined;
  readonly clock: Clock;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the registry of a node. Rejects if a live process has the id, before anything on the disk is changed. */
export async function openNodeRegistry({ directoryLock, ...options }: OpenNodeRegistry): Promise<NodeRegistry> {
  const { instance } = options;
  const endedInstances = directoryLock?.formerHolders ?? [];
  const nodes = createNodeRegistry({ ...options, endedInstances, schedule: systemSchedule });
  await nodes.checkUnused();
  await directoryLock?.note(instance);
  return {
    ...nodes,
    start: async () => {
      await nodes.start();
      await directoryLock?.forgetOthers(instance);
    },
  };
}
