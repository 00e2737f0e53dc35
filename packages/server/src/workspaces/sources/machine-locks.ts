import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { startOfProcess } from '../../base/process/start-of-process.ts';
import { isBelow } from './allowed-directories.ts';

/** Locks of directories that servers of this user on this machine use in place, across all data directories. */
export interface MachineLocks {
  /** Locks a directory. Returns the session of another server that has it; undefined if this session has it now. */
  acquire(sessionId: string, path: string): Promise<OtherHolder | undefined>;
  release(sessionId: string): Promise<void>;
  /** Locks that an earlier server on this data directory has left, because it was killed. */
  left(): Promise<readonly LeftLock[]>;
  /** Removes a lock that an earlier server has left. */
  removeLeft(sessionId: string): Promise<void>;
  /** The sessions whose locks this server holds. */
  held(): readonly string[];
}

/** A session of another server that has a directory. */
export interface OtherHolder {
  readonly sessionId: string;
  /** Whether the other server was killed: the session has not ended, and continues when that server is started again. */
  readonly isKilled: boolean;
}

/** A lock of a server that was killed. */
export interface LeftLock {
  readonly sessionId: string;
  readonly path: string;
}

/** The directory of the locks, and the server that holds them. */
export interface MachineLocksOptions {
  /** The data directory of this server. Its sessions do not conflict here, because their store has locks of its own. */
  readonly dataDirectory: string;
  /** The path of a file that exists as long as this server has the workspace of a session. */
  readonly recordOf: (sessionId: string) => string;
  readonly directory?: string | undefined;
  readonly machine?: string | undefined;
}

/**
 * Locks as files in the state directory of the user. A lock counts while the process that wrote it is running, and after that
 * process was killed as long as its session has a workspace.
 */
export function createMachineLocks(options: MachineLocksOptions): MachineLocks {
  const { dataDirectory, recordOf, directory = toStateDirectory(process.env), machine = hostname() } = options;
  const held = new Set<string>();
  const fileOf = (sessionId: string) => join(directory, `${sessionId}.json`);
  const release = async (sessionId: string) => {
    if (held.delete(sessionId)) await rm(fileOf(sessionId), { force: true });
  };
  return {
    held: () => [...held],
    release,
    left: async () => {
      const locks = await readLocks().catch(() => []);
      const left = locks.filter(({ session_id: id, data }) => data === dataDirectory && !held.has(id));
      return left.map(({ session_id: sessionId, path }) => ({ sessionId, path }));
    },
    removeLeft: async (sessionId) => {
      if (!held.has(sessionId)) await rm(fileOf(sessionId), { force: true });
    },
    acquire: async (sessionId, path) => {
      if (held.has(sessionId)) return undefined;
      held.add(sessionId);
      try {
        const { pid } = process;
        const server = { machine, data: dataDirectory, record: recordOf(sessionId), pid, started: startOfProcess(pid) };
        // Written before the check: of two servers that lock at the same time, at most one finds no other lock.
        await write({ session_id: sessionId, path, ...server });
        const other = await findOther(sessionId, path);
        if (other !== undefined) await release(sessionId);
        return other;
      } catch (error) {
        await release(sessionId).catch(() => undefined);
        if (UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
        throw error;
      }
    },
  };

  async function write(lock: MachineLock): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const file = fileOf(lock.session_id);
    await writeFile(`${file}.new`, JSON.stringify(lock), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async function findOther(sessionId: string, path: string): Promise<OtherHolder | undefined> {
    for (const lock of await readLocks()) {
      if (lock.session_id === sessionId || lock.data === dataDirectory) continue;
      const start = startOfProcess(lock.pid);
      const isKilled = start === null || start !== lock.started;
      if (isKilled && !(await exists(lock.record))) await rm(fileOf(lock.session_id), { force: true });
      else if (isBelow(path, lock.path) || isBelow(lock.path, path)) return { sessionId: lock.session_id, isKilled };
    }
    return undefined;
  }

  /** Reads the locks of this machine. Other machines may share the home directory. */
  async function readLocks(): Promise<readonly MachineLock[]> {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.json'));
    const locks = await Promise.all(names.map((name) => readLock(join(directory, name))));
    return locks.filter((lock) => lock !== undefined).filter((lock) => lock.machine === machine);
  }
}

/** Errors after which the server works without these locks: a service may have no writable home directory. */
const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

interface MachineLock {
  readonly session_id: string;
  readonly path: string;
  readonly machine: string;
  readonly data: string;
  readonly record: string;
  readonly pid: number;
  readonly started: string | null;
}

/** Reads a lock. Undefined if it was released in the meantime. */
async function readLock(file: string): Promise<MachineLock | undefined> {
  try {
    // The content is complete and trusted: only `write` above writes it, and renames it into place.
    return JSON.parse(await readFile(file, 'utf8')) as MachineLock;
  } catch {
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function toStateDirectory({ XDG_STATE_HOME: state }: NodeJS.ProcessEnv): string {
  const parent = state === undefined || state === '' ? join(homedir(), '.local', 'state') : state;
  return join(parent, 'fleetloom', 'in-place');
}
