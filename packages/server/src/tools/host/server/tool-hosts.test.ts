import { chmodSync, readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { toolLimits } from '../../limits.ts';
import { type Bench, findHosts, openBench, withoutPrograms } from '../../toolbox.suite.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { ToolHosts } from './tool-hosts.ts';

// Processes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 120_000 });

describe('the tool hosts of a server', () => {
  it('[U111] fifty sessions share ten of them, and all get their results', async () => {
    const hosts = new ToolHosts({ limits: { toolHostsMax: 10 } });
    const benches = Array.from({ length: 50 }, () => openBench({ hosts }));
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, hosts.size)), 5);
    const results = await Promise.all(
      benches.map(async ({ run, put }, at) => {
        put('file', `content ${at}`);
        return (await run('read', { file_path: 'file' })).text;
      }),
    );
    clearInterval(watching);
    expect(results).toEqual(benches.map((_, at) => `content ${at}`));
    expect([most, hosts.size]).toEqual([10, 10]);
    await Promise.all(benches.map(({ toolbox }) => toolbox.close()));
    expect(benches.flatMap(({ workspace }) => findHosts(workspace))).toEqual([]);
    expect(hosts.size).toBe(0);
    expect(toolLimits.toolHostsMax).toBe(128);
  });

  it('[U111] the one that was unused for longest makes room, but not one with a shell or a call under way', async () => {
    const clock = createManualClock(1_000);
    const { open } = openSome({ toolHostsMax: 3 }, clock);
    const [busy, shell, old, young] = [open(), open(), open(), open()];
    const running = busy.run('bash', { command: 'while [ ! -e go ]; do sleep 0.01; done; echo done' });
    await shell.run('bash', { command: 'X=1' });
    await old.run('glob', { pattern: '*' });
    clock.advance(1);
    await young.run('glob', { pattern: '*' });
    expect(countHosts(busy, shell, old, young)).toEqual([1, 1, 0, 1]);
    clock.advance(1);
    await old.run('glob', { pattern: '*' });
    expect(countHosts(busy, shell, old, young)).toEqual([1, 1, 1, 0]);
    expect((await shell.run('bash', { command: 'echo $X' })).text).toBe('1');
    busy.put('go', '');
    expect((await running).text).toBe('done');
  });

  it('[U210] a workspace takes at most half of them, also while all are busy, and the others have theirs', async () => {
    const hosts = new ToolHosts({ limits: { toolHostsMax: 4, toolHostWaitMs: 4_000 } });
    const open = (tenant: string) => openBench({ hosts, findTenant: async () => tenant });
    const greedy = Array.from({ length: 4 }, () => open('greedy'));
    const until = { command: 'while [ ! -e go ]; do sleep 0.01; done; echo done' };
    const running = greedy.slice(0, 2).map(({ run }) => run('bash', until));
    await vi.waitUntil(() => hosts.size === 2);
    expect((await greedy[2]!.run('glob', { pattern: '*' })).text).toBe(
      'glob: all 2 tool processes of this workspace are in use: call again in some minutes',
    );
    const waiting = greedy[3]!.run('glob', { pattern: '*' });
    const other = open('other');
    expect((await other.run('bash', { command: 'echo mine' })).text).toBe('mine');
    greedy[0]!.put('go', '');
    expect((await running[0]!).text).toBe('done');
    await greedy[0]!.toolbox.close();
    expect((await waiting).text).toBe('No files found');
    // Its own idle host makes room for it, not one of another workspace.
    expect((await greedy[2]!.run('glob', { pattern: '*' })).text).toBe('No files found');
    expect(countHosts(greedy[1]!, greedy[2]!, greedy[3]!, other)).toEqual([1, 1, 0, 1]);
    greedy[1]!.put('go', '');
    await running[1];
  });

  it('[U210] of those that wait, the workspace with the fewest tool hosts comes first', async () => {
    const hosts = new ToolHosts({ limits: { toolHostsMax: 4 } });
    const toHost = (tenant: string) => ({ isIdle: false, shells: 0, usedAt: 0, tenant, evict: () => {} });
    const { signal } = new AbortController();
    const leave = [];
    for (const tenant of ['c', 'b', 'a', 'a']) leave.push(await hosts.enter(toHost(tenant), signal));
    const order: string[] = [];
    const entering = ['b', 'd', 'd'].map(async (tenant) => {
      const leaveLater = await hosts.enter(toHost(tenant), signal);
      order.push(tenant);
      return leaveLater;
    });
    for (const each of leave) {
      each();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(entering);
    expect(order).toEqual(['d', 'b', 'd']);
  });

  it('[U112] where none can make room a session waits, and is refused after 30 s', async () => {
    const { open } = openSome({ toolHostsMax: 1, toolHostWaitMs: 500 });
    const [first, second] = [open(), open()];
    await first.run('bash', { command: 'X=1' });
    expect(await second.run('glob', { pattern: '*' })).toMatchObject({
      text: 'glob: all 1 tool processes of this server are in use: call again in some minutes',
      isError: true,
    });
    const waiting = second.run('glob', { pattern: '*' });
    await first.toolbox.close();
    expect((await waiting).text).toBe('No files found');
    expect(toolLimits.toolHostWaitMs).toBe(30_000);
  });

  it('[U112] a session that is closed while it waits does so at once', async () => {
    const { open } = openSome({ toolHostsMax: 1 });
    const [first, second, third] = [open(), open(), open()];
    await first.run('bash', { command: 'X=1' });
    const [waiting, next] = [second.run('glob', { pattern: '*' }), third.run('glob', { pattern: '*' })];
    await vi.waitUntil(() => countHosts(first, second)[0] === 1);
    await second.toolbox.close();
    expect((await waiting).text).toBe('glob: the session is closed');
    await first.toolbox.close();
    expect((await next).text).toBe('No files found');
  });

  it('[U112] shells that were unused for ten minutes make room, and the next command of their thread states it', async () => {
    const clock = createManualClock(1_000);
    const { open } = openSome({ toolHostsMax: 1 }, clock);
    const [first, second] = [open(), open()];
    await first.run('bash', { command: 'X=1; cd /' });
    clock.advance(toolLimits.toolHostShellIdleMs);
    expect((await second.run('bash', { command: 'echo mine' })).text).toBe('mine');
    clock.advance(toolLimits.toolHostShellIdleMs);
    expect((await first.run('bash', { command: 'echo "[$X]"; pwd' })).text).toBe(
      `(The last shell is gone, with its directory, variables and background processes: this is a new one, which began in the workspace.)\n\n[]\n${first.workspace}`,
    );
    expect(toolLimits.toolHostShellIdleMs).toBe(600_000);
  });
});

