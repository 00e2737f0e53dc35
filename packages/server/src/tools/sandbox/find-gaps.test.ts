import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../find-program.ts';
import { openBubblewrap } from './bubblewrap.ts';
import { LaunchGroups } from './cgroups/launch-groups.ts';
import { findCountedTogether, findGaps, type Protections } from './find-gaps.ts';
import { noSandbox } from './sandbox.suite.ts';
import { toSandboxLimits } from './sandbox-limits.ts';

const { openFiles, fileBytes, dataBytes, addressBytes, lockedBytes, cpuSeconds } = toSandboxLimits();
const limited = Object.entries({
  'Max open files': openFiles,
  'Max file size': fileBytes,
  'Max data size': dataBytes,
  'Max address space': addressBytes,
  'Max locked memory': lockedBytes,
  'Max cpu time': cpuSeconds,
  'Max core file size': 0,
})
  .map(([name, value]) => `${name}   ${value}   ${value}   units`)
  .join('\n');

const none: Protections = {
  filter: undefined,
  groups: new LaunchGroups({ trees: [] }),
  deviceGuard: undefined,
  inherited: { descriptors: [], bash: undefined },
  canSize: true,
  disablesUserNamespaces: true,
};
const guarded: Partial<Protections> = { filter: new Uint8Array(8), deviceGuard: { unshare: '/u', mount: '/m' } };
const isRoot = process.getuid?.() === 0;

describe('what the machine does not allow', () => {
  it('[U152] is reported for memory, and for processes if the server is root', () => {
    const gaps = findGaps({ ...none, ...guarded }, { limits: limited, all: none, problem: undefined });
    const memory = "the memory that an agent's programs take together is not limited (no cgroups are mounted)";
    expect(gaps[0]).toEqual({ text: memory, fix: expect.stringContaining('systemd-run --user --scope') });
    const isRootOfMachine = isRoot && /^\s*0\s+0\s/.test(readFileSync('/proc/self/uid_map', 'utf8'));
    expect(gaps.map(({ text }) => text).filter((text) => text.includes('processes'))).toEqual(
      isRootOfMachine ? ["the number of an agent's processes is not limited (no cgroups are mounted)"] : [],
    );
  });

  it('[U152] is reported for each limit that did not take effect, and for old versions of bubblewrap', () => {
    const unlimited = limited.replace(/^Max open files.*$/m, 'Max open files   1024   1048576   files');
    const texts = (limits: string, less: Partial<Protections> = {}) =>
      findGaps({ ...none, ...guarded, ...less }, { limits, all: none, problem: undefined }).map(({ text }) => text);
    expect(texts(unlimited)[0]).toBe(
      `the open files of programs is not limited to ${openFiles}: /bin/sh set another value`,
    );
    expect(texts(limited)[0]).not.toContain('open files');
    expect(texts(limited, { canSize: false }).join()).toContain('/tmp, the home directory and /dev/shm');
    expect(texts(limited, { inherited: { descriptors: [251], bash: undefined } }).join()).toContain('(251)');
  });

  it('[U152] is reported for system calls, with the reason', () => {
    const texts = findGaps(none, {
      limits: limited,
      all: { ...none, ...guarded },
      problem: 'prctl: Invalid argument',
    }).map(({ text }) => text);
    const unfiltered = 'system calls of programs are not filtered (prctl: Invalid argument): setuid files';
    expect(texts.some((text) => text.startsWith(unfiltered))).toBe(true);
  });

  it('[U154] is reported for per-user counters of the kernel whose limit an agent can reach', () => {
    const machine = { memoryBytes: 24 * 1024 ** 3, epollWatches: 5_491_556, openFiles: 2_466_190, isRoot: false };
    const names = (changed: Partial<typeof machine>) =>
      findCountedTogether({ ...machine, ...changed }).map(({ fix }) => /^Set (\S+)=1000000000/.exec(fix)?.[1]);
    expect(names({})).toEqual(['fs.epoll.max_user_watches', 'fs.file-max']);
    expect(names({ isRoot: true })).toEqual(['fs.epoll.max_user_watches']);
    expect(names({ epollWatches: 1_000_000_000, openFiles: 1_000_000_000 })).toEqual([]);
    const [edge, memoryBytes] = [1_000, 192_000];
    expect(names({ memoryBytes, epollWatches: edge, openFiles: edge })).toEqual([]);
    expect(names({ memoryBytes, epollWatches: edge - 1, openFiles: edge })).toEqual(['fs.epoll.max_user_watches']);
  });

  it('[U155] is not decided by a machine that is short of processes for a moment', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'fleetloom-bwrap-'));
    const file = join(directory, 'bwrap');
    const script = `#!/bin/sh\n[ -e ${directory}/works ] || { echo 'fork: Resource temporarily unavailable' >&2; exit 1; }\n`;
    writeFileSync(file, `${script}exec ${(await findProgram('bwrap')) ?? 'false'} "$@"\n`, { mode: 0o755 });
    const open = () =>
      openBubblewrap({ findProgram: async (name) => (name === 'bwrap' ? file : await findProgram(name)) });
    try {
      const shortage = 'the sandbox cannot be tried out now (fork: Resource temporarily unavailable): call again later';
      await expect(open()).rejects.toThrow(shortage);
      writeFileSync(join(directory, 'works'), '');
      const state = await open();
      expect(state.type).toBe(noSandbox === undefined ? 'ready' : 'unavailable');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it.skipIf(noSandbox !== undefined)('[U152] leaves a sandbox that works with all that it does allow', async () => {
    const bwrap = await findProgram('bwrap');
    const file = join(mkdtempSync(join(tmpdir(), 'fleetloom-bwrap-')), 'bwrap');
    const refuse = `for arg; do case "$arg" in --seccomp | --disable-userns) echo "no $arg" >&2; exit 1;; esac; done`;
    writeFileSync(file, `#!/bin/sh\n${refuse}\nexec ${bwrap} "$@"\n`, { mode: 0o755 });
    try {
      const state = await openBubblewrap({ findProgram: async (name) => (name === 'bwrap' ? file : undefined) });
      const texts = state.type === 'ready' ? state.gaps.map(({ text }) => text) : [state.reason];
      const expected = [
        ...(isRoot ? ['for the whole machine (unshare or mount is not installed)'] : []),
        'system calls of programs are not filtered (no --disable-userns), and user namespaces can be nested',
      ];
      for (const begin of expected) expect(texts).toContainEqual(expect.stringContaining(begin));
      expect(texts).not.toContainEqual(expect.stringContaining('open files'));
    } finally {
      rmSync(dirname(file), { recursive: true });
    }
  });
});
