import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toolLimits } from '../../limits.ts';
import { openSandboxBench, noSandbox } from '../sandbox.suite.ts';
import { findCgroupTrees } from './cgroup-trees.ts';
import { LaunchGroups } from './launch-groups.ts';

vi.setConfig({ testTimeout: 60_000 });

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const real = new LaunchGroups({ joinMs: 500, sweepMs: 50 });
const hasNoGroups = !real.controllers.has('pids') || !real.controllers.has('memory');

describe('where groups are made', () => {
  it('[U150] in version 2 it is beside the group of the server, in version 1 below it', () => {
    const root = openDirectory();
    mkdirSync(join(root, 'v2/user.slice/app.slice/server.scope'), { recursive: true });
    writeFileSync(join(root, 'v2/user.slice/app.slice/cgroup.controllers'), 'cpu io memory pids\n');
    writeFileSync(join(root, 'v2/user.slice/app.slice/cgroup.subtree_control'), 'memory pids\n');
    const mounts = [
      `30 23 0:26 / ${root}/v2 rw,nosuid - cgroup2 cgroup2 rw,nsdelegate`,
      `31 23 0:27 / ${root}/v1/pids rw - cgroup cgroup rw,pids`,
      `32 23 0:28 /docker/one ${root}/with\\040space rw - cgroup cgroup rw,memory`,
      `33 23 0:29 /other ${root}/other rw - cgroup cgroup rw,cpu`,
      `34 23 0:30 / ${root}/freezer rw - cgroup cgroup rw,freezer`,
      '35 23 0:31 / /proc rw - proc proc rw',
    ].join('\n');
    const groups =
      '0::/user.slice/app.slice/server.scope\n8:pids:/a/b\n4:memory:/docker/one/c\n2:cpu,cpuacct:/d\n1:freezer:/\n';
    expect(findCgroupTrees({ groups, mounts })).toEqual([
      { version: 2, directory: `${root}/v2/user.slice/app.slice`, controllers: ['memory', 'pids'] },
      { version: 1, directory: `${root}/v1/pids/a/b`, controllers: ['pids'] },
      { version: 1, directory: `${root}/with space/c`, controllers: ['memory'] },
    ]);
  });

  it('[U150] a group of version 2 limits memory without swap, and processes; all of a server have their share', () => {
    const root = openDirectory();
    writeFileSync(join(root, 'cgroup.subtree_control'), 'memory\n');
    // The kernel makes these files. Here they have to be there before.
    const tree = { version: 2, directory: root, controllers: ['memory', 'pids'] } as const;
    expect(new LaunchGroups({ trees: [tree] }).problem).toContain('cgroup.subtree_control');
    const all = join(root, readdirSync(root).find((name) => name.startsWith('fleetloom-')) ?? '');
    for (const group of [root, all])
      writeFileSync(join(group, 'cgroup.subtree_control'), group === root ? 'memory\n' : '');
    const opened = new LaunchGroups({ trees: [tree] });
    expect(readFileSync(join(root, 'cgroup.subtree_control'), 'utf8')).toBe('+pids');
    expect(readFileSync(join(all, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
    expect(Number(readFileSync(join(all, 'memory.max'), 'utf8'))).toBeLessThanOrEqual(totalmem() * 0.75);
    expect(Number(readFileSync(join(all, 'pids.max'), 'utf8'))).toBeGreaterThan(1_000);
    const [file = ''] = opened.create({ memoryBytes: 1_000_000, processes: 7 });
    expect(dirname(dirname(file))).toBe(all);
    expect(readFileSync(join(dirname(file), 'memory.max'), 'utf8')).toBe('1000000');
    expect(readFileSync(join(dirname(file), 'pids.max'), 'utf8')).toBe('7');
    expect([toolLimits.sandboxesMemoryPercent, toolLimits.sandboxesProcessesPercent]).toEqual([75, 50]);
  });

  it('[U150] where none can be made there are none, with the reason', () => {
    const directory = join(openDirectory(), 'missing');
    const none = new LaunchGroups({ trees: [{ version: 2, directory, controllers: ['memory'] }] });
    expect([none.controllers.size, none.create({ memoryBytes: 1, processes: 1 })]).toEqual([0, []]);
    expect(none.problem).toContain(directory);
    expect(new LaunchGroups({ trees: [] }).problem).toBe('no cgroups are mounted');
  });
});

describe('the groups of this machine', () => {
  it.skipIf(hasNoGroups)('[U151] enforce their limits, and are removed after their processes', async () => {
    const files = real.create({ memoryBytes: 64 * 1024 ** 2, processes: 5 });
    const groups = files.map((file) => dirname(file));
    const child = spawn('/bin/sh', [
      '-c',
      `${files.map((file) => `echo 0 > '${file}'`).join(' && ')} && exec sleep 60`,
    ]);
    closers.push(() => void child.kill('SIGKILL'));
    await vi.waitUntil(() => files.every((file) => readFileSync(file, 'utf8') === `${child.pid}\n`));
    const own = groups.filter((group) => existsSync(join(group, 'pids.max')));
    expect(own.map((group) => readFileSync(join(group, 'pids.max'), 'utf8'))).toContain('5\n');
    child.kill('SIGKILL');
    await vi.waitUntil(() => groups.every((group) => !existsSync(group)), { timeout: 40_000 });
    // The group of all launches stays for the next one.
    expect(groups.every((group) => existsSync(dirname(group)))).toBe(true);
    expect([toolLimits.sandboxJoinMs, toolLimits.sandboxSweepMs]).toEqual([10_000, 2_000]);
  });

  it.skipIf(hasNoGroups)('[U151] of a server that was killed are removed by the next one', async () => {
    const trees = findCgroupTrees().filter(({ controllers }) => controllers.length > 0);
    // No process has this number: it is beyond the largest.
    const left = trees.map(({ directory }) => join(directory, 'fleetloom-99999999-1'));
    for (const group of left) mkdirSync(join(group, 'launch'), { recursive: true });
    closers.push(() => {
      for (const group of left.flatMap((path) => [join(path, 'launch'), path]).filter((path) => existsSync(path)))
        rmdirSync(group);
    });
    const next = new LaunchGroups({ sweepMs: 50 });
    expect(next.controllers.size).toBeGreaterThan(0);
    await vi.waitUntil(() => left.every((group) => !existsSync(group)), { timeout: 20_000 });
  });

  it.skipIf(hasNoGroups || noSandbox !== undefined)('[U151] cannot be seen or left from the sandbox', async () => {
    const { sh } = openSandboxBench();
    const { text } = await sh('cut -d: -f3 /proc/self/cgroup | sort -u; ls /sys/fs/cgroup 2>&1');
    expect(text).toMatch(/^\/\nls: cannot access/);
  });
});

function openDirectory(): string {
  const root = mkdtempSync(join(tmpdir(), 'fleetloom-cgroups-'));
  closers.push(() => rmSync(root, { recursive: true, force: true }));
  return root;
}
