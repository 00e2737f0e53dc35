import { lstat, readFile, writeFile } from 'node:fs/promises';

/** Records whether a clone was moved to its path, also if a crash came between the move and the record. */
export interface CloneNote {
  isDone(): Promise<boolean>;
  /** Called before the clone is moved. */
  begin(clone: string): Promise<void>;
  end(): Promise<void>;
}

/** Stores the note of a clone in a file that agents cannot reach. If agents delete a clone, it stays deleted. */
export function createCloneNote(file: string, place: string): CloneNote {
  const end = () => writeFile(file, DONE, { mode: 0o600 });
  return {
    isDone: async () => {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (text === undefined || text === DONE) return text === DONE;
      if (text !== (await identify(place))) return false;
      await end();
      return true;
    },
    begin: async (clone) => writeFile(file, `${await identify(clone)}`, { mode: 0o600 }),
    end,
  };
}

const DONE = 'done';

/** The identity of a directory, which stays the same after a move. */
async function identify(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}
