import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../tools/workspace/directory.ts';

/** The record of a complete worktree of a thread. A worktree without a record was left by a crash. */
export interface ThreadRecord {
  /** The tree whose files were written to the worktree. */
  readonly tree: string;
  readonly branch: string | null;
}

/** The records of the threads of a session: files beside their worktrees, written last and removed first. */
export function createThreadRecords(directory: string) {
  const fileOf = (threadId: string) => join(directory, `${threadId}.json`);
  return {
    read: async (threadId: string): Promise<ThreadRecord | undefined> => {
      try {
        // Only this process writes here, so the content is trusted.
        return JSON.parse(await readFile(fileOf(threadId), 'utf8')) as ThreadRecord;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    write: async (threadId: string, record: ThreadRecord): Promise<void> => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const draft = `${fileOf(threadId)}.draft`;
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(record));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, fileOf(threadId));
    },
    remove: async (threadId: string): Promise<void> => await rm(fileOf(threadId), { force: true }),
  };
}
