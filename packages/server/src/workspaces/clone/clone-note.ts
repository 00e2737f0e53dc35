import { lstat, readFile, writeFile } from 'node:fs/promises';

/** Says whether a clone is in its place, also after a crash between its move and the note of it. */
export interface CloneNote {
  isDone(): Promise<boolean>;
  /** The clone is about to be moved. */
  begin(clone: string): Promise<void>;
  end(): Promise<void>;
}

/** The note of a clone in a file that agents cannot reach. Agents may delete a clone; then it stays deleted. */
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

/** The same after a move. */
async function identify(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}
