import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { findProgram } from '../find-program.ts';
import { closeInherited, findInheritedDescriptors } from './inherited-descriptors.ts';
import { noSandbox, openSandboxBench, perl, type SandboxBench } from './sandbox.suite.ts';
import { findArchitecture } from './seccomp/system-calls.ts';

// Sandboxes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 60_000 });

const isLeftOut = noSandbox !== undefined;
const architecture = findArchitecture(process.arch);
/** System calls are made by perl, by their numbers, with nothing in between that could refuse them first. */
const hasNoCalls = isLeftOut || perl === '' || architecture === undefined;
const gcc = await findProgram('gcc');

describe('the kernel', () => {
  it.skipIf(isLeftOut)('[U140] cannot be set up through /proc/sys, even where the server is root', async () => {
    const { sh } = openSandboxBench();
    // Each with the value that it has: if this worked nothing would change.
    for (const name of ['kernel/core_pattern', 'fs/file-max', 'vm/overcommit_memory', 'kernel/modprobe']) {
      const before = existsSync(`/proc/sys/${name}`) ? readFileSync(`/proc/sys/${name}`, 'utf8').trim() : '';
      if (before === '') continue;
      const { status, text } = await sh(`echo '${before}' > /proc/sys/${name}`);
      expect([name, status]).not.toEqual([name, 0]);
      expect(text).toMatch(/Read-only file system|Permission denied/);
    }
    const writable = await sh(`find /proc/sys /proc/[a-z]* -maxdepth 3 -type f -writable 2>/dev/null`);
    expect(writable.text).toBe('');
  });

  it.skipIf(isLeftOut)('[U141] shows no keys, log, memory or addresses in /proc', async () => {
    const { sh } = openSandboxBench();
    const hidden = 'keys key-users kcore kmsg kallsyms slabinfo kpagecount timer_list sched_debug vmallocinfo cmdline';
    const looks = hidden.split(' ').map((name) => `echo "${name}:$(head -c 100 /proc/${name} 2>/dev/null)"`);
    expect((await sh(looks.join('\n'))).text.split('\n')).toEqual(hidden.split(' ').map((name) => `${name}:`));
    expect((await sh('ls /proc/acpi /proc/scsi /proc/asound /sys 2>/dev/null | grep -v :')).text).toBe('');
    // What programs do need is there.
    const shown =
      'cpuinfo meminfo stat loadavg uptime version filesystems self/status mounts sys/kernel/ostype net/dev';
    const { text } = await sh(`cd /proc && for f in ${shown}; do head -c 1 $f | wc -c; done`);
    expect(text.split('\n').map(Number)).toEqual(shown.split(' ').map(() => 1));
  });

  it.skipIf(hasNoCalls)('[U142] refuses keys, BPF, io_uring, mounts, modules, clocks and their like', async () => {
    const bench = openSandboxBench();
    const refused = [
      ['keyctl', 0, -3, 0],
      ['add_key', '"user"', '"name"', '"secret"', 6, -3],
      ['request_key', '"user"', '"name"', 0, -3],
      ['bpf', 0, 0, 0],
      ['perf_event_open', 0, 0, -1, -1, 0],
      ['userfaultfd', 1],
      ['io_uring_setup', 1, 0],
      ['mount', '"none"', '"/tmp"', '"tmpfs"', 0, 0],
      ['umount2', '"/tmp"', 2],
      ['pivot_root', '"/"', '"/"'],
      ['chroot', '"/"'],
      ['fsopen', '"tmpfs"', 0],
      ['open_tree', -100, '"/"', 1],
      ['move_mount', -1, '""', -1, '""', 0],
      ['mount_setattr', -100, '"/"', 0, 0, 0],
      ['setns', 0, 0],
      ['unshare', 0x1000_0000],
      ['unshare', 0x0002_0000],
      ['unshare', 0x80],
      ['clone', 0x1000_0011, 0, 0, 0, 0],
      ['clone', 0x4000_0011, 0, 0, 0, 0],
      ['init_module', 0, 0, '""'],
      ['finit_module', 0, '""', 0],
      ['delete_module', '"x"', 0],
      ['kexec_load', 0, 0, 0, 0],
      ['reboot', 0, 0, 0, 0],
      ['swapon', '"x"', 0],
      ['swapoff', '"x"'],
      ['acct', 0],
      ['quotactl', 0, 0, 0, 0],
      ['syslog', 10, 0, 0],
      ['settimeofday', 0, 0],
      ['clock_settime', 0, 0],
      ['clock_adjtime', 0, 0],
      ['name_to_handle_at', -100, '"/"', 0, 0, 0],
      ['open_by_handle_at', 0, 0, 0],
      ['ptrace', 0x4206, 1, 0, 0],
      ['process_vm_writev', 1, 0, 0, 0, 0, 0],
      ['pidfd_getfd', 0, 0, 0],
    ] as const;
    const results = await makeCalls(bench, refused);
    expect(results).toEqual(refused.map(([name]) => `${name} ${EPERM}`));
    // These are looked for by programs that can do without.
    const absent = [['clone3', 0, 0], ['openat2', -100, '"/"', 0, 0], ['io_setup', 1, 0], ['#600'], ['#470']] as const;
    expect(await makeCalls(bench, absent)).toEqual(absent.map(([name]) => `${name} ${ENOSYS}`));
  });

  it.skipIf(hasNoCalls || process.arch !== 'x64')('[U142] is not reached through the numbers of x32', async () => {
    const calls = [['#' + (0x4000_0000 + 250), 0, -3, 0], ['#' + (0x4000_0000 + 39)]] as const;
    const results = await makeCalls(openSandboxBench(), calls);
    expect(results.map((result) => result.split(' ')[1])).toEqual([ENOSYS, ENOSYS]);
  });

  it.skipIf(hasNoCalls || process.arch !== 'x64' || gcc === undefined)(
    '[U142] ends a program that calls it as a program of 32 bits would',
    async () => {
      const { sh, workspace } = openSandboxBench();
      const source = 'int main(void) { int r; __asm__("int $0x80" : "=a"(r) : "a"(20)); return r < 0; }';
      writeFileSync(join(workspace, 'old.c'), source);
      const { text } = await sh('gcc -o old old.c && (./old); echo status $?');
      // 128 and the number of SIGSYS.
      expect(text).toMatch(/status 159$/);
    },
  );

  it.skipIf(hasNoCalls)(
    '[U143] makes no sockets but Unix, IP and netlink ones: vsock would reach the host',
    async () => {
      const others = Array.from({ length: 46 }, (_, family) => family).filter(
        (family) => ![1, 2, 10, 16].includes(family),
      );
      const results = await makeCalls(
        openSandboxBench(),
        others.map((family) => ['socket', family, 1, 0] as const),
      );
      expect(new Set(results)).toEqual(new Set([`socket ${EAFNOSUPPORT}`]));
      const usual = await makeCalls(
        openSandboxBench(),
        [1, 2, 10].map((family) => ['socket', family, 1, 0] as const),
      );
      expect(usual).toEqual(['socket 0', 'socket 0', 'socket 0']);
    },
  );

  it.skipIf(hasNoCalls)(
    '[U144] takes no terminal commands that type, and no leases that make the server wait',
    async () => {
      const bench = openSandboxBench();
      writeFileSync(join(bench.workspace, 'file'), '');
      const script = `open(F, '+<', 'file'); open(T, '+<', '/dev/ptmx');
      for ([fileno(T), 0x5412], [fileno(T), 0x5412 | 1 << 32], [fileno(T), 0x541c], [fileno(T), 0x5423]) {
        print syscall(${numberOf('ioctl')}, $_->[0], $_->[1], my $b = 'x'), ' ', $! + 0, "\\n";
      }
      print syscall(${numberOf('fcntl')}, fileno(F), 1024, 1), ' ', $! + 0, "\\n";
      print syscall(${numberOf('fcntl')}, fileno(F), 1030, 0) > 0 ? "others work" : $!;`;
      expect((await bench.run(perl, ['-e', script])).text).toBe(`${`-1 ${EPERM}\n`.repeat(5)}others work`);
    },
  );
});

