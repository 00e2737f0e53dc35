import { constants, type Dir } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, open, opendir, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createPace } from '../create-pace.ts';
import { FleetloomError } from '../errors.ts';
import { inBackground, type Report } from '../in-background.ts';
import { baseLimits } from '../limits.ts';

/** Removes directory trees that agents have filled: of any width and depth, in the background, a few operations at a time. */
export interface TreeRemover {
  /**
   * Moves a directory to the trash below `parent`, which must be on the same file system and out of reach of agents. Resolves
   * when it is moved; it is removed later. A directory that does not exist is ignored. Errors name the session.
   */
  discard(path: string, owner: { readonly parent: string; readonly sessionId: string }): Promise<void>;
  /** Continues what an earlier process did not finish. */
  resume(parent: string): Promise<void>;
  /** Removes without pauses for a bounded time. The next start continues with the rest. */
  close(): Promise<void>;
}

/** Receives problems; sets how long a stop and a retry wait. */
export interface TreeRemoverOptions {
  readonly onProblem: Report;
  readonly stopMs?: number;
  readonly retryMs?: number;
}

interface Removal {
  /** A directory in the trash. It contains the discarded tree, and directories of the tree are moved up into it. */
  readonly path: string;
  readonly sessionId: string;
  attempts: number;
}

/**
 * @example
 * const remover = createTreeRemover({ onProblem });
 * await remover.resume(workspaces);
 * await remover.discard(join(workspaces, sessionId), { parent: workspaces, sessionId });
 */
export function createTreeRemover(options: TreeRemoverOptions): TreeRemover {
  const { onProblem, stopMs = baseLimits.removalStopMs, retryMs = baseLimits.removalRetryMs } = options;
  const queue: Removal[] = [];
  const retries = new Set<NodeJS.Timeout>();
  let running: Promise<void> | undefined;
  let state: 'open' | 'closing' | 'closed' = 'open';

  const add = (removal: Removal) => {
    queue.push(removal);
    if (running !== undefined || state === 'closed') return;
    running = work().finally(() => (running = undefined));
    inBackground(running, onProblem);
  };

  return {
    discard: async (path, { parent, sessionId }) => {
      const moved = await moveToTrash(path, join(parent, TRASH), sessionId);
      if (moved !== undefined) add({ path: moved, sessionId, attempts: 0 });
    },
    resume: async (parent) => {
      const trash = join(parent, TRASH);
      const names = await readdir(trash).catch(ignoreMissing);
      for (const name of names ?? []) {
        const sessionId = /^(sesn_\w+)\.\w+$/.exec(name)?.[1];
        if (sessionId !== undefined) add({ path: join(trash, name), sessionId, attempts: 0 });
      }
    },
    close: async () => {
      if (state === 'open') state = 'closing';
      for (const timer of retries) clearTimeout(timer);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, stopMs)));
      // Failures were reported when they happened.
      await Promise.race([running?.catch(() => undefined), timeout]);
      clearTimeout(timer);
      state = 'closed';
    },
  };

  /** Removals take turns: a tree of millions of files must not keep the others waiting. */
  async function work(): Promise<void> {
    for (let removal = queue.shift(); removal !== undefined; removal = queue.shift()) {
      if (state === 'closed') return;
      const startedAt = performance.now();
      const isTurnOver = () => queue.length > 0 && performance.now() - startedAt > baseLimits.removalTurnMs;
      const pace = createPace(baseLimits.removalRestFactor);
      try {
        const isDone = await new Removing(removal.path, {
          isStopped: () => state === 'closed',
          isTurnOver,
          pace: () => (state === 'open' ? pace() : undefined),
        }).run();
        if (!isDone) queue.push(removal);
        else await withTrash(() => removeIfEmpty(dirname(removal.path)));
      } catch (error) {
        retryLater(removal, error);
      }
    }
  }

  function retryLater(removal: Removal, error: unknown): void {
    removal.attempts++;
    if (removal.attempts === 1) onProblem(toIncomplete(removal, error));
    if (removal.attempts >= baseLimits.removalAttemptsMax || state !== 'open') return;
    const timer = setTimeout(() => {
      retries.delete(timer);
      add(removal);
    }, retryMs);
    timer.unref();
    retries.add(timer);
  }
}

