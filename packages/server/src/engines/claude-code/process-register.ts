import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endMarked } from './end-marked.ts';
import { killGroup } from './kill-group.ts';

/** Which programs run, on disk: whoever is started after a crash ends those that were left behind. */
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
      writeFileSync(fileOf(pid), JSON.stringify({ pid, started: startOf(pid), mark }), { mode: 0o600 });
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
 * Numbers of processes are used again, so the time of its start has to be the same. If it is gone, its group may live on,
 * and as long as it does nobody else is given the number.
 */
function isSame(pid: number, started: string | null): boolean {
  const now = startOf(pid);
  return now === null || (started !== null && now === started);
}

/** When a process began, in whatever words the system has for it. Null: there is no such process. */
function startOf(pid: number): string | null {
  try {
    // The name may hold anything, brackets too; behind it the twentieth field is the start in ticks since boot.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return process.platform === 'linux' ? null : askSystem(pid);
  }
}

function askSystem(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}
