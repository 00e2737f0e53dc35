import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { toolLimits } from '../limits.ts';
import type { ToolboxOptions } from '../registry/create-toolbox.ts';
import { findProgram as findOnPath } from '../find-program.ts';
import type { ToolResult } from '../tool.ts';
import { findHosts, noSandbox, openBench, toSaid, withoutPrograms } from '../toolbox.suite.ts';

// Processes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 120_000 });

const unsandboxed: ToolboxOptions = { allowUnsandboxedBash: true, findProgram: withoutPrograms('bwrap') };

/** What holds in both worlds is tried in both. */
const worlds: [name: string, options: ToolboxOptions, isLeftOut: boolean][] = [
  ['in the sandbox', {}, noSandbox !== undefined],
  ['without one', unsandboxed, false],
];

/** The compiled tools, for servers that are processes of their own. */
const DIST = new URL('../../../dist/tools/', import.meta.url);
const TOOLSET = { type: 'agent_toolset_20260401' };
const GONE = 'what it was doing may be done in part, and the shells of this session are gone: look, then call again';

describe.each(worlds)('the tool host %s', (_name, options, isLeftOut) => {
  it.skipIf(isLeftOut)(
    '[U100] a session has one process for its tools, from its first call on until it is closed',
    async () => {
      const { run, put, toolbox, workspace } = openBench(options);
      put('file', 'content');
      await toolbox.offer({ tools: [TOOLSET], mcp_servers: [] });
      await toolbox.closeThread('sthr_1');
      expect(findHosts(workspace)).toEqual([]);
      const inputs = {
        read: { file_path: 'file' },
        glob: { pattern: '*' },
        grep: { pattern: 'x' },
        bash: { command: ':' },
      };
      const calls = Object.entries(inputs).map(([name, input]) => run(name, input, { threadId: name }));
      expect((await Promise.all(calls)).filter(({ isError }) => isError)).toEqual([]);
      const hosts = findHosts(workspace);
      expect(hosts).toHaveLength(1);
      await run('write', { file_path: 'other', content: 'x' });
      expect(findHosts(workspace)).toEqual(hosts);
      await toolbox.close();
      expect(findHosts(workspace)).toEqual([]);
    },
  );

  it.skipIf(isLeftOut)(
    '[U104] a host that is killed is an error of the calls under way, and of nothing else',
    async () => {
      const { run, put, workspace } = openBench(options);
      const other = openBench(options);
      put('file', 'content');
      await run('bash', { command: 'X=1' }, { threadId: 'other' });
      const sleeping = run('bash', { command: 'touch begun; sleep 1000' });
      const beside = other.run('bash', { command: 'while [ ! -e go ]; do sleep 0.01; done; echo done' });
      await until(() => existsSync(join(workspace, 'begun')));
      kill(workspace, 'SIGKILL');
      expect(await sleeping).toMatchObject({
        text: `bash: the tool process ended (it was killed); ${GONE}`,
        isError: true,
      });
      expect((await run('read', { file_path: 'file' })).text).toBe('content');
      // Its own shell was lost without its doing.
      expect((await run('bash', { command: 'echo "[$X]"' }, { threadId: 'other' })).text).toBe(
        '(The last shell is gone, with its directory, variables and background processes: this is a new one, which began in the workspace.)\n\n[]',
      );
      expect((await run('bash', { command: 'echo again' })).text).toBe('again');
      other.put('go', '');
      expect((await beside).text).toBe('done');
    },
  );

  it.skipIf(isLeftOut)(
    '[U104] a command that kills all it can reach takes its own host, and the next one works',
    async () => {
      const { run } = openBench(options);
      // Without a sandbox the host is all that is named; with one everything is meant.
      const target = options === unsandboxed ? '$PPID' : '-1';
      expect(await run('bash', { command: `trap '' TERM; kill -9 ${target}; sleep 1000` })).toMatchObject({
        text: expect.stringMatching(/^bash: the tool process ended \(it was killed\); /),
        isError: true,
      });
      expect((await run('bash', { command: 'echo again' })).text).toBe('again');
    },
  );

  it.skipIf(isLeftOut)(
    '[U105] a host that hangs is ended when a call has had its time, and the next one works',
    async () => {
      const { run, put, workspace } = openBench({ ...options, limits: { toolHostCallMs: 500 } });
      put('file', 'content');
      await run('read', { file_path: 'file' });
      const [host] = findHosts(workspace);
      kill(workspace, 'SIGSTOP');
      expect(await run('read', { file_path: 'file' })).toMatchObject({
        text: `read: the tool process ended (it did not answer within 500 ms); ${GONE}`,
        isError: true,
      });
      expect((await run('read', { file_path: 'file' })).text).toBe('content');
      expect(findHosts(workspace)).not.toContain(host);
    },
  );

  it.skipIf(isLeftOut)('[U108] a host that hangs when a call is interrupted is ended soon', async () => {
    const { run, put, workspace } = openBench({ ...options, limits: { toolHostCancelMs: 300 } });
    put('file', 'content');
    await run('read', { file_path: 'file' });
    kill(workspace, 'SIGSTOP');
    const stop = new AbortController();
    const reading = run('read', { file_path: 'file' }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 100);
    expect((await reading).text).toContain('(it did not stop when it was interrupted)');
  });

  it.skipIf(isLeftOut)('[U107] bytes that a command writes into the pipes of its host do not arrive', async () => {
    const { run } = openBench(options);
    for (const fd of [0, 1, 2]) {
      const flood = await run('bash', { command: `head -c 10000000 /dev/zero > /proc/$PPID/fd/${fd}` });
      expect(flood).toMatchObject({ text: expect.stringContaining('No such device or address'), isError: true });
    }
    expect((await run('bash', { command: 'echo fine' })).text).toBe('fine');
  });

  it.skipIf(isLeftOut)(
    '[U110] a host has a heap of 256 MiB, and running out of it is an error result with that reason',
    async () => {
      const { run } = openBench({ ...options, limits: { toolHostHeapMib: 16 } });
      const outcome = await run('write', { file_path: 'file', content: '\u2713'.repeat(20_000_000) });
      expect(outcome).toMatchObject({ text: expect.stringContaining('(out of memory)'), isError: true });
      expect((await run('bash', { command: 'echo again' })).text).toBe('again');
      expect(toolLimits.toolHostHeapMib).toBe(256);
    },
  );

  it.skipIf(isLeftOut)('[U114] closing leaves no process behind, whatever runs', async () => {
    const bench = openBench(options);
    const name = `left-${process.pid}-${Date.now()}`;
    const copy = `cp $(command -v sleep) ./${name}`;
    await bench.run('bash', { command: `${copy}; (setsid ./${name} 1001 >/dev/null 2>&1 &); ./${name} 1002 &` });
    await until(() => findProcesses(name).length === 2);
    const running = bench.run('bash', { command: `./${name} 1003` });
    await until(() => findProcesses(name).length === 3);
    await bench.toolbox.close();
    expect(await running).toMatchObject({ text: 'bash: the session is closed', isError: true });
    expect([...findHosts(bench.workspace), ...findProcesses(name)]).toEqual([]);
  });

  it.skipIf(isLeftOut)('[U114] a close while the host is starting leaves none', async () => {
    for (const delay of [0, 1, 5, 20, 50]) {
      const { run, toolbox, workspace } = openBench(options);
      const calls = [run('read', { file_path: 'none' }), run('bash', { command: 'sleep 1000' })];
      await wait(delay);
      await toolbox.close();
      expect((await Promise.all(calls)).map(({ isError }) => isError)).toEqual([true, true]);
      expect(findHosts(workspace)).toEqual([]);
    }
  });

  it.skipIf(isLeftOut)('[U114] a killed server leaves no host and none of its processes', async () => {
    const { workspace } = openBench(options);
    const name = `orphan-${process.pid}-${Date.now()}`;
    const command = `cp $(command -v sleep) ./${name}; (setsid ./${name} 1001 >/dev/null 2>&1 &); ./${name} 1002`;
    const findProgram =
      options === unsandboxed ? `async (name) => name === 'bwrap' ? undefined : findProgram(name)` : '';
    const program = `
      import { createToolbox } from ${JSON.stringify(new URL('registry/create-toolbox.js', DIST))};
      import { findProgram } from ${JSON.stringify(new URL('find-program.js', DIST))};
      const toolbox = createToolbox({ allowUnsandboxedBash: true, findProgram: ${findProgram || 'undefined'} });
      const { tools } = await toolbox.offer({ tools: [${JSON.stringify(TOOLSET)}], mcp_servers: [] });
      const { signal } = new AbortController();
      const openWorkspace = async () => ${JSON.stringify(workspace)};
      await tools.get('bash').run({ command: ${JSON.stringify(command)} }, { sessionId: 's', threadId: 't', openWorkspace, signal });`;
    const server = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
    await until(() => findProcesses(name).length === 2 && findHosts(workspace).length === 1);
    server.kill('SIGKILL');
    await until(() => findProcesses(name).length === 0 && findHosts(workspace).length === 0);
  });

  it.skipIf(isLeftOut)('[U115] long commands do not keep others from their files', async () => {
    const { run, put } = openBench({ ...options, limits: { toolHostCommandsMax: 2, toolHostCallsMax: 1 } });
    put('file', 'content');
    const stop = new AbortController();
    const sleeping = ['one', 'two', 'three'].map((threadId) =>
      run('bash', { command: 'sleep 1000' }, { threadId, signal: stop.signal }),
    );
    const reads = Array.from({ length: 5 }, () => run('read', { file_path: 'file' }));
    expect((await Promise.all(reads)).map(({ text }) => text)).toEqual(reads.map(() => 'content'));
    stop.abort();
    expect((await Promise.all(sleeping)).at(-1)?.text).toBe('bash: interrupted before it was done');
  });

  it.skipIf(isLeftOut)(
    '[U116] a workspace that was replaced by another directory is worked in, one by a link is not',
    async () => {
      const { run, put, workspace, outside } = openBench(options);
      put('file', 'old');
      expect((await run('read', { file_path: 'file' })).text).toBe('old');
      renameSync(workspace, `${workspace}-moved`);
      mkdirSync(workspace);
      put('file', 'new');
      expect((await run('read', { file_path: 'file' })).text).toBe('new');
      rmSync(workspace, { recursive: true });
      symlinkSync(outside, workspace);
      expect((await run('read', { file_path: 'file' })).text).toBe(
        `read: the workspace ${workspace} is not a directory`,
      );
      rmSync(workspace);
      expect((await run('read', { file_path: 'file' })).text).toBe(`read: the workspace ${workspace} is not there`);
    },
  );

  it.skipIf(isLeftOut)(
    '[U117] the process is not called node, so an agent that ends its Node programs by name does not end the host',
    async () => {
      const { run } = openBench(options);
      await run('bash', { command: 'X=1' });
      const found = await run('bash', { command: 'cat /proc/$PPID/comm; tr "\\0" " " < /proc/$PPID/cmdline; echo $X' });
      expect(found.text).not.toContain('node');
      expect(found.text).toMatch(/^fleetloom-host\nfleetloom-host *1$/);
    },
  );
});

