import { readdirSync, readFileSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { toolLimits } from '../limits.ts';
import { gaps, noSandbox, openSandboxBench, perl } from './sandbox.suite.ts';
import { toSandboxLimits } from './sandbox-limits.ts';

// Sandboxes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 60_000 });

const isLeftOut = noSandbox !== undefined;
const hasNoPerl = isLeftOut || perl === '';
const isUnlimited = (what: string) => isLeftOut || gaps.some(({ text }) => text.includes(what));

describe('each process', () => {
  it.skipIf(isLeftOut)('[U130] has the limits of limits.ts as hard ones, and no way to raise them', async () => {
    const { run, sh } = openSandboxBench();
    const { text } = await run('/bin/cat', ['/proc/self/limits']);
    const { openFiles, fileBytes, dataBytes, addressBytes, lockedBytes, cpuSeconds } = toSandboxLimits();
    const hard = (name: string) =>
      new RegExp(`^${name} +([0-9a-z]+) +([0-9a-z]+) `, 'm').exec(text)?.slice(1).map(Number);
    expect(hard('Max open files')).toEqual([openFiles, openFiles]);
    expect(hard('Max file size')).toEqual([fileBytes, fileBytes]);
    expect(hard('Max data size')).toEqual([dataBytes, dataBytes]);
    expect(hard('Max address space')).toEqual([addressBytes, addressBytes]);
    expect(hard('Max locked memory')).toEqual([lockedBytes, lockedBytes]);
    expect(hard('Max cpu time')).toEqual([cpuSeconds, cpuSeconds]);
    expect(hard('Max core file size')).toEqual([0, 0]);
    for (const raise of ['-n 5000', '-f unlimited', '-v unlimited', '-t unlimited', '-c 1', '-l 65']) {
      expect([raise, (await sh(`ulimit ${raise}`)).status]).not.toEqual([raise, 0]);
    }
    expect(toolLimits).toMatchObject({
      sandboxOpenFilesMax: 4_096,
      sandboxFileBytesMax: 4_294_967_296,
      sandboxDataBytesMax: 17_179_869_184,
      sandboxAddressBytesMax: 1_099_511_627_776,
      sandboxLockedBytesMax: 65_536,
      sandboxCpuSecondsMax: 86_400,
    });
  });

  it.skipIf(hasNoPerl)('[U131] opens as many files as its limit, and not one more', async () => {
    const { run } = openSandboxBench();
    const script = 'while (open(my $f, "<", "/dev/null")) { push @f, $f } print fileno($f[-1]), " $!"';
    const { text } = await run(perl, ['-e', script], { limits: { openFiles: 40 } });
    expect(text).toBe('39 Too many open files');
  });

  it.skipIf(isLeftOut)('[U132] writes files up to its limit, also in memory, and is ended beyond it', async () => {
    const { sh, workspace } = openSandboxBench();
    const fill = (bytes: number, path: string) => `head -c ${bytes} /dev/zero > ${path}; echo $?; stat -c %s ${path}`;
    const request = { limits: { fileBytes: 1_048_576 } };
    expect((await sh(fill(1_048_576, 'file'), request)).text).toBe('0\n1048576');
    expect((await sh(fill(1_048_577, '/tmp/file'), request)).text).toMatch(/[1-9]\n1048576$/);
    // A file with a hole: it takes no room on the disk, and reading it takes hours.
    expect((await sh('truncate -s 8T hole', request)).status).not.toBe(0);
    expect(statSync(join(workspace, 'hole')).size).toBe(0);
  });

  it.skipIf(isLeftOut)('[U133] is ended when its processor time is used up', async () => {
    const { sh } = openSandboxBench();
    const { text } = await sh('(while :; do :; done); echo $?', { limits: { cpuSeconds: 1 } });
    // 128 and the number of SIGKILL or SIGXCPU.
    expect(text).toMatch(/(137|152)$/);
  });

  it.skipIf(hasNoPerl)('[U134] gets no more memory than its limit', async () => {
    const { run } = openSandboxBench();
    // perl has such a text twice.
    const take = (mebibytes: number) => ['-e', `$x = "x" x (${mebibytes} << 20); print length($x) >> 20`];
    const data = { limits: { dataBytes: 64 * 1024 ** 2 } };
    expect((await run(perl, take(20), data)).text).toBe('20');
    expect((await run(perl, take(80), data)).text).toMatch(/out of memory/i);
    const address = { limits: { addressBytes: 96 * 1024 ** 2 } };
    expect((await run(perl, take(20), address)).text).toBe('20');
    expect((await run(perl, take(120), address)).text).toMatch(/out of memory/i);
  });
});

describe('all processes of a launch', () => {
  it.skipIf(isUnlimited('the number of'))(
    '[U135] are as many as its limit, and are gone soon after a kill',
    async () => {
      const { start, workspace } = openSandboxBench();
      const bomb = 'trap "" TERM INT HUP; b() { b | b & b; }; b';
      const running = start('/bin/bash', ['-c', bomb], { limits: { processes: 60, openFiles: 256 } });
      const rounds: { count: number; ms: number }[] = [];
      for (let round = 0; round < 20; round++) {
        const begin = performance.now();
        await wait(50);
        rounds.push({ count: countProcessesIn(workspace), ms: performance.now() - begin });
      }
      const most = Math.max(...rounds.map(({ count }) => count));
      // Bubblewrap has a process outside as well.
      expect(most).toBeLessThanOrEqual(61);
      expect(most).toBeGreaterThan(30);
      // This process, which represents the server, continues in the meantime.
      expect(Math.max(...rounds.map(({ ms }) => ms))).toBeLessThan(2_000);
      const begin = performance.now();
      running.kill();
      await vi.waitUntil(() => countProcessesIn(workspace) === 0, { timeout: 10_000, interval: 10 });
      expect(performance.now() - begin).toBeLessThan(10_000);
      await running.ended;
      expect(toolLimits.sandboxProcessesMax).toBe(1_024);
    },
  );

  it.skipIf(isUnlimited('the memory that'))(
    '[U136] have the memory of its limit, and the largest is ended beyond it',
    async () => {
      const { sh } = openSandboxBench();
      const hog = 'head -c 200000000 /dev/zero | tail -c 199999999 > /dev/null';
      const script = `(${hog}); echo status $?; echo still here`;
      const { text } = await sh(script, { limits: { memoryBytes: 128 * 1024 ** 2 } });
      expect(text).toMatch(/status 137/);
      expect(text).toMatch(/still here$/);
      const small = await sh(script, { limits: { memoryBytes: 512 * 1024 ** 2 } });
      expect(small.text).toBe('status 0\nstill here');
      expect(toolLimits.sandboxMemoryBytesMax).toBe(4_294_967_296);
    },
  );

  it.skipIf(isUnlimited('the memory that'))(
    '[U136] share that memory, and their files in memory are part of it',
    async () => {
      const { sh } = openSandboxBench();
      const script = 'for at in 1 2 3 4; do head -c 50000000 /dev/zero > /tmp/$at; done; echo filled';
      const limitsGiven = { memoryBytes: 128 * 1024 ** 2, temporaryBytes: 1024 ** 3 };
      const { text } = await sh(script, { limits: limitsGiven });
      expect(text).not.toContain('filled');
    },
  );

  it.skipIf(isUnlimited('are in memory'))('[U137] have /tmp, home and /dev/shm of a limited size each', async () => {
    const { sh } = openSandboxBench();
    for (const path of ['/tmp', '/var/tmp', '/home/user', '/dev/shm']) {
      const script = `head -c 9000000 /dev/zero > ${path}/file; stat -c %s ${path}/file`;
      const { text } = await sh(script, { limits: { temporaryBytes: 8 * 1024 ** 2 } });
      expect([path, text]).toEqual([path, expect.stringMatching(/No space left on device\n8388608$/)]);
    }
    expect(toolLimits.sandboxTemporaryBytesMax).toBe(1_073_741_824);
    expect(toSandboxLimits({ temporaryBytes: 1024 ** 5 }).temporaryBytes).toBe(Math.floor(totalmem() / 8));
  });

  it.skipIf(isLeftOut)('[U138] write nowhere else: the root, /dev, /proc and /etc are read-only', async () => {
    const { sh } = openSandboxBench();
    for (const path of ['/file', '/dev/file', '/etc/file', '/usr/file', '/var/file', '/mnt/file']) {
      expect([path, (await sh(`echo > ${path}`)).text]).toEqual([
        path,
        expect.stringMatching(/Read-only file system|No such file/),
      ]);
    }
    expect((await sh('echo 1 > /proc/self/coredump_filter')).text).toMatch(/Read-only file system/);
  });

  it.skipIf(isLeftOut)('[U139] are the first that the kernel ends when memory is full', async () => {
    const { run, sh } = openSandboxBench();
    expect((await run('/bin/cat', ['/proc/self/oom_score_adj'])).text).toBe('1000');
    const lower = await sh('echo 0 > /proc/self/oom_score_adj');
    expect(lower.text).toMatch(/Read-only file system|Permission denied/);
  });

  it.skipIf(isLeftOut)('[U130] may have other limits if a launch requests them, but never more than the server', () => {
    const own = Number(/^Max open files +\S+ +([0-9]+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    expect(toSandboxLimits({ openFiles: own - 1 }).openFiles).toBe(own - 1);
    expect(toSandboxLimits({ openFiles: own + 1 }).openFiles).toBe(own);
  });

  it('[U211] have the limits that the server has at the time of the launch, also after they were lowered', () => {
    const toText = (files: number) =>
      `Limit  Soft Limit  Hard Limit  Units\nMax open files            10  ${files}  files\n`;
    const texts = [toText(2_000), toText(1_024)];
    const readLimits = () => texts.shift()!;
    expect(toSandboxLimits({}, readLimits).openFiles).toBe(2_000);
    expect(toSandboxLimits({}, readLimits).openFiles).toBe(1_024);
  });
});

/** Processes whose directory is this workspace, seen from outside. */
function countProcessesIn(workspace: string): number {
  return readdirSync('/proc').filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(` ${workspace} `);
    } catch {
      return false;
    }
  }).length;
}
