import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { LaunchGroups } from './cgroups/launch-groups.ts';
import { EPOLL_WATCH_BYTES } from './raise-epoll-watches.ts';
import { isRootForKernel, limitsProcesses } from './kernel.ts';
import type { DeviceGuard } from './launch-script.ts';
import type { SandboxGap } from './sandbox.ts';
import { readHardLimit, toSandboxLimits } from './sandbox-limits.ts';

/** The protections of a sandbox that depend on bubblewrap and the machine. */
export interface Protections {
  readonly filter: Uint8Array | undefined;
  readonly groups: LaunchGroups | undefined;
  /** Needed only where the server is root. */
  readonly deviceGuard: DeviceGuard | undefined;
  /** Descriptors that this process inherited and would pass on, and the bash that closes them. */
  readonly inherited: { readonly descriptors: readonly number[]; readonly bash: string | undefined };
  readonly canSize: boolean;
  readonly disablesUserNamespaces: boolean;
}

/** The result of a trial that worked. */
export interface TrialFindings {
  /** `/proc/self/limits` in the sandbox. */
  readonly limits: string;
  /** The protections of the first trial. */
  readonly all: Protections;
  /** Why the first trial failed, if it did. */
  readonly problem: string | undefined;
}

/** The protections that are missing on this machine, with the reason and a remedy. */
export function findGaps(protections: Protections, trial: TrialFindings): readonly SandboxGap[] {
  return [
    ...findUnlimited(trial.limits),
    ...findUncounted(protections, trial),
    ...findUnfiltered(protections, trial),
    ...findUnguarded(protections, trial),
    ...findUnclosed(protections),
    ...findUnsized(protections),
    ...findCountedTogether(readMachine()),
  ];
}

function findUnlimited(text: string): readonly SandboxGap[] {
  const wanted = toSandboxLimits();
  const named: readonly (readonly [name: string, most: number])[] = [
    ['Max open files', wanted.openFiles],
    ['Max file size', wanted.fileBytes],
    ['Max data size', wanted.dataBytes],
    ['Max address space', wanted.addressBytes],
    ['Max locked memory', wanted.lockedBytes],
    ['Max cpu time', wanted.cpuSeconds],
    ['Max core file size', 0],
  ];
  return named
    .filter(([name, most]) => readHardLimit(text, name) > most)
    .map(([name, most]) => ({
      text: `${name.replace('Max', 'the').toLowerCase()} of programs is not limited to ${most}: /bin/sh set another value`,
      fix: 'Make /bin/sh a POSIX shell, such as dash or bash.',
    }));
}

function findUncounted({ groups }: Protections, { problem }: TrialFindings): readonly SandboxGap[] {
  const reason = groups?.problem ?? problem;
  const isLimited = (name: 'memory' | 'pids') => groups?.controllers.has(name) === true;
  const memory: SandboxGap = {
    text: `the memory that an agent's programs take together is not limited (${reason})`,
    fix: FIX,
  };
  const processes: SandboxGap = {
    text: `the number of an agent's processes is not limited (${reason})`,
    fix: isRootForKernel() ? `Run the server as another user than root. Or: ${FIX}` : FIX,
  };
  const isCounted = isLimited('pids') || limitsProcesses();
  return [...(isLimited('memory') ? [] : [memory]), ...(isCounted ? [] : [processes])];
}

const FIX =
  'Let the server make cgroups: start it with `systemd-run --user --scope -- fleetloom …`, or as a service of systemd with ' +
  '`Delegate=yes` and `DelegateSubgroup=server`.';

function findUnfiltered(
  { filter, disablesUserNamespaces }: Protections,
  { all, problem }: TrialFindings,
): readonly SandboxGap[] {
  if (filter !== undefined) return [];
  const reason = all.filter === undefined ? `there is no filter for ${process.arch}` : problem;
  const also = disablesUserNamespaces ? '' : ', and user namespaces can be nested';
  return [
    {
      text: `system calls of programs are not filtered (${reason})${also}: setuid files and kernel keys are not refused`,
      fix: 'Run the server as a user of its own, not as root, on x64 or arm64 with seccomp in the kernel.',
    },
  ];
}

function findUnguarded({ deviceGuard }: Protections, { all, problem }: TrialFindings): readonly SandboxGap[] {
  if (deviceGuard !== undefined || !isRootForKernel()) return [];
  const reason = all.deviceGuard === undefined ? 'unshare or mount is not installed' : problem;
  return [
    {
      text: `an agent can change the modes of /dev/null and the like for the whole machine (${reason})`,
      fix: 'Run the server as another user than root, or install util-linux.',
    },
  ];
}

function findUnclosed({ inherited: { descriptors, bash } }: Protections): readonly SandboxGap[] {
  if (descriptors.length === 0 || bash !== undefined) return [];
  return [
    {
      text: `programs get descriptors that the server was started with (${descriptors.join(', ')})`,
      fix: 'Install bash, or close them before the server is started.',
    },
  ];
}

function findUnsized({ canSize }: Protections): readonly SandboxGap[] {
  if (canSize) return [];
  return [
    {
      text: '/tmp, the home directory and /dev/shm of an agent are in memory and not limited',
      fix: 'Install bubblewrap 0.7 or newer.',
    },
  ];
}

/** The properties of a machine that decide what a sandbox cannot limit. */
export interface Machine {
  readonly memoryBytes: number;
  /** `fs.epoll.max_user_watches` */
  readonly epollWatches: number;
  /** `fs.file-max` */
  readonly openFiles: number;
  readonly isRoot: boolean;
}

/**
 * Limits of the kernel that a sandbox shares with the server. libuv aborts when the user has no epoll watches left. A
 * limit that is larger than the machine's memory allows is never reached: the memory of a launch is used up before.
 */
export function findCountedTogether({ memoryBytes, epollWatches, openFiles, isRoot }: Machine): readonly SandboxGap[] {
  // An open file takes 232 bytes, an epoll watch less.
  const enough = memoryBytes / EPOLL_WATCH_BYTES;
  const counters: readonly (readonly [name: string, value: number])[] = [
    ['fs.epoll.max_user_watches', epollWatches],
    // Does not apply to root.
    ['fs.file-max', isRoot ? Number.POSITIVE_INFINITY : openFiles],
  ];
  return counters
    .filter(([, value]) => value < enough)
    .map(([name, value]) => ({
      text: `an agent can use up ${name} (${value}), which ends the server or keeps it from working`,
      fix: `Set ${name}=1000000000 in /etc/sysctl.d, then \`sysctl --system\`.`,
    }));
}

function readMachine(): Machine {
  const read = (name: string): number => Number(readFileSync(`/proc/sys/fs/${name}`, 'utf8'));
  return {
    memoryBytes: totalmem(),
    epollWatches: read('epoll/max_user_watches'),
    openFiles: read('file-max'),
    isRoot: isRootForKernel(),
  };
}
