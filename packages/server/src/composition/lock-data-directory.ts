import { join } from 'node:path';
import { FleetloomError } from '../base/errors.ts';
import { Database } from '../store/sqlite/database.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The data directory of a node, locked against other processes until this one ends, however it ends. */
export interface DirectoryLock {
  /** Instances that held the lock before. All have ended, so a start does not wait for their heartbeats to expire. */
  readonly formerHolders: readonly string[];
  /** Records the instance of this process, before its first heartbeat. */
  note(instance: string): Promise<void>;
  /** Removes the records of former holders, after the first heartbeat of this instance. */
  forgetOthers(instance: string): Promise<void>;
  close(): void;
}

/** Locks the data directory of a node. The operating system releases the lock of a process that was killed. */
export async function lockDataDirectory(dataDirectory: string): Promise<DirectoryLock> {
  const database = await Database.open(join(dataDirectory, 'node-lock')).catch((error: unknown) => {
    throw isStoreError(error, 'store_locked') ? inUse(dataDirectory) : error;
  });
  database.exec('CREATE TABLE IF NOT EXISTS holders (instance TEXT PRIMARY KEY)');
  const holders = database.prepare<{ instance: string }>('SELECT instance FROM holders').all();
  return {
    formerHolders: holders.map(({ instance }) => instance),
    note: async (instance) => {
      database.prepare('INSERT INTO holders VALUES (?)').run(instance);
      await database.settle();
    },
    forgetOthers: async (instance) => {
      database.prepare('DELETE FROM holders WHERE instance <> ?').run(instance);
      await database.settle();
    },
    close: () => database.close(),
  };
}

function inUse(dataDirectory: string): FleetloomError {
  return new FleetloomError({
    code: 'node_in_use',
    kind: 'terminal',
    problem: `another process uses the data directory ${dataDirectory}`,
    advice: 'stop that process, or give this node a data directory of its own with --data',
  });
}
