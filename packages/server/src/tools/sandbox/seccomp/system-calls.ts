/** The constants of an architecture. */
export interface Architecture {
  /** `AUDIT_ARCH_…` of the kernel. */
  readonly audit: number;
  /** Numbers of the system calls that a filter names and that this architecture has. */
  readonly numbers: ReadonlyMap<string, number>;
}

/** An architecture by its name in Node. Undefined where there is no table of its numbers. */
export function findArchitecture(name: string): Architecture | undefined {
  if (name === 'x64') return { audit: 0xc000_003e, numbers: readColumn(0) };
  if (name === 'arm64') return { audit: 0xc000_00b7, numbers: readColumn(1) };
  return undefined;
}

/** The newest system call that was reviewed: `file_setattr` of Linux 6.17. It has this number on all architectures. */
export const LAST_NUMBER = 469;

function readColumn(column: 0 | 1): ReadonlyMap<string, number> {
  const lines = TABLE.trim().split('\n');
  const entries = lines
    .map((line) => line.trim().split(/\s+/))
    .map(([name = '', ...cells]) => [name, cells[column]] as const);
  return new Map(entries.filter(([, cell]) => cell !== '-').map(([name, cell]) => [name, Number(cell)]));
}

// Name, x86_64, aarch64: from asm/unistd_64.h and asm-generic/unistd.h. Equal from 424 on.
const TABLE = `
  _sysctl            156    -
  acct               163   89
  add_key            248  217
  bpf                321  280
  chmod               90    -
  chroot             161   51
  clock_adjtime      305  266
  clock_settime      227  112
  clone               56  220
  clone3             435  435
  creat               85    -
  delete_module      176  106
  fchmod              91   52
  fchmodat           268   53
  fchmodat2          452  452
  fcntl               72   25
  finit_module       313  273
  fsconfig           431  431
  fsmount            432  432
  fsopen             430  430
  fspick             433  433
  init_module        175  105
  io_setup           206    0
  io_uring_enter     426  426
  io_uring_register  427  427
  io_uring_setup     425  425
  ioctl               16   29
  ioperm             173    -
  iopl               172    -
  kexec_file_load    320  294
  kexec_load         246  104
  keyctl             250  219
  lookup_dcookie     212   18
  mknod              133    -
  mknodat            259   33
  mount              165   40
  mount_setattr      442  442
  move_mount         429  429
  name_to_handle_at  303  264
  nfsservctl         180   42
  open                 2    -
  open_by_handle_at  304  265
  open_tree          428  428
  open_tree_attr     467  467
  openat             257   56
  openat2            437  437
  perf_event_open    298  241
  pivot_root         155   41
  pidfd_getfd        438  438
  process_vm_writev  311  271
  ptrace             101  117
  quotactl           179   60
  quotactl_fd        443  443
  reboot             169  142
  request_key        249  218
  setns              308  268
  settimeofday       164  170
  socket              41  198
  swapoff            168  225
  swapon             167  224
  syslog             103  116
  umount2            166   39
  unshare            272   97
  userfaultfd        323  282
  uselib             134    -
`;
