import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endMarked } from './end-marked.ts';
import { killGroup } from './kill-group.ts';
import { startOfProcess } from '../../../base/process/start-of-process.ts';

/** The running programs, on disk: a server that starts after a crash ends the programs of the server before. */
export interface ProcessRegister {
  /** Records a process. `mark` is the value of `MARK` in its environment. */
  add(pid: number, mark: string): void;
  remove(pid: number): void;
  /** Ends all recorded programs and the processes that they have started. Returns how many of the programs were still running. */
  reap(): Promise<number>;
}

/**
 * Keeps one file for each process, written synchronously: before an asynchronous write the server could die.
 *
 * @example
 * const register = createProcessRegister(join(dataDirectory, 'programs'));
 * await register.reap();
 */
export function createProcessRegister(directory: string): ProcessRegister {
  const fileOf = (pid: number) => join(directory, `${pid}.json`);
  const remove = (pid: number) => {
    try {
      rmSync(fileOf(pid), { force: true });
    } catch {
      // The next start finds that the process of the file has ended.
    }
  };
  return {
    add: (pid, mark) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(fileOf(pid), JSON.stringify({ pid, started: startOfProcess(pid), mark }), { mode: 0o600 });
    },
    remove,
    reap: async () => {
      let ended = 0;
      for (const { pid, started, mark } of list(directory)) {
        if (isSame(pid, started) && killGroup(pid)) ended++;
        if (mark !== null) await endMarked(mark);
        remove(pid);
      }
      return ended;
    },
  };
}

interface Registered {
  readonly pid: number;
  readonly started: string | null;
  readonly mark: string | null;
}

function list(directory: string): Registered[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    // No program was ever started.
    return [];
  }
  return names.flatMap((name) => {
    const pid = Number(/^(\d+)\.json$/.exec(name)?.[1]);
    return Number.isInteger(pid) ? [{ pid, ...readEntry(join(directory, name)) }] : [];
  });
}

function readEntry(path: string): Omit<Registered, 'pid'> {
  try {
    const { started, mark } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return { started: typeof started === 'string' ? started : null, mark: typeof mark === 'string' ? mark : null };
  } catch {
    // The file is incomplete: the server died while writing it.
    return { started: null, mark: null };
  }
}

/**
 * Whether this is the recorded process. Process ids are reused, so the start time must be equal. If the process has ended, its group may still exist,
 * and as long as it does the id is not reused.
 */
function isSame(pid: number, started: string | null): boolean {
  const now = startOfProcess(pid);
  return now === null || (started !== null && now === started);
}
