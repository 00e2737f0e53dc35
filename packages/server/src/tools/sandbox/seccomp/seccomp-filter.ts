import * as bpf from './classic-bpf.ts';
import { findArchitecture, LAST_NUMBER } from './system-calls.ts';

/**
 * The seccomp program for what runs in the sandbox, or undefined on an architecture that it is not written for.
 *
 * It is a deny-list, because developers run programs of every kind. System calls that are newer than the list are refused
 * as well: a new way to mount must not open the sandbox.
 */
export function createSeccompFilter(architecture: string = process.arch): Uint8Array | undefined {
  const known = findArchitecture(architecture);
  if (known === undefined) return undefined;
  const blocks = [...toPoliciesByCall()].flatMap(([name, policies]) => {
    const number = known.numbers.get(name);
    return number === undefined ? [] : [toBlock(number, policies)];
  });
  return bpf.assemble([
    bpf.loadArchitecture,
    // 32-bit programs have other numbers. With an error for each call they could not even exit.
    bpf.skipIfEqual(known.audit, 1),
    bpf.killProcess,
    bpf.loadNumber,
    // Includes the numbers of x32: the same calls again, from 2^30 on.
    bpf.skipUnlessGreater(LAST_NUMBER, 1),
    bpf.failWith(ENOSYS),
    ...blocks.flat(),
    bpf.allow,
  ]);
}

/** Refuses calls, always or when all conditions hold. */
interface Policy {
  readonly calls: string;
  readonly errno: number;
  readonly conditions?: readonly Condition[];
}

type Condition = { readonly argument: number } & (
  | { readonly type: 'any_bit'; readonly bits: number }
  | { readonly type: 'equal'; readonly value: number; readonly mask?: number }
  | { readonly type: 'different'; readonly value: number }
);

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const SET_ID_BITS = 0o6000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that is not `O_DIRECTORY`. Without them the mode argument is undefined. */
const CREATING_FLAGS = 0o100 | 0o2000_0000;
const FILE_TYPE_BITS = 0o17_0000;
const CHARACTER_DEVICE = 0o2_0000;
const BLOCK_DEVICE = 0o6_0000;
/** All but `CLONE_NEWTIME`, which only `unshare` takes: in `clone` the same bit is part of a signal number. */
const NAMESPACE_FLAGS = 0x7e02_0000;
const TIME_NAMESPACE = 0x80;
const [TIOCSTI, TIOCLINUX, TIOCSETD] = [0x5412, 0x541c, 0x5423];
const [F_SETLEASE, F_SETDELEG] = [1_024, 1_040];
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];