describe('files of the workspace', () => {
  it.skipIf(hasNoCalls)('[U145] never become setuid or setgid, by whichever call', async () => {
    const bench = openSandboxBench();
    const { workspace } = bench;
    writeFileSync(join(workspace, 'file'), '');
    // O_CREAT | O_WRONLY, and O_TMPFILE | O_WRONLY.
    const flags = [0o101, 0o2020_0001 | (process.arch === 'arm64' ? 0o4_0000 : 0o20_0000)];
    const calls = [0o4755, 0o2755, 0o6000].flatMap((mode) => [
      ['fchmodat', -100, '"file"', mode],
      ['fchmodat2', -100, '"file"', mode, 0],
      ['fchmod', 'fileno(F)', mode],
      ...flags.map((flag, at) => ['openat', -100, at === 0 ? `"new${mode}"` : '"."', flag, mode] as const),
      ['mknodat', -100, `"node${mode}"`, 0o10_0000 | mode, 0],
      ...(process.arch === 'x64'
        ? ([
            ['chmod', '"file"', mode],
            ['creat', `"made${mode}"`, mode],
            ['open', `"opened${mode}"`, 0o101, mode],
            ['mknod', `"old${mode}"`, 0o10_0000 | mode, 0],
          ] as const)
        : []),
    ]) as readonly Call[];
    expect(await makeCalls(bench, calls, `open(F, '+<', 'file')`)).toEqual(calls.map(([name]) => `${name} ${EPERM}`));
    expect(readdirSync(workspace)).toEqual(['file']);
    expect(statSync(join(workspace, 'file')).mode & 0o6000).toBe(0);
    // The other bits can be set, and a mode without a file to make is not looked at.
    const usual = [
      ['fchmodat', -100, '"file"', 0o1777],
      ['openat', -100, '"file"', 0, 0o6755],
      ['openat', -100, '"made"', 0o101, 0o755],
    ] as const;
    expect(await makeCalls(bench, usual)).toEqual(['fchmodat 0', 'openat 0', 'openat 0']);
  });

  it.skipIf(isLeftOut)('[U145] keep their modes when archives and copies with such bits are made', async () => {
    const { sh, workspace } = openSandboxBench();
    const script =
      'cp /bin/true t; chmod u+s t; chmod 2755 t; install -m 4755 t i; mkdir d; chmod g+s d; cp -a /usr/bin/passwd p; true';
    await sh(script);
    for (const name of readdirSync(workspace)) {
      expect([name, statSync(join(workspace, name)).mode & 0o6000]).toEqual([name, 0]);
    }
  });

  it.skipIf(hasNoCalls)('[U146] are never devices, and get no capabilities', async () => {
    const bench = openSandboxBench();
    const devices = [0o2_0000, 0o6_0000].flatMap(
      (type) => [['mknodat', -100, '"device"', type | 0o666, 0x103]] as const,
    );
    expect(await makeCalls(bench, devices)).toEqual(devices.map(() => `mknodat ${EPERM}`));
    const { run, sh, workspace } = bench;
    // cap_setuid in the second version of the format, for all users.
    const value =
      '\\x01\\x00\\x00\\x02\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00';
    writeFileSync(join(workspace, 'file'), '');
    const setxattr = process.arch === 'x64' ? 188 : 5;
    const script = `print syscall(${setxattr}, my $f = "file", my $n = "security.capability", my $v = "${value}", 20, 0), " $!"`;
    expect((await run(perl, ['-e', script])).text).toBe('-1 Operation not permitted');
    const nested = await sh('unshare --user --map-root-user true');
    expect([nested.status, nested.text]).toEqual([1, expect.stringMatching(/Operation not permitted|No space left/)]);
    expect(readdirSync(workspace)).toEqual(['file']);
  });
});

