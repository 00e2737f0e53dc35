import { hostname } from 'node:os';
import { requestError } from '../../base/request-error.ts';
import { storeLimits } from '../../store/limits.ts';
import { readPages } from '../../store/read-pages.ts';
import type { DocumentRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { createLocks } from '../../tools/locks.ts';
import { workspaceLimits } from '../limits.ts';
import { isBelow } from './allowed-directories.ts';
import type { MachineLocks, OtherHolder } from './machine-locks.ts';

/** Locks of sessions that work in place on directories. A directory overlaps with its parent directories and its sub-directories. */
export interface InPlaceLocks {
  /** Locks a directory. Throws a request error if another session has it. The error names the session if it is in the same API workspace. */
  acquire(holder: LockHolder, path: string): Promise<void>;
  /** Called before a session works on its directory in this process. Throws if another server has begun to use it. */
  hold(sessionId: string, path: string): Promise<void>;
  release(sessionId: string): Promise<void>;
  /** Called when a server starts: takes over locks that an earlier server on the same data has left, if their sessions have not ended. */
  resume(): Promise<void>;
  /** Releases the locks on this machine, so that other servers may use the directories. */
  close(): Promise<void>;
}

/** The session that asks for a lock. */
export interface LockHolder {
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** The dependencies of locks. */
export interface InPlaceLocksOptions {
  readonly machine?: string | undefined;
  /** The locks of the other servers on this machine. */
  readonly machineLocks: MachineLocks;
}

/** Stores locks as documents, which survive a crash and are shared by all nodes. A lock of a session that has ended does not count. */
export function createInPlaceLocks(
  store: Pick<Store, 'documents' | 'sessions' | 'now'>,
  { machine = hostname(), machineLocks }: InPlaceLocksOptions,
): InPlaceLocks {
  const { documents } = store;
  const locks = createLocks();
  let looking: NodeJS.Timeout | undefined;

  const hold = async (sessionId: string, path: string): Promise<void> => {
    const other = await machineLocks.acquire(sessionId, path);
    if (other !== undefined) throw takenElsewhere(path, other);
    looking ??= setInterval(() => void releaseEnded().catch(() => undefined), workspaceLimits.heldLockLookMs).unref();
  };

  return {
    acquire: (holder, path) =>
      locks.hold('all', async () => {
        const { workspaceId, sessionId } = holder;
        const data = { machine, path, workspace_id: workspaceId };
        // Written before the check: of two nodes that lock at the same time, at most one finds no other lock.
        await documents.put({ kind: IN_PLACE_LOCK, id: sessionId, data });
        try {
          const other = await findOther(sessionId, path);
          if (other !== undefined) throw taken(path, other, workspaceId);
          await hold(sessionId, path);
        } catch (error) {
          await documents.delete(IN_PLACE_LOCK, sessionId);
          throw error;
        }
      }),
    hold,
    release: async (sessionId) => {
      await machineLocks.release(sessionId);
      await documents.delete(IN_PLACE_LOCK, sessionId);
    },
    resume: async () => {
      for (const { sessionId, path } of await machineLocks.left()) {
        const document = await documents.get(IN_PLACE_LOCK, sessionId);
        if (document !== undefined && (await isHeld(document))) await hold(sessionId, path).catch(() => undefined);
        else await machineLocks.removeLeft(sessionId);
      }
    },
    close: async () => {
      clearInterval(looking);
      await Promise.all(machineLocks.held().map((sessionId) => machineLocks.release(sessionId)));
    },
  };

  /** Releases the machine locks of ended sessions, because other servers cannot read in this store that a session has ended. */
  async function releaseEnded(): Promise<void> {
    for (const sessionId of machineLocks.held()) {
      const document = await documents.get(IN_PLACE_LOCK, sessionId);
      if (document === undefined || !(await isHeld(document))) await machineLocks.release(sessionId);
    }
  }

  async function findOther(sessionId: string, path: string): Promise<DocumentRecord | undefined> {
    const request = { kind: IN_PLACE_LOCK, order: 'asc', limit: storeLimits.retentionPageItems } as const;
    for await (const found of readPages((from) => documents.list({ ...request, ...from }))) {
      for (const document of found) {
        if (document.id === sessionId || !overlaps(document, path)) continue;
        if (await isHeld(document)) return document;
        await documents.delete(IN_PLACE_LOCK, document.id);
      }
    }
    return undefined;
  }

  function overlaps({ data }: DocumentRecord, path: string): boolean {
    // The cast is safe because only `acquire` writes these documents.
    const { machine: its, path: held } = data as unknown as { machine: string; path: string };
    return its === machine && (isBelow(path, held) || isBelow(held, path));
  }

  async function isHeld({ id, data, updatedAt }: DocumentRecord): Promise<boolean> {
    const session = await store.sessions.get(data['workspace_id'] as string, id);
    // The session is about to be created, or a crash has prevented its creation.
    if (session === undefined) return (await store.now()) - updatedAt <= workspaceLimits.unmadeLockMs;
    return session.archivedAt === null && session.status !== 'terminated';
  }
}

/** The kind of the lock documents. Their ids are session ids. */
export const IN_PLACE_LOCK = 'in_place_lock';

/** The error for a locked directory. It does not name a session of another API workspace, whose id the caller must not see. */
function taken(path: string, { id, data }: DocumentRecord, workspaceId: string) {
  if (data['workspace_id'] !== workspaceId) {
    return requestError('directory_in_use', `path: a session of another workspace works on ${path} in place`, {
      advice: 'use mode worktree or copy, or ask the operator of the server which session it is',
    });
  }
  return requestError('directory_in_use', `path: ${id} works on ${path} in place`, {
    advice: `archive that session (fleetloom archive ${id}) or delete it, or use mode worktree or copy`,
    details: { session_id: id },
  });
}

function takenElsewhere(path: string, { sessionId, isKilled }: OtherHolder) {
  const release = `archive its session there (fleetloom archive ${sessionId})`;
  const [state, advice] = isKilled
    ? [', and its process was killed before it ended', `${release} to keep its files and release the directory`]
    : ['', `wait until that run has ended, ${release}`];
  return requestError('directory_in_use', `path: ${sessionId} of another server works on ${path} in place${state}`, {
    advice: `${advice}, or use mode worktree or copy`,
    details: { session_id: sessionId },
  });
}