describe('whether there is a sandbox', () => {
  it('[U119] is found out once for a server, and not decided while the machine has no room to try', async () => {
    const hosts = new ToolHosts();
    let tries = 0;
    const findProgram = async (name: string): Promise<string | undefined> => {
      if (name !== 'bwrap') return await withoutPrograms()(name);
      tries++;
      // A machine whose processes are all taken, and then one without bubblewrap.
      return tries === 1
        ? put('bwrap', '#!/bin/sh\necho "fork: Resource temporarily unavailable" >&2; exit 1')
        : undefined;
    };
    const { put: putFile, run, workspace } = openBench({ hosts, findProgram, allowUnsandboxedBash: true });
    const put = (name: string, text: string): string => {
      const path = putFile(name, text);
      chmodSync(path, 0o755);
      return path;
    };
    expect(await run('bash', { command: 'touch escaped' })).toMatchObject({
      text: 'bash: the sandbox cannot be tried out now (fork: Resource temporarily unavailable): call again later',
      isError: true,
    });
    expect(readdirSync(workspace)).toEqual(['bwrap']);
    for (let at = 0; at < 3; at++) expect((await run('bash', { command: 'echo fine' })).text).toBe('fine');
    const other = openBench({ hosts, findProgram, allowUnsandboxedBash: true });
    expect((await other.run('bash', { command: 'echo fine' })).text).toBe('fine');
    expect(tries).toBe(2);
  });
});

/** Sessions of one server. Without a sandbox, because that is all the same here and starts faster. */
function openSome(changed: Partial<ToolLimits>, clock = createManualClock()): { open: () => Bench } {
  const hosts = new ToolHosts({ limits: changed, clock });
  const options = { hosts, clock, allowUnsandboxedBash: true, findProgram: withoutPrograms('bwrap') };
  return { open: () => openBench(options) };
}

function countHosts(...benches: readonly Bench[]): number[] {
  return benches.map(({ workspace }) => findHosts(workspace).length);
}
