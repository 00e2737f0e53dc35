import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { limits } from '../../base/limits.ts';

/** Limits of one launch. */
export interface SandboxLimits {
  /** Processes and threads of the launch. */
  readonly processes: number;
  /** Memory of all its processes, temporary files included, where there is a memory cgroup. */
  readonly memoryBytes: number;
  /** Private writable memory of each process. */
  readonly dataBytes: number;
  /** Address space of each process. */
  readonly addressBytes: number;
  /** Open files of each process. */
  readonly openFiles: number;
  /** Each file that is written. */
  readonly fileBytes: number;
  /** Memory that each process keeps from being swapped out. */
  readonly lockedBytes: number;
  /** Processor time of each process. */
  readonly cpuSeconds: number;
  /** Each file system in memory. */
  readonly temporaryBytes: number;
}

/** The limits of a launch: as given, otherwise the defaults, but never above the server's own limits. */
export function toSandboxLimits(given: Partial<SandboxLimits> = {}): SandboxLimits {
  const wanted = { ...DEFAULTS, ...given };
  return {
    ...wanted,
    dataBytes: Math.min(wanted.dataBytes, readOwnLimit('Max data size')),
    addressBytes: Math.min(wanted.addressBytes, readOwnLimit('Max address space')),
    openFiles: Math.min(wanted.openFiles, readOwnLimit('Max open files')),
    fileBytes: Math.min(wanted.fileBytes, readOwnLimit('Max file size')),
    lockedBytes: Math.min(wanted.lockedBytes, readOwnLimit('Max locked memory')),
    cpuSeconds: Math.min(wanted.cpuSeconds, readOwnLimit('Max cpu time')),
    temporaryBytes: Math.min(wanted.temporaryBytes, Math.floor(totalmem() / TEMPORARY_PART)),
  };
}

/** The hard limit of a resource in the text of `/proc/self/limits`. */
export function readHardLimit(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  const value = line?.slice(name.length).trim().split(/\s+/)[1];
  return value === undefined || value === 'unlimited' ? Number.POSITIVE_INFINITY : Number(value);
}

const DEFAULTS: SandboxLimits = {
  processes: limits.sandboxProcessesMax,
  memoryBytes: limits.sandboxMemoryBytesMax,
  dataBytes: limits.sandboxDataBytesMax,
  addressBytes: limits.sandboxAddressBytesMax,
  openFiles: limits.sandboxOpenFilesMax,
  fileBytes: limits.sandboxFileBytesMax,
  lockedBytes: limits.sandboxLockedBytesMax,
  cpuSeconds: limits.sandboxCpuSecondsMax,
  temporaryBytes: limits.sandboxTemporaryBytesMax,
};

const TEMPORARY_PART = 8;

/** Read once. A process without privileges cannot give its children higher limits than its own. */
let ownLimits: string | undefined;

function readOwnLimit(name: string): number {
  ownLimits ??= readFileSync('/proc/self/limits', 'utf8');
  return readHardLimit(ownLimits, name);
}
