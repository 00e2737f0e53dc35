import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endMarked } from './end-marked.ts';
import { killGroup } from './kill-group.ts';
import { startOfProcess } from '../../../base/process/start-of-process.ts';

/** The running programs, on disk: a server that starts after a crash ends those that were left behind. */
export interface ProcessRegister {
  /** `mark` is what its environment names it by. */
  add(pid: number, mark: string): void;
  remove(pid: number): void;
  /** Ends all that are written down, and what they have started. Says how many of the programs still ran. */
  reap(): Promise<number>;
}

/**
 * One file for each process. Written at once and not later: between its start and a late write the server could die.
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
      // What stays is found to be over by the next start.
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
    // Nothing was ever started.
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
    // Half a file: the server died while it wrote it.
    return { started: null, mark: null };
  }
}

/**
 * Process ids are reused, so the start time has to be the same. If the process has ended, its group may still exist,
 * and as long as it does the id is not reused.
 */
function isSame(pid: number, started: string | null): boolean {
  const now = startOfProcess(pid);
  return now === null || (started !== null && now === started);
}