describe('the sandbox of the host', () => {
  it.skipIf(noSandbox !== undefined)(
    '[U117] has the program of the host and not the place where the server is installed',
    async () => {
      const { run } = openBench();
      expect((await run('bash', { command: 'ls /fleetloom; touch /fleetloom/dist/mine' })).text).toContain(
        'bin\ndist\nnode_modules\npackage.json\n',
      );
      expect((await run('bash', { command: 'ls /fleetloom/node_modules' })).text).toBe('re2js');
      const server = fileURLToPath(new URL('../../..', import.meta.url));
      expect((await run('bash', { command: `ls ${server}` })).isError).toBe(true);
      expect((await run('bash', { command: 'touch /fleetloom/dist/mine' })).text).toContain('Read-only file system');
    },
  );

  it.skipIf(noSandbox !== undefined)(
    '[U120] a sandbox in which Node does not start counts as none: files are read without it, bash is refused',
    async () => {
      const helper = openBench();
      const real = await findOnPath('bwrap');
      const broken = helper.put(
        'bwrap',
        `#!/bin/sh\ncase "$*" in */fleetloom/bin/node*) echo 'libnode.so: cannot open' >&2; exit 127 ;; esac\nexec ${real} "$@"\n`,
      );
      await helper.run('bash', { command: 'chmod +x bwrap' });
      const findProgram = async (name: string) => (name === 'bwrap' ? broken : await findOnPath(name));
      const { run, put } = openBench({ findProgram });
      put('file', 'content');
      expect((await run('read', { file_path: 'file' })).text).toBe('content');
      expect((await run('bash', { command: ':' })).text).toContain(
        'does not start in the sandbox (libnode.so: cannot open)',
      );
    },
  );
});

