import { describe, expect, it } from 'vitest';
import { createSeccompFilter } from './seccomp-filter.ts';
import { findArchitecture } from './system-calls.ts';

// The other architecture than that of this machine can only be tried here: by doing what the kernel does with a filter.
describe.each(['x64', 'arm64'])('the filter for %s', (name) => {
  const filter = createSeccompFilter(name)!;
  const { audit, numbers } = findArchitecture(name)!;
  const answer = (call: string, ...args: (number | bigint)[]) =>
    run(filter, { audit, number: numbers.get(call)!, args });

  it('[U142] refuses the system calls on its list, whatever their arguments', () => {
    const calls = 'keyctl bpf io_uring_setup mount umount2 setns init_module reboot open_by_handle_at acct'.split(' ');
    for (const call of calls) expect([call, answer(call, 1, 2, 3)]).toEqual([call, 'errno 1']);
    for (const call of ['clone3', 'openat2', 'io_setup']) expect([call, answer(call)]).toEqual([call, 'errno 38']);
  });

  it('[U142] allows all other calls, and none that is newer than its list', () => {
    const refused = new Set(numbers.values());
    for (let number = 0; number <= 469; number++) {
      if (!refused.has(number)) expect([number, run(filter, { audit, number, args: [] })]).toEqual([number, 'allow']);
    }
    for (const number of [470, 1_000, 0x4000_0000, 0xffff_ffff]) {
      expect([number, run(filter, { audit, number, args: [] })]).toEqual([number, 'errno 38']);
    }
    expect(run(filter, { audit: 0x4000_0003, number: 1, args: [] })).toBe('kill');
  });

  it('[U142] lets processes and threads be started, and no namespaces be made', () => {
    expect(answer('clone', 0x003d_0f00)).toBe('allow');
    expect(answer('clone', 0x11)).toBe('allow');
    expect(answer('unshare', 0x400)).toBe('allow');
    for (const flag of [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
      expect([answer('clone', flag | 0x11), answer('unshare', flag)]).toEqual(['errno 1', 'errno 1']);
    }
    expect(answer('unshare', 0x80)).toBe('errno 1');
    // For clone these bits are the signal at the end of the child.
    expect(answer('clone', 0x80)).toBe('allow');
  });

  it('[U145] lets modes be set, and no setuid or setgid bits', () => {
    expect([answer('fchmod', 3, 0o1777), answer('fchmodat', 3, 0, 0o777)]).toEqual(['allow', 'allow']);
    for (const mode of [0o4000, 0o2000, 0o6777]) {
      expect([answer('fchmod', 3, mode), answer('fchmodat', 3, 0, mode)]).toEqual(['errno 1', 'errno 1']);
      expect([answer('fchmodat2', 3, 0, mode, 0), answer('mknodat', 3, 0, mode)]).toEqual(['errno 1', 'errno 1']);
      expect([answer('openat', 3, 0, 0o100, mode), answer('openat', 3, 0, 0o2000_0000, mode)]).toEqual([
        'errno 1',
        'errno 1',
      ]);
      expect(answer('openat', 3, 0, 0o1, mode)).toBe('allow');
    }
    expect([answer('mknodat', 3, 0, 0o2_0666), answer('mknodat', 3, 0, 0o6_0666)]).toEqual(['errno 1', 'errno 1']);
    expect([answer('mknodat', 3, 0, 0o1_0666), answer('mknodat', 3, 0, 0o10_0666)]).toEqual(['allow', 'allow']);
  });

  it('[U144] looks at as much of an argument as the kernel does', () => {
    expect(answer('ioctl', 0, 0x5412)).toBe('errno 1');
    expect(answer('ioctl', 0, 0x1_0000_5412n)).toBe('errno 1');
    expect(answer('ioctl', 0, 0x5413)).toBe('allow');
    expect([answer('fcntl', 3, 1_024), answer('fcntl', 3, 1_030)]).toEqual(['errno 1', 'allow']);
  });

  it('[U143] lets sockets be made of four families', () => {
    const allowed = Array.from({ length: 50 }, (_, family) => family).filter(
      (family) => answer('socket', family) === 'allow',
    );
    expect(allowed).toEqual([1, 2, 10, 16]);
    expect(answer('socket', 40)).toBe('errno 97');
  });
});

it('[U142] there is none for an architecture whose numbers are not known', () => {
  expect(createSeccompFilter('riscv64')).toBeUndefined();
});

/** What the kernel answers to a call: classic BPF, as far as our filters use it. */
function run(
  filter: Uint8Array,
  { audit, number, args }: { audit: number; number: number; args: readonly (number | bigint)[] },
): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, arg] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(arg)), true);
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let loaded = 0;
  for (let at = 0; at < filter.byteLength; at += 8) {
    const [code, value] = [program.getUint16(at, true), program.getUint32(at + 4, true)];
    const skip = (holds: boolean) => program.getUint8(at + (holds ? 2 : 3)) * 8;
    if (code === 0x20) loaded = data.getUint32(value, true);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else if (code === 0x15) at += skip(loaded === value);
    else if (code === 0x25) at += skip(loaded > value);
    else if (code === 0x45) at += skip((loaded & value) !== 0);
    else if (code === 0x06)
      return value === 0x7fff_0000 ? 'allow' : value === 0x8000_0000 ? 'kill' : `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter has no end');
}
