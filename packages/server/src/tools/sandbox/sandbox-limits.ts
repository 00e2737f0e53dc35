import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { toolLimits } from '../limits.ts';

/** Limits of one launch. */
export interface SandboxLimits {
  /** Processes and threads of the launch. */
  readonly processes: number;
  /** Memory of all processes of the launch, including temporary files, if there is a memory cgroup. */
  readonly memoryBytes: number;
  /** Private writable memory of each process. */
  readonly dataBytes: number;
  /** Address space of each process. */
  readonly addressBytes: number;
  /** Open files of each process. */
  readonly openFiles: number;
  /** Bytes of each written file. */
  readonly fileBytes: number;
  /** Memory that each process keeps from being swapped out. */
  readonly lockedBytes: number;
  /** Processor time of each process. */
  readonly cpuSeconds: number;
  /** Bytes of each file system in memory. */
  readonly temporaryBytes: number;
}

/** The limits of a launch: as given, otherwise the defaults, but never above the server's own limits: they cannot be raised. */
export function toSandboxLimits(
  given: Partial<SandboxLimits> = {},
  readLimits: () => string = readOwnLimits,
): SandboxLimits {
  const wanted = { ...DEFAULTS, ...given };
  // Read for every launch: an operator may lower the limits of a running server.
  const text = readLimits();
  const atMost = (amount: number, name: string) => Math.min(amount, readHardLimit(text, name));
  return {
    ...wanted,
    dataBytes: atMost(wanted.dataBytes, 'Max data size'),
    addressBytes: atMost(wanted.addressBytes, 'Max address space'),
    openFiles: atMost(wanted.openFiles, 'Max open files'),
    fileBytes: atMost(wanted.fileBytes, 'Max file size'),
    lockedBytes: atMost(wanted.lockedBytes, 'Max locked memory'),
    cpuSeconds: atMost(wanted.cpuSeconds, 'Max cpu time'),
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
  processes: toolLimits.sandboxProcessesMax,
  memoryBytes: toolLimits.sandboxMemoryBytesMax,
  dataBytes: toolLimits.sandboxDataBytesMax,
  addressBytes: toolLimits.sandboxAddressBytesMax,
  openFiles: toolLimits.sandboxOpenFilesMax,
  fileBytes: toolLimits.sandboxFileBytesMax,
  lockedBytes: toolLimits.sandboxLockedBytesMax,
  cpuSeconds: toolLimits.sandboxCpuSecondsMax,
  temporaryBytes: toolLimits.sandboxTemporaryBytesMax,
};

const TEMPORARY_PART = 8;

function readOwnLimits(): string {
  return readFileSync('/proc/self/limits', 'utf8');
}