describe('a machine without room', () => {
  it('[U109] no descriptors left: tools fail with words, the process lives, and works when there are some again', async () => {
    const { workspace, put } = openBench();
    put('file', 'content');
    const program = `
      import { openSync, closeSync } from 'node:fs';
      import { createToolbox } from ${JSON.stringify(new URL('registry/create-toolbox.js', DIST))};
      const toolbox = createToolbox({ allowUnsandboxedBash: true });
      const { tools } = await toolbox.offer({ tools: [${JSON.stringify(TOOLSET)}], mcp_servers: [] });
      const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace: async () => ${JSON.stringify(workspace)}, signal: new AbortController().signal };
      const inputs = { read: { file_path: 'file' }, grep: { pattern: 'x' }, bash: { command: 'echo hello' } };
      const runAll = () => Promise.all(Object.entries(inputs).map(async ([name, input]) => (await tools.get(name).run(input, context))));
      const held = [];
      for (;;) try { held.push(openSync('/dev/null')); } catch { break; }
      const without = await runAll();
      // Each number is enough for more, and not for everything.
      let some = [];
      while (held.length > 0 && (some.length === 0 || some.some(({ isError }) => isError))) {
        closeSync(held.pop());
        some = await runAll();
        without.push(...some.filter(({ isError }) => isError));
      }
      for (const fd of held) closeSync(fd);
      const withSome = await runAll();
      await toolbox.close();
      console.log(JSON.stringify({ without, withSome, held: held.length }));`;
    const output = await new Promise<string>((resolve, reject) => {
      const args = ['-c', 'ulimit -n 200; exec "$0" --input-type=module -e "$1"', process.execPath, program];
      execFile('/bin/bash', args, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
    });
    const { without, withSome, held } = JSON.parse(output) as Descriptors;
    expect(without.slice(0, 3).map(({ isError }) => isError)).toEqual([true, true, true]);
    for (const { text } of without.map(toSaid)) expect(text).toMatch(/^(read|grep|bash): the (tool process|sandbox) /);
    expect(withSome.map((result) => toSaid(result).text)).toEqual(['content', 'No matches found', 'hello']);
    // What failed left nothing behind: fifty are enough, however often it was tried.
    expect(held).toBeGreaterThan(100);
  });
});

interface Descriptors {
  readonly without: readonly ToolResult[];
  readonly withSome: readonly ToolResult[];
  /** How many could still be held when everything worked. */
  readonly held: number;
}

describe('what runs in the host', () => {
  it('[U102] loads nothing but what Node has, and the engine of searches with the first one that needs it', () => {
    const main = fileURLToPath(new URL('host/main.js', DIST));
    const atOnce = findImports(main, STATIC);
    const ever = findImports(main, STATIC, DYNAMIC);
    expect([...atOnce.outside].filter((name) => !name.startsWith('node:'))).toEqual([]);
    expect([...ever.outside].filter((name) => !name.startsWith('node:'))).toEqual(['re2js']);
    expect(atOnce.files.size).toBeLessThan(20);
    expect(ever.files.size).toBeGreaterThan(30);
  });

  it('[U101] tools are defined once for all sessions of a process', async () => {
    const [one, other] = await Promise.all(
      [openBench(), openBench()].map(({ toolbox }) => toolbox.offer({ tools: [TOOLSET], mcp_servers: [] })),
    );
    expect(one!.tools.size).toBe(8);
    for (const [name, tool] of one!.tools) expect(other!.tools.get(name)?.inputSchema).toBe(tool.inputSchema);
  });
});

const STATIC = /^(?:import|export)\b(?:[^'"=;]* from)? ['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(['"]([^'"]+)['"]\)/g;

/** All that is reached from a compiled file. */
function findImports(main: string, ...forms: readonly RegExp[]): { files: Set<string>; outside: Set<string> } {
  const [files, outside] = [new Set([main]), new Set<string>()];
  // A set that grows while it is gone through.
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const [, name = ''] of forms.flatMap((form) => [...text.matchAll(form)])) {
      if (name.startsWith('.')) files.add(join(file, '..', name));
      else outside.add(name);
    }
  }
  return { files, outside };
}

function kill(workspace: string, signal: NodeJS.Signals): void {
  for (const pid of findHosts(workspace)) process.kill(pid, signal);
}

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
  await vi.waitUntil(condition, { timeout: 60_000, interval: 10 });
}
