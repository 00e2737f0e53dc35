import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** The prefix of environment variables that mark processes. */
export const MARKER_PREFIX = 'FLEETLOOM_MARK_';

/**
 * Kills a process group and, on Linux, all processes with the marker in their environment: a process that
 * started a session of its own is not in the group any more.
 */
export async function killAll(pid: number | undefined, marker: string): Promise<void> {
  if (pid !== undefined) kill(-pid);
  // A killed process may just have started another one, so the search is repeated until none is found.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const all = await scan();
    const marked = all?.filter(({ environment }) => environment.includes(marker));
    if (marked?.length === 0) return;
    for (const found of marked ?? []) kill(found.pid);
    if (all === undefined) await wait(RETRY_MS);
  }
}

const ROUNDS_MAX = 20;
const RETRY_MS = 50;
/** Files that are open at the same time, because the machine may be short of descriptors. */
const READS_MAX = 16;

interface Found {
  readonly pid: number;
  readonly environment: Buffer;
}

type Processes = readonly Found[] | undefined;

let running: Promise<unknown> = Promise.resolve();
let next: Promise<Processes> | undefined;

/** Scans all processes, beginning after the call. Concurrent callers share the next scan. */
function scan(): Promise<Processes> {
  next ??= running.then(() => {
    next = undefined;
    const found = readProcesses();
    running = found;
    return found;
  });
  return next;
}

/** The processes that this or another server has marked. Undefined if they cannot be listed at the moment. */
async function readProcesses(): Promise<Processes> {
  try {
    const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number);
    const found: Found[] = [];
    for (let at = 0; at < pids.length; at += READS_MAX) {
      const some = await Promise.all(pids.slice(at, at + READS_MAX).map((pid) => readProcess(pid)));
      found.push(...some.filter((each) => each !== undefined));
    }
    return found;
  } catch (error) {
    // Systems other than Linux have no such directory.
    return isShortage(error) ? undefined : [];
  }
}

async function readProcess(pid: number): Promise<Found | undefined> {
  if (pid === process.pid) return undefined;
  try {
    // A zombie has an empty environment.
    const environment = await readFile(`/proc/${pid}/environ`);
    return environment.includes(MARKER_PREFIX) ? { pid, environment } : undefined;
  } catch (error) {
    if (isShortage(error)) throw error;
    // The process has ended, or belongs to another user.
    return undefined;
  }
}

function isShortage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is gone already.
  }
}