const policies: readonly Policy[] = [
  // The server's session keyring, which every child process inherits.
  { calls: 'keyctl add_key request_key', errno: EPERM },
  // Large parts of the kernel that agents do not need and many sandbox escapes went through.
  { calls: 'bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register', errno: EPERM },
  // These need capabilities that no process in the sandbox has. Refused here as well, in case of a bug in the kernel.
  { calls: 'mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount', errno: EPERM },
  { calls: 'open_tree open_tree_attr mount_setattr', errno: EPERM },
  { calls: 'init_module finit_module delete_module kexec_load kexec_file_load reboot', errno: EPERM },
  { calls: 'swapon swapoff quotactl quotactl_fd acct syslog settimeofday', errno: EPERM },
  { calls: 'clock_settime clock_adjtime ioperm iopl', errno: EPERM },
  { calls: 'uselib _sysctl nfsservctl lookup_dcookie', errno: ENOSYS },
  // Opens files by inode, outside the mounts of the sandbox.
  { calls: 'name_to_handle_at open_by_handle_at', errno: EPERM },
  // Counted for the whole machine (fs.aio-max-nr): one program could use up all of it.
  { calls: 'io_setup', errno: ENOSYS },

  // In a nested user namespace a program has all capabilities. Where the server is root, file capabilities that it sets
  // are valid outside.
  { calls: 'setns', errno: EPERM },
  { calls: 'clone', errno: EPERM, conditions: [{ argument: 0, type: 'any_bit', bits: NAMESPACE_FLAGS }] },
  {
    calls: 'unshare',
    errno: EPERM,
    conditions: [{ argument: 0, type: 'any_bit', bits: NAMESPACE_FLAGS | TIME_NAMESPACE }],
  },
  // Their flags are in memory, which a filter cannot read. Programs fall back to `clone` and `openat`.
  { calls: 'clone3 openat2', errno: ENOSYS },

  // A file in the workspace belongs to the server's user. A setuid program there would run as that user for all users.
  { calls: 'chmod fchmod creat mknod', errno: EPERM, conditions: [hasSetId(1)] },
  { calls: 'fchmodat fchmodat2 mknodat', errno: EPERM, conditions: [hasSetId(2)] },
  { calls: 'open', errno: EPERM, conditions: [{ argument: 1, type: 'any_bit', bits: CREATING_FLAGS }, hasSetId(2)] },
  { calls: 'openat', errno: EPERM, conditions: [{ argument: 2, type: 'any_bit', bits: CREATING_FLAGS }, hasSetId(3)] },
  ...[CHARACTER_DEVICE, BLOCK_DEVICE].flatMap((type) => [
    { calls: 'mknod', errno: EPERM, conditions: [isOfType(1, type)] },
    { calls: 'mknodat', errno: EPERM, conditions: [isOfType(2, type)] },
  ]),

  // Input injection into terminals, and line disciplines, which load kernel modules.
  ...[TIOCSTI, TIOCLINUX, TIOCSETD].map((request) => ({
    calls: 'ioctl',
    errno: EPERM,
    conditions: [{ argument: 1, type: 'equal', value: request } as const],
  })),
  // A lease on a file blocks the next open for up to 45 s: in the server, one of the few threads of libuv.
  ...[F_SETLEASE, F_SETDELEG].map((command) => ({
    calls: 'fcntl',
    errno: EPERM,
    conditions: [{ argument: 1, type: 'equal', value: command } as const],
  })),
  // Of the other families some ignore the network namespace: vsock reaches the host of a virtual machine.
  {
    calls: 'socket',
    errno: EAFNOSUPPORT,
    conditions: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].map((value) => ({ argument: 0, type: 'different', value })),
  },
  // Process 1 is bubblewrap's own. It is started before the limit on processes is set.
  // Takes a descriptor of another process: a command could write to what its program writes to the server.
  { calls: 'pidfd_getfd', errno: EPERM },
  { calls: 'ptrace', errno: EPERM, conditions: [{ argument: 1, type: 'equal', value: 1 }] },
  { calls: 'process_vm_writev', errno: EPERM, conditions: [{ argument: 0, type: 'equal', value: 1 }] },
];

function hasSetId(argument: number): Condition {
  return { argument, type: 'any_bit', bits: SET_ID_BITS };
}

function isOfType(argument: number, type: number): Condition {
  return { argument, type: 'equal', mask: FILE_TYPE_BITS, value: type };
}

function toPoliciesByCall(): ReadonlyMap<string, readonly Policy[]> {
  const byCall = new Map<string, Policy[]>();
  for (const policy of policies) {
    for (const call of policy.calls.split(' ')) byCall.set(call, [...(byCall.get(call) ?? []), policy]);
  }
  return byCall;
}

/** Expects the number of the call to be loaded. Returns a result if it is this call. */
function toBlock(number: number, ofCall: readonly Policy[]): readonly bpf.Instruction[] {
  const block = [...ofCall.flatMap((policy) => toCheck(policy)), bpf.allow];
  return [bpf.skipUnlessEqual(number, block.length), ...block];
}

/** Refuses the call if all conditions hold. Otherwise execution continues after this block. */
function toCheck({ errno, conditions = [] }: Policy): readonly bpf.Instruction[] {
  const refusal = [bpf.failWith(errno)];
  return conditions.reduceRight<readonly bpf.Instruction[]>(
    (after, condition) => [...toTest(condition, after.length), ...after],
    refusal,
  );
}

function toTest(condition: Condition, count: number): readonly bpf.Instruction[] {
  const load = bpf.loadArgument(condition.argument);
  switch (condition.type) {
    case 'any_bit':
      return [load, bpf.skipUnlessAnyBit(condition.bits, count)];
    case 'equal':
      return [
        load,
        ...(condition.mask === undefined ? [] : [bpf.maskWith(condition.mask)]),
        bpf.skipUnlessEqual(condition.value, count),
      ];
    case 'different':
      return [load, bpf.skipIfEqual(condition.value, count)];
  }
}
