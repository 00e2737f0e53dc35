import { readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { isRootForKernel } from './kernel.ts';

/** Kernel memory of an epoll watch, the smallest thing that an agent can use up for all programs of its user. */
export const EPOLL_WATCH_BYTES = 192;

/**
 * Raises the kernel's limit of epoll watches per user to more than fit into the machine's memory, where the server is root
 * and may do so. An agent has the same user as the server, and libuv aborts the server when the user has none left; with
 * this the memory of the agent's cgroup is used up before. Elsewhere `fleetloom doctor` says what the operator can do.
 */
export function raiseEpollWatches(file = SETTING, { isRoot = isRootForKernel(), memoryBytes = totalmem() } = {}): void {
  if (!isRoot) return;
  try {
    const enough = Math.ceil(memoryBytes / EPOLL_WATCH_BYTES);
    if (Number(readFileSync(file, 'utf8')) < enough) writeFileSync(file, `${enough}`);
  } catch {
    // A container may have it read-only.
  }
}

const SETTING = '/proc/sys/fs/epoll/max_user_watches';