/** Beside the discarded directories, so that moving one of them is a single rename. */
const TRASH = '.trash';

/**
 * Operations that create or remove a trash directory run one at a time: a removal that ends must not remove the directory that a discard
 * has just created and not used yet.
 */
const withTrash = createSerial();

function createSerial(): <Result>(operation: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const result = last.then(operation);
    last = result.catch(() => undefined);
    return result;
  };
}

/** Removes the trash directory unless other removals are in it. */
async function removeIfEmpty(trash: string): Promise<void> {
  await rmdir(trash).catch(() => undefined);
}

/** The path of the removal, or undefined if there is nothing at the path. */
async function moveToTrash(path: string, trash: string, sessionId: string): Promise<string | undefined> {
  if ((await lstat(path).catch(ignoreMissing)) === undefined) return undefined;
  const directory = await withTrash(() => makeRemoval(trash, sessionId));
  try {
    await renameWritable(path, join(directory, 'tree'));
    return directory;
  } catch (error) {
    await withTrash(async () => {
      await rmdir(directory);
      await removeIfEmpty(trash);
    });
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** A new directory in the trash. */
async function makeRemoval(trash: string, sessionId: string): Promise<string> {
  await mkdir(trash, { recursive: true, mode: 0o700 });
  return await mkdtemp(join(trash, `${sessionId}.`));
}

interface Turn {
  readonly isStopped: () => boolean;
  readonly isTurnOver: () => boolean;
  readonly pace: () => Promise<void> | undefined;
}

/**
 * One turn of a removal. No path becomes longer than `<removal>/<directory>/<name>`: each directory of the tree is moved up into the removal before it
 * is emptied. The remaining work is therefore on the disk, and neither depth nor width takes memory. Names are bytes: agents
 * may choose some that are not UTF-8.
 *
 * Links are not followed, also when a process of an agent still runs: entries are only unlinked and renamed, and what is opened is
 * checked after it was moved to where agents cannot replace it.
 */
class Removing {
  readonly #directory: string;
  readonly #turn: Turn;
  /** Directories that were moved up in this turn. Further ones are found by reading the removal again. */
  readonly #moved: Buffer[] = [];
  /** Entries that were removed or moved up so far: the progress of the removal. */
  #steps = 0;
  #failure: unknown;

  constructor(directory: string, turn: Turn) {
    this.#directory = directory;
    this.#turn = turn;
  }

  /** Resolves with true when the removal is complete, and with false when its turn is over. Throws if no further entry can be removed. */
  async run(): Promise<boolean> {
    for (;;) {
      const before = this.#steps;
      const found = await this.#eachEntry(Buffer.from(this.#directory), 1, async (path) => {
        await this.#removeMoved(path);
        for (let next = this.#moved.pop(); next !== undefined; next = this.#moved.pop()) await this.#removeMoved(next);
      });
      if (!found || (await this.#removeEmpty(this.#directory))) return true;
      if (this.#isOver()) return false;
      if (this.#steps === before) throw this.#failure ?? new Error('nothing could be removed');
    }
  }

  /** Removes an entry of the removal itself. Agents cannot replace it. */
  async #removeMoved(path: Buffer): Promise<void> {
    if (this.#isOver()) return;
    const stats = await lstat(path).catch(ignoreMissing);
    if (stats === undefined) return;
    if (!stats.isDirectory()) return await this.#try(() => unlink(path));
    if ((stats.mode & 0o700) !== 0o700) await chmod(path, 0o700);
    for (;;) {
      const before = this.#steps;
      await this.#eachEntry(path, baseLimits.removalOperationsMax, (entry, isDirectory) =>
        isDirectory ? this.#moveUp(entry) : this.#unlink(entry),
      );
      // A process that is still running may have written more files.
      if (this.#isOver() || (await this.#removeEmpty(path)) || this.#steps === before) return;
    }
  }

  async #unlink(path: Buffer): Promise<void> {
    try {
      await unlink(path);
      this.#steps++;
    } catch (error) {
      if (isCode(error, 'ENOENT')) return;
      // The entry has become a directory. Systems differ in the error code.
      if (isCode(error, 'EISDIR', 'EPERM')) return await this.#moveUp(path);
      this.#failure ??= error;
    }
  }

  async #moveUp(path: Buffer): Promise<void> {
    const target = Buffer.from(join(this.#directory, `${process.pid}-${Date.now()}-${count++}`));
    await this.#try(async () => {
      await renameWritable(path, target);
      if (this.#moved.length < baseLimits.removalMovedMax) this.#moved.push(target);
    });
  }

  async #try(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
      this.#steps++;
    } catch (error) {
      if (!isCode(error, 'ENOENT')) this.#failure ??= error;
    }
  }

  /** A turn has at least one step: finding the first entry of a large directory may take longer than a turn. */
  #isOver(): boolean {
    return this.#turn.isStopped() || (this.#steps > 0 && this.#turn.isTurnOver());
  }

  /** Removes a directory if it is empty. Returns whether it was. */
  async #removeEmpty(path: Buffer | string): Promise<boolean> {
    try {
      await rmdir(path);
      this.#steps++;
      return true;
    } catch (error) {
      if (isCode(error, 'ENOENT')) return true;
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST')) this.#failure ??= error;
      return false;
    }
  }

  /** Visits entries while it reads them, until the turn is over. False if there is no such directory. */
  async #eachEntry(
    directory: Buffer,
    atOnce: number,
    visit: (path: Buffer, isDirectory: boolean) => Promise<void>,
  ): Promise<boolean> {
    const opened = await openEntries(directory).catch(ignoreMissing);
    if (opened === undefined) return false;
    const work = async () => {
      while (!this.#isOver()) {
        const entry = await opened.read();
        if (entry === null) return;
        await visit(Buffer.concat([directory, SEPARATOR, entry.name as unknown as Buffer]), entry.isDirectory());
        await this.#turn.pace();
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: atOnce }, work));
    await opened.close();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return true;
  }
}

