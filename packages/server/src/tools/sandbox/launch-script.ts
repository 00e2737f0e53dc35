import type { SandboxLimits } from './sandbox-limits.ts';

/** A program with its arguments. */
export type Command = readonly [file: string, ...args: string[]];

/** Programs of the machine that make its devices read-only for a launch. */
export interface DeviceGuard {
  readonly unshare: string;
  readonly mount: string;
}

export interface OutsideOptions {
  readonly limits: SandboxLimits;
  /** A process that writes `0` to each of them has joined the cgroups of the launch. */
  readonly groupFiles: readonly string[];
  readonly deviceGuard: DeviceGuard | undefined;
}

/**
 * Starts a program with limits that neither it nor its children can raise. It joins the cgroups before it becomes the
 * program, so that no process of the launch is ever outside of them. A step that fails keeps the program from starting.
 */
export function prepareOutside(command: Command, { limits, groupFiles, deviceGuard }: OutsideOptions): Command {
  const { dataBytes, addressBytes, openFiles, fileBytes, lockedBytes, cpuSeconds } = limits;
  const script = toScript(command, [
    ...groupFiles.map((file) => `echo 0 > ${quote(file)}`),
    // When memory is full the kernel ends these processes before any other of the machine.
    'echo 1000 > /proc/self/oom_score_adj',
    'ulimit -c 0',
    `ulimit -d ${toKibibytes(dataBytes)}`,
    `ulimit -v ${toKibibytes(addressBytes)}`,
    `ulimit -n ${openFiles}`,
    // In blocks of 512 bytes, as POSIX has it.
    `ulimit -f ${toUnits(fileBytes, 512)}`,
    `ulimit -l ${toKibibytes(lockedBytes)}`,
    `ulimit -t ${toUnits(cpuSeconds, 1)}`,
    // With what is mounted below it: the data directory may be in /dev/shm.
    ...(deviceGuard === undefined ? [] : [`${quote(deviceGuard.mount)} -o rbind,ro /dev /dev`, '[ ! -w /dev ]']),
    // The /dev/null that the server opened is on a writable mount: its mode could be changed through the descriptor.
    ...[0, 1, 2].map((fd) => `{ [ ! -c /proc/self/fd/${fd} ] || exec ${fd}<> /dev/null; }`),
  ]);
  return deviceGuard === undefined ? script : [deviceGuard.unshare, '--mount', '--', ...script];
}

/**
 * The step that has to happen inside the sandbox: the limit on processes counts those of a user namespace. Set outside, it
 * would count everything that the user of the server runs.
 */
export function prepareInside(command: Command, { processes }: { readonly processes: number | undefined }): Command {
  // The option is -u in bash, -p in dash and ash.
  const step = `{ ulimit -u ${processes} 2> /dev/null || ulimit -p ${processes}; }`;
  return processes === undefined ? command : toScript(command, [step]);
}

function toScript(command: Command, steps: readonly string[]): Command {
  const script = [...steps.map((step) => `${step} || exit ${COULD_NOT_PREPARE}`), 'exec "$@"'].join('\n');
  return ['/bin/sh', '-c', script, 'fleetloom', ...command];
}

/** The status of `env`, `nice` and similar programs that fail before the program they start. */
const COULD_NOT_PREPARE = 125;

function toKibibytes(bytes: number): string {
  return toUnits(bytes, 1024);
}

function toUnits(amount: number, unit: number): string {
  return Number.isFinite(amount) ? `${Math.max(1, Math.floor(amount / unit))}` : 'unlimited';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