describe('the machine', () => {
  it.skipIf(isLeftOut)(
    '[U147] keeps the modes of its devices, also through descriptors that were opened outside',
    async () => {
      const { sh } = openSandboxBench();
      const names = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
      const modes = () => names.map((name) => statSync(`/dev/${name}`).mode);
      const before = modes();
      const paths = [...names.map((name) => `/dev/${name}`), '/proc/self/fd/0', '/proc/1/fd/0'];
      // To the mode that it has: if this worked nothing would change.
      const script = paths.map((path) => `chmod 666 ${path} 2>/dev/null && echo ${path}`).join('; ');
      expect((await sh(script)).text).toBe('');
      expect(modes()).toEqual(before);
      const use = 'echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c';
      expect((await sh(use)).text).toBe('3\n3');
    },
  );

  it.skipIf(isLeftOut)('[U148] gives a program no descriptor, variable or socket of the server', async () => {
    const { run, sh } = openSandboxBench();
    process.env['FLEETLOOM_TEST_SECRET'] = 'hunter2';
    try {
      const { text } = await sh('cat /proc/*/environ | tr "\\0" "\\n"; env');
      expect(text).toContain('PATH=');
      expect(text).not.toContain('hunter2');
      // The last one is the directory that is listed.
      expect((await run('/bin/ls', ['/proc/self/fd'])).text).toBe('0\n1\n2\n3');
      expect((await run('/bin/cat', ['/proc/net/unix'])).text.split('\n')).toHaveLength(1);
    } finally {
      delete process.env['FLEETLOOM_TEST_SECRET'];
    }
  });

  it('[U148] gives it none either that the server was started with itself', async () => {
    const bash = await findProgram('bash');
    const stdio = [...Array.from({ length: 30 }, () => 'ignore' as const), 'pipe' as const];
    const parent = spawn('/bin/sleep', ['60'], { stdio });
    try {
      await once(parent, 'spawn');
      const inherited = await findInheritedDescriptors(parent.pid);
      expect(inherited).toContain(30);
      if (bash === undefined) return;
      const [file, ...args] = closeInherited(['/bin/ls', '/proc/self/fd'], bash, inherited);
      const { stdout } = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore', ...stdio.slice(3)] });
      expect(
        (await readText(stdout!))
          .split('\n')
          .map(Number)
          .filter((descriptor) => descriptor > 10),
      ).toEqual([]);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('[U190] reads no start-up file of the shell that closes descriptors: its HOME may belong to an agent', async () => {
    const bash = await findProgram('bash');
    if (bash === undefined) return;
    const home = mkdtempSync(join(tmpdir(), 'fleetloom-home-'));
    try {
      for (const name of ['.bashrc', '.bash_profile', '.profile']) writeFileSync(join(home, name), 'echo read');
      const env = { HOME: home, BASH_ENV: join(home, '.bashrc'), ENV: join(home, '.bashrc'), SHLVL: '0' };
      const [file, ...args] = closeInherited(['/bin/echo', 'started'], bash, [200]);
      // Pipes of Node are sockets: that is when bash takes itself for started by a remote shell.
      const { stdout } = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
      expect(await readText(stdout)).toBe('started\n');
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it.skipIf(isLeftOut)(
    '[U149] gives each launch the paths, variables and network that it requests, and no more',
    async () => {
      const { sh, outside } = openSandboxBench();
      writeFileSync(join(outside, 'file'), 'seen');
      const script = `cat ${outside}/file; echo x > ${outside}/new && echo written; echo "[$EXTRA]"; grep -c : /proc/net/dev`;
      const text = async (request: Parameters<SandboxBench['run']>[2]) => (await sh(script, request)).text;
      expect(await text({})).toMatch(/^cat: .*No such file.*\n.*\n\[\]\n1$/);
      expect(await text({ readOnlyPaths: [outside] })).toMatch(/^seen[^]*Read-only file system\n\[\]\n1$/);
      expect(
        (await sh('cat /opt/here', { readOnlyPaths: [{ path: join(outside, 'file'), at: '/opt/here' }] })).text,
      ).toBe('seen');
      expect(await text({ writablePaths: [outside] })).toBe('seenwritten\n[]\n1');
      expect(await text({ writablePaths: [outside], environment: { EXTRA: 'a b' } })).toMatch(/\[a b\]/);
      const devices = readFileSync('/proc/net/dev', 'utf8').trim().split('\n').length - 2;
      expect(await text({ writablePaths: [outside], allowsNetwork: true })).toBe(`seenwritten\n[]\n${devices}`);
    },
  );
});

type Call = readonly [name: string, ...args: (number | string)[]];

const [EPERM, ENOSYS, EAFNOSUPPORT] = ['1', '38', '97'];

function numberOf(name: string): number {
  // For calls that no table has: their numbers.
  return name.startsWith('#') ? Number(name.slice(1)) : (architecture?.numbers.get(name) ?? -1);
}

/** Makes system calls in one process, and gives each with its error. Texts in arguments are Perl. */
async function makeCalls({ run }: SandboxBench, calls: readonly Call[], before = ''): Promise<readonly string[]> {
  const lines = calls.map(([name, ...args]) => {
    const given = args.map((arg) =>
      typeof arg === 'string' && arg.startsWith('"') ? `my $s${unique++} = ${arg}` : arg,
    );
    return `$r = syscall(${[numberOf(name), ...given].join(', ')}); print '${name} ', $r < 0 ? $! + 0 : 0, "\\n";`;
  });
  const { text } = await run(perl, ['-e', [before, '$| = 1', lines.join('\n')].join(';\n')]);
  return text.split('\n');
}

let unique = 0;