let count = 0;
const SEPARATOR = Buffer.from('/');

async function openEntries(directory: Buffer): Promise<Dir> {
  // The types do not know that names can be bytes here, as they can in `readdir`.
  const encoding = 'buffer' as BufferEncoding;
  return await opendir(directory, { encoding, bufferSize: baseLimits.removalEntriesRead });
}

/** Moving a directory requires write permission, which agents may have removed. Root needs none. */
async function renameWritable(from: string | Buffer, to: string | Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isCode(error, 'EACCES', 'EPERM')) throw error;
    await makeWritable(from).catch(() => {
      throw error;
    });
    await rename(from, to);
  }
}

/** Adds write permission, never to the target of a link. */
async function makeWritable(path: string | Buffer): Promise<void> {
  if (process.platform !== 'linux') {
    if ((await lstat(path)).isDirectory()) await chmod(path, 0o700);
    return;
  }
  const handle = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, 0o700);
  } finally {
    await handle.close();
  }
}

/** Opens without reading, so that read permission is not needed. Node does not export this constant. */
const O_PATH = 0o10000000;

/** Without the original error: it contains a path that an agent chose and that may have any length. */
function toIncomplete({ sessionId, path }: Removal, error: unknown): FleetloomError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new FleetloomError({
    code: 'removal_incomplete',
    kind: 'retryable',
    problem: `some files of the deleted session ${sessionId} could not be removed (${code}), and are in ${path}`,
    advice: 'remove them, or make them removable for the user of the server: it tries again, also at its next start',
  });
}

function ignoreMissing(error: unknown): undefined {
  if (!isCode(error, 'ENOENT')) throw error;
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
