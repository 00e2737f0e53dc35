import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toolLimits } from '../../limits.ts';
import type { ToolboxOptions } from '../../registry/create-toolbox.ts';
import { findProgram } from '../../find-program.ts';
import { openBubblewrap } from '../../sandbox/bubblewrap.ts';
import { type Bench, noSandbox, openBench, withoutPrograms } from '../../toolbox.suite.ts';

const unsandboxed: ToolboxOptions = { allowUnsandboxedBash: true, findProgram: withoutPrograms('bwrap') };

/** What holds in both worlds is tried in both. */
const worlds: [name: string, options: ToolboxOptions, isLeftOut: boolean][] = [
  ['in the sandbox', {}, noSandbox !== undefined],
  ['without one', unsandboxed, false],
];

describe.each(worlds)('bash %s', (_name, options, isLeftOut) => {
  it.skipIf(isLeftOut)('[U10] directory, variables and functions of one command are there for the next', async () => {
    const { run, workspace } = openBench(options);
    expect((await run('bash', { command: 'pwd' })).text).toBe(workspace);
    await run('bash', { command: 'mkdir -p a/b && cd a/b && X=17 && greet() { echo "hello $1"; }' });
    expect((await run('bash', { command: 'pwd; echo $X; greet you' })).text).toBe(`${workspace}/a/b\n17\nhello you`);
  });

  it.skipIf(isLeftOut)('[U10] each thread has its own shell', async () => {
    const { run } = openBench(options);
    await run('bash', { command: 'X=1' }, { threadId: 'one' });
    const other = await run('bash', { command: 'echo "[$X]"' }, { threadId: 'two' });
    expect(other.text).toBe('[]');
    expect((await run('bash', { command: 'echo "[$X]"' }, { threadId: 'one' })).text).toBe('[1]');
  });

  it.skipIf(isLeftOut)('[U11] restart begins a new shell in the workspace, also together with a command', async () => {
    const { run, workspace } = openBench(options);
    await run('bash', { command: 'X=1; cd /' });
    expect(await run('bash', { restart: true })).toMatchObject({ text: 'The shell was restarted.', isError: false });
    expect((await run('bash', { command: 'echo "[$X]"; pwd; X=2' })).text).toBe(`[]\n${workspace}`);
    expect((await run('bash', { restart: true, command: 'echo "[$X]"' })).text).toBe('[]');
  });

  it.skipIf(isLeftOut)('[U12] a command that fails is an error with its output and exit code', async () => {
    const { run } = openBench(options);
    expect(await run('bash', { command: 'echo out; echo err >&2; false' })).toMatchObject({
      text: 'out\nerr\n\nExit code 1',
      isError: true,
    });
    expect(await run('bash', { command: 'exit_code() { return 42; }; exit_code' })).toMatchObject({
      text: 'Exit code 42',
      isError: true,
    });
    expect(await run('bash', { command: ':' })).toMatchObject({ text: '(no output)', isError: false });
  });

  it.skipIf(isLeftOut)(
    '[U13] quotes left open, heredocs and commands that read do not disturb the next one',
    async () => {
      const { run } = openBench(options);
      await run('bash', { command: 'KEPT=yes' });
      const broken = await run('bash', { command: `echo "open` });
      expect(broken).toMatchObject({ isError: true });
      expect(broken.text).toContain('unexpected EOF');
      expect((await run('bash', { command: "cat <<EOF\na $KEPT\n'\nEOF" })).text).toBe("a yes\n'");
      expect((await run('bash', { command: 'cat <<EOF\nnever ends' })).text).toContain('never ends');
      expect((await run('bash', { command: 'read line; cat; echo "[$line]"' })).text).toBe('[]');
      expect((await run('bash', { command: 'if true; then' })).isError).toBe(true);
      expect((await run('bash', { command: 'echo $KEPT # comment' })).text).toBe('yes');
    },
  );

  it.skipIf(isLeftOut)(
    '[U14] a command that ends its shell gives its exit code, and the next one begins a new shell',
    async () => {
      const { run, workspace } = openBench(options);
      const ended = await run('bash', { command: 'cd /; X=1; echo last words; exit 3' });
      expect(ended.isError).toBe(true);
      expect(ended.text).toContain('last words\n\nExit code 3. The shell itself ended.');
      expect((await run('bash', { command: 'echo "[$X]"; pwd' })).text).toBe(`[]\n${workspace}`);
      expect((await run('bash', { command: 'echo bye; kill -9 $$' })).text).toContain('bye\n\nExit code 137.');
      expect((await run('bash', { command: 'exec true' })).text).toContain('Exit code 0. The shell itself ended.');
      expect((await run('bash', { command: 'set -e; false; echo no' })).text).toContain(
        'Exit code 1. The shell itself ended.',
      );
      expect((await run('bash', { command: 'echo fine' })).text).toBe('fine');
    },
  );

  it.skipIf(isLeftOut)('[U13] output that is redirected permanently does not hide the end of a command', async () => {
    const { run, workspace } = openBench(options);
    expect((await run('bash', { command: 'exec > log.txt 2>&1; echo hidden' })).text).toBe('(no output)');
    expect((await run('bash', { command: 'echo also' })).text).toBe('(no output)');
    expect(readFileSync(join(workspace, 'log.txt'), 'utf8')).toBe('hidden\nalso\n');
  });

  it.skipIf(isLeftOut)('[U15] only the last 100 KiB of the output are kept, with a note', async () => {
    const { run } = openBench({ ...options, limits: { bashOutputBytesMax: 1_000 } });
    const exact = await run('bash', { command: `head -c 1000 /dev/zero | tr '\\0' a` });
    expect(exact.text).toBe('a'.repeat(1_000));
    const more = await run('bash', { command: `echo first; head -c 1000 /dev/zero | tr '\\0' a` });
    expect(more.text).toBe(`[only the last 1000 bytes of the output are kept]\n${'a'.repeat(1_000)}`);
    expect(toolLimits.bashOutputBytesMax).toBe(102_400);
  });

  it.skipIf(isLeftOut)('[U15] a flood of output ends with its last lines and costs no memory', async () => {
    const { run } = openBench({ ...options, limits: { bashOutputBytesMax: 100 } });
    const before = process.memoryUsage().rss;
    const flood = await run('bash', { command: `head -c 100000000 /dev/zero | tr '\\0' x; echo; echo the end` });
    expect(flood.text.endsWith(`x\nthe end`)).toBe(true);
    expect(flood.text.length).toBeLessThan(200);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it.skipIf(isLeftOut)('[U16] bytes that are not text become �, and a character cut in two is left out', async () => {
    const { run } = openBench({ ...options, limits: { bashOutputBytesMax: 10 } });
    expect((await run('bash', { command: `printf 'a\\xff\\x00b'` })).text).toBe('a\ufffd\ufffdb');
    // Ten bytes before the end are in the middle of the first euro sign.
    expect((await run('bash', { command: `printf '€€€€'` })).text).toContain('kept]\n€€€');
    expect((await run('bash', { command: `printf '\\xe2'; sleep 0.05; printf '\\x82\\xac'` })).text).toBe('€');
  });

  it.skipIf(isLeftOut)('[U16] colours are left out', async () => {
    const { run } = openBench(options);
    expect((await run('bash', { command: `printf '\\033[31mred\\033[0m'` })).text).toBe('red');
  });

  it.skipIf(isLeftOut)('[U16] output written to /dev/stderr and /dev/stdout by name arrives', async () => {
    const { run } = openBench(options);
    expect((await run('bash', { command: 'echo a > /dev/stderr; echo b | tee /dev/stdout' })).text).toBe('a\nb\nb');
  });

  it.skipIf(isLeftOut)(
    '[U17] background children do not delay a result, and their later output is in the next one',
    async () => {
      const { run, workspace } = openBench(options);
      const started = await run('bash', {
        command: '(while [ ! -e go ]; do sleep 0.01; done; echo late; touch done) & echo now',
      });
      expect(started.text).toBe('now');
      writeFileSync(join(workspace, 'go'), '');
      await until(() => existsSync(join(workspace, 'done')));
      expect((await run('bash', { command: 'echo next' })).text).toBe('late\nnext');
    },
  );

  it.skipIf(isLeftOut)('[U18] nothing that a shell started outlives it, however it ends', async () => {
    const ends: ((bench: Bench) => Promise<unknown>)[] = [
      async ({ toolbox }) => await toolbox.closeThread('sthr_1'),
      async ({ toolbox }) => await toolbox.close(),
      async ({ run }) => await run('bash', { restart: true }),
      async ({ run }) => await run('bash', { command: 'exit' }),
      async ({ run }) => await run('bash', { command: 'sleep 1000', timeout_ms: 100 }),
    ];
    for (const [at, end] of ends.entries()) {
      const bench = openBench(options);
      const name = `sleep-${process.pid}-${Date.now()}-${at}`;
      const copy = `cp $(command -v sleep) ./${name}`;
      const own = `(setsid ./${name} 1001 >/dev/null 2>&1 &); nohup ./${name} 1002 >/dev/null 2>&1 &`;
      await bench.run('bash', { command: `${copy}; ./${name} 1000 & ${own} true` });
      await until(() => findProcesses(name).length === 3);
      await end(bench);
      await until(() => findProcesses(name).length === 0);
    }
  });

  it.skipIf(isLeftOut)('[U19] a command that takes too long is killed, and its output so far is given', async () => {
    const { run } = openBench(options);
    const late = await run('bash', { command: 'X=1; echo begun; sleep 1000', timeout_ms: 300 });
    expect(late.isError).toBe(true);
    expect(late.text).toContain('begun\n\nTimed out after 300 ms');
    expect((await run('bash', { command: 'echo "[$X]"' })).text).toBe('[]');
  });

  it.skipIf(isLeftOut)('[U20] an interrupt kills the command at once, whatever signals it ignores', async () => {
    const { run, workspace } = openBench(options);
    const stop = new AbortController();
    const running = run('bash', { command: `trap '' INT TERM HUP; touch begun; sleep 1000` }, { signal: stop.signal });
    const waiting = run('bash', { command: 'echo never' }, { signal: stop.signal });
    await until(() => existsSync(join(workspace, 'begun')));
    const begin = performance.now();
    stop.abort();
    expect((await running).text).toContain('Interrupted: the command was killed');
    expect(await waiting).toMatchObject({ text: 'bash: interrupted before it was done', isError: true });
    expect(performance.now() - begin).toBeLessThan(3_000);
  });

  it.skipIf(isLeftOut)(
    '[U20] a call that is interrupted in the queue does not wait for the call before it',
    async () => {
      const { run, workspace } = openBench(options);
      const first = run('bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.01; done; echo first' });
      const stop = new AbortController();
      const second = run('bash', { command: 'touch second' }, { signal: stop.signal });
      await until(() => existsSync(join(workspace, 'begun')));
      stop.abort();
      expect(await second).toMatchObject({ text: 'bash: interrupted before it was done', isError: true });
      writeFileSync(join(workspace, 'go'), '');
      expect((await first).text).toBe('first');
      expect((await run('bash', { command: 'ls' })).text).toBe('begun\ngo');
    },
  );

  it.skipIf(isLeftOut)(
    '[U18] a shell that is only beginning, and commands in the queue, do not outlive the close',
    async () => {
      const bench = openBench(options);
      const name = `late-${process.pid}-${Date.now()}`;
      const command = `cp $(command -v sleep) ./${name}; ./${name} 1000`;
      const running = [1, 2, 3].map(() => bench.run('bash', { command }));
      // They have not begun: that takes some turns of the loop.
      await bench.toolbox.close();
      expect((await Promise.all(running)).map(({ isError }) => isError)).toEqual([true, true, true]);
      await until(() => findProcesses(name).length === 0);
    },
  );

  it.skipIf(isLeftOut)('[U10] commands that are asked for at once run one after the other', async () => {
    const { run } = openBench(options);
    const results = await Promise.all(
      [1, 2, 3, 4].map((n) => run('bash', { command: `echo a${n}; sleep 0.02; echo b${n}` })),
    );
    expect(results.map(({ text }) => text)).toEqual(['a1\nb1', 'a2\nb2', 'a3\nb3', 'a4\nb4']);
  });

  it.skipIf(isLeftOut)('[U21] secrets of the server’s environment are not there', async () => {
    process.env['FLEETLOOM_TEST_SECRET'] = 'hunter2';
    const { run } = openBench(options);
    const { text } = await run('bash', { command: 'env' });
    delete process.env['FLEETLOOM_TEST_SECRET'];
    expect(text).toContain('PATH=');
    expect(text).not.toContain('hunter2');
  });
});

describe('the sandbox', () => {
  it.skipIf(noSandbox !== undefined)(
    '[U22] the workspace is there to write, the system to read, and nothing else',
    async () => {
      const { run, workspace, outside } = openBench();
      writeFileSync(join(outside, 'secret'), 'hunter2');
      expect((await run('bash', { command: 'echo mine > file; cat file' })).text).toBe('mine');
      expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('mine\n');
      expect((await run('bash', { command: `cat ${outside}/secret` })).text).toContain('No such file');
      expect((await run('bash', { command: 'touch /usr/mine' })).text).toContain('Read-only file system');
      expect((await run('bash', { command: 'ls /root /var/lib /srv 2>&1' })).isError).toBe(true);
      expect((await run('bash', { command: 'cat /etc/shadow' })).text).toContain('No such file');
      expect((await run('bash', { command: `ls -A /home /home/user` })).text).toBe('/home:\nuser\n\n/home/user:');
      expect((await run('bash', { command: `ls ${process.cwd()}` })).isError).toBe(true);
    },
  );

  it.skipIf(noSandbox !== undefined)('[U22] a symbolic link out of the workspace leads nowhere', async () => {
    const { run, workspace, outside } = openBench();
    writeFileSync(join(outside, 'secret'), 'hunter2');
    symlinkSync(outside, join(workspace, 'out'));
    expect((await run('bash', { command: 'cat out/secret' })).isError).toBe(true);
  });

  it.skipIf(noSandbox !== undefined)(
    '[U22] /tmp is private to the sandbox, and the user is not a user of the machine',
    async () => {
      const { run } = openBench();
      const name = `fleetloom-mark-${process.pid}`;
      expect(
        (await run('bash', { command: `ls -A /tmp | grep -v fleetloom-tools; touch /tmp/${name}; whoami` })).text,
      ).toBe('agent');
      expect(existsSync(`/tmp/${name}`)).toBe(false);
      expect((await run('bash', { command: 'grep CapEff /proc/self/status' })).text).toMatch(/CapEff:\s+0+$/);
      expect((await run('bash', { command: 'mount -t tmpfs none /mnt' })).isError).toBe(true);
      expect((await run('bash', { command: 'ls /proc/self/fd | sort -n | tr "\\n" " "' })).text).toBe('0 1 2 3 ');
    },
  );

  it.skipIf(noSandbox !== undefined)('[U23] processes of the machine are not seen', async () => {
    const { run } = openBench();
    const { text } = await run('bash', { command: 'cat /proc/[0-9]*/comm' });
    expect(text.split('\n')).not.toContain('node');
    expect(text.split('\n').length).toBeLessThan(6);
    expect((await run('bash', { command: `kill -0 ${process.pid}` })).isError).toBe(true);
  });

  it.skipIf(noSandbox !== undefined)('[U24] there is no network unless the operator allows it', async () => {
    const devices = `ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '`;
    expect((await openBench().run('bash', { command: devices })).text).toBe('lo');
    const host = readFileSync('/proc/net/dev', 'utf8').trim().split('\n').slice(2);
    const names = host.map((line) => line.split(':')[0]?.trim());
    const open = openBench({ allowBashNetwork: true });
    expect((await open.run('bash', { command: devices })).text.split('\n')).toEqual(names);
  });

  it.skipIf(noSandbox !== undefined)('[U18] its programs do not outlive a server that is killed', async () => {
    const { workspace } = openBench();
    const name = `orphan-${process.pid}-${Date.now()}`;
    const state = await openBubblewrap({ findProgram });
    if (state.type !== 'ready') throw new Error(state.reason);
    const args = ['-c', `cp $(command -v sleep) ./${name}; setsid ./${name} 1000 & ./${name} 1001`];
    const launch = state.sandbox.launch({ program: '/bin/bash', args, workspace, isWorkspaceWritable: true });
    const program = `
      const { file, args, env, data } = ${JSON.stringify({ ...launch, data: launch.data.map((part) => Buffer.from(part).toString('base64')) })};
      const child = require('node:child_process').spawn(file, args, {
        env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ignore', ...data.map(() => 'pipe')],
      });
      data.forEach((part, at) => child.stdio[4 + at].end(Buffer.from(part, 'base64')));`;
    const server = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
    await until(() => findProcesses(name).length === 2);
    server.kill('SIGKILL');
    await until(() => findProcesses(name).length === 0);
  });

  it.skipIf(noSandbox !== undefined)(
    '[U22] directories that the operator names can be read and not written',
    async () => {
      const helper = openBench();
      writeFileSync(join(helper.outside, 'tool'), 'useful');
      const { run } = openBench({ readOnlyPaths: [helper.outside] });
      expect((await run('bash', { command: `cat ${helper.outside}/tool` })).text).toBe('useful');
      expect((await run('bash', { command: `touch ${helper.outside}/mine` })).text).toContain('Read-only file system');
    },
  );
});

describe('where there is no sandbox', () => {
  it('[U25] bash is refused with what can be done about it', async () => {
    const { run, workspace } = openBench({ findProgram: withoutPrograms('bwrap') });
    const refused = await run('bash', { command: 'touch made' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('bubblewrap (bwrap) is not installed');
    expect(refused.text).toContain(
      'the operator of this server can install bubblewrap, or allow bash without a sandbox',
    );
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('[U25] a sandbox that is installed and does not work counts as missing', async () => {
    const findProgram = async (name: string): Promise<string> => (name === 'bwrap' ? '/bin/false' : `/bin/${name}`);
    const refused = await openBench({ findProgram }).run('bash', { command: 'true' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('bubblewrap does not work here');
  });
});

describe('without a sandbox', () => {
  it('[U18] a process that hides from the search does not delay the end of its shell', async () => {
    const { run } = openBench({ ...unsandboxed, limits: { bashDrainMs: 50 } });
    const begin = performance.now();
    const { text } = await run('bash', { command: 'env -i setsid sleep 5 & echo said; exit 4' });
    expect(text).toContain('said\n\nExit code 4.');
    expect(performance.now() - begin).toBeLessThan(4_000);
    expect(toolLimits.bashDrainMs).toBe(500);
  });
});

describe('the input', () => {
  it('[U2] names the invalid field', async () => {
    const { run } = openBench({ limits: { bashTimeoutMsMax: 5_000 } });
    expect((await run('bash', {})).text).toBe('bash: give a command, or set restart');
    expect((await run('bash', { command: 'a\0b' })).text).toBe('bash: a command cannot have a NUL in it');
    expect((await run('bash', { command: 3 })).text).toContain('bash: the input does not fit: command: ');
    expect((await run('bash', { command: 'true', timeout_ms: 5_001 })).text).toContain('timeout_ms: ');
    expect((await run('bash', { command: 'true', timeout_ms: 0 })).text).toContain('timeout_ms: ');
    expect((await run('bash', 'true')).text).toContain('bash: the input does not fit: input: ');
  });

  it.skipIf(noSandbox !== undefined)('[U19] the longest time that can be asked for is allowed', async () => {
    const { run } = openBench({ limits: { bashTimeoutMsMax: 5_000 } });
    expect((await run('bash', { command: 'echo ok', timeout_ms: 5_000 })).text).toBe('ok');
    expect([toolLimits.bashTimeoutMs, toolLimits.bashTimeoutMsMax]).toEqual([120_000, 600_000]);
  });
});

/** Ids of processes that were started from a program of this name. */
function findProcesses(name: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`/${name}\0`);
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  // Looked at once per try: a process that is just being started may be seen in one look and not in the next.
  for (let tries = 0; tries < 500; tries++) {
    if (condition()) return;
    await wait(10);
  }
  expect.fail('it did not come true within five seconds');
}
