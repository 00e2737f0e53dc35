import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeRemover } from '../base/remove-tree.ts';
import { OUTPUTS_PATH, toInside } from '../tools/session-paths.ts';

/** The directories in which the agents of a session work, one for each session. */
export interface Workspaces {
  /** Makes it if it is not there, and gives its real path. */
  open(sessionId: string): Promise<string>;
  has(sessionId: string): Promise<boolean>;
  /** Resolves when it is out of reach. Its files are removed in the background. */
  remove(sessionId: string): Promise<void>;
}

export function createWorkspaces(directory: string, remover: Pick<TreeRemover, 'discard'>): Workspaces {
  return {
    open: async (sessionId) => {
      const path = join(directory, checked(sessionId));
      const isNew = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
      // Agents put there what others are to have. Only at first: later somebody may have put a link in its place.
      if (isNew) await mkdir(join(path, toInside(OUTPUTS_PATH)!), { recursive: true, mode: 0o700 });
      // Tools compare paths with it, so no symbolic link may be left in it.
      return realpath(path);
    },
    has: async (sessionId) => {
      const found = await stat(join(directory, checked(sessionId))).catch(() => undefined);
      return found?.isDirectory() ?? false;
    },
    remove: (sessionId) => remover.discard(join(directory, checked(sessionId)), { parent: directory, sessionId }),
  };
}

/** Ids are made by us. That one is not a path is checked all the same, because what is removed is gone. */
function checked(sessionId: string): string {
  if (/^sesn_\w+$/.test(sessionId)) return sessionId;
  throw new TypeError(`${sessionId} is no id of a session`);
}
