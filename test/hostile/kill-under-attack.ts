import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { findCgroupTrees } from '../../packages/server/src/tools/sandbox/cgroups/cgroup-trees.ts';
import { inBackground } from '../../packages/server/src/base/in-background.ts';
import type { HostileServer } from '../support/hostile-server.ts';
import { becomesIdle, readSession, sendMessage, type SessionEvent, startSession } from './run-session.ts';
import { startVictim, type Victim, type VictimOptions } from './victim.ts';

const WORDS = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
const START_MS = 10_000;

/** Kills a server under attack with SIGKILL, and starts the next one on its directory, as often as asked. */
export async function killUnderAttack(hostile: HostileServer, rounds: number): Promise<void> {
  // What it leaves behind is found in a directory of its own.
  const temporary = mkdtempSync(join(tmpdir(), 'fleetloom-killed-'));
  const options: VictimOptions = { args: ['--allow-private-host', '127.0.0.1'], env: { TMPDIR: temporary } };
  let victim = await startVictim(options);
  try {
    const canary = await startSession(victim.canary, { turns: [[{ say: WORDS, chunks: 40, every_ms: 20 }]] });
    for (let round = 0; round < rounds; round++) {
      const attacks = startAttacks(victim, hostile);
      await wait(1_500 + 250 * (round % 6));
      const seen = (await readSession(victim.canary, canary)).events;
      const old = { processes: victim.processes(), groups: findGroups(victim.processes()[0]!) };
      await victim.kill();
      const sessions = await attacks.stop();
      const begunAt = performance.now();
      victim = await startVictim({ ...options, dataDirectory: victim.dataDirectory, keys: victim.keys });
      expect(performance.now() - begunAt).toBeLessThan(START_MS);
      await expectNothingLeft(old, temporary);
      await expectExact(victim, canary, seen);
      await expectSettled(victim, sessions);
    }
    expect(await victim.stop()).toBe(0);
    await expect.poll(() => readdirSync(temporary)).toEqual([]);
  } finally {
    await victim.close();
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Tools, floods of an MCP server, uploads and deletions, until the server is gone. */
function startAttacks({ attacker }: Victim, hostile: HostileServer) {
  const client = attacker.withOptions({ maxRetries: 0 });
  const sessions = new Set<string>();
  const state = { isOver: false };
  const policy = { default_config: { permission_policy: { type: 'always_allow' as const } } };
  const storm = Array.from({ length: 20 }, () => [
    {
      call: 'bash',
      input: { command: '(setsid sleep 1000 &); for i in 1 2 3; do sleep 1000 & done; yes | head -c 5000000' },
    },
    { call: 'write', input: { file_path: 'a', content: 'x'.repeat(50_000) } },
  ]);
  const attacks: (() => Promise<void>)[] = [
    async () => void sessions.add(await startSession(client, { turns: [...storm, [{ say: 'done' }]] })),
    async () => {
      const mcp_servers = [{ type: 'url' as const, name: 'x', url: hostile.url('mcp', 'stream-endless-line') }];
      const tools = [{ type: 'mcp_toolset' as const, mcp_server_name: 'x', ...policy }];
      const turns = [...Array.from({ length: 20 }, () => [{ call: 'mcp__x__echo', input: {} }]), [{ say: 'done' }]];
      sessions.add(await startSession(client, { agent: { mcp_servers, tools }, turns }));
    },
    async () => void (await client.beta.files.upload({ file: new File([Buffer.alloc(3_000_000)], 'a.bin') })),
    async () => {
      const id = await startSession(client, { turns: [[{ say: 'x'.repeat(50_000), chunks: 50 }]] });
      await becomesIdle(client, id);
      await client.beta.sessions.delete(id);
    },
  ];
  const running = attacks.map(async (attack) => {
    // Whatever fails, fails because the server was killed, which the checks after its restart are about.
    while (!state.isOver) await attack().catch(() => wait(20));
  });
  inBackground(Promise.all(running), () => undefined);
  return {
    stop: async () => {
      state.isOver = true;
      await Promise.all(running);
      return [...sessions];
    },
  };
}

/** Of the server that was killed there is no process, no group and no temporary file. */
async function expectNothingLeft(
  old: { readonly processes: readonly number[]; readonly groups: readonly string[] },
  temporary: string,
): Promise<void> {
  await expect.poll(() => old.processes.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  await expect.poll(() => old.groups.filter((group) => existsSync(group))).toEqual([]);
  await expect.poll(() => readdirSync(temporary).length).toBeLessThanOrEqual(1);
}

/** Groups of what this server has launched. */
function findGroups(pid: number): readonly string[] {
  return findCgroupTrees().flatMap(({ directory }) =>
    readdirSync(directory)
      .filter((name) => name.startsWith(`fleetloom-${pid}-`))
      .flatMap((name) => readdirSync(join(directory, name)).map((each) => join(directory, name, each)))
      .filter((path) => existsSync(join(path, 'cgroup.procs'))),
  );
}

/** What was seen before is the beginning of what is there now, every whole turn has its words once, and the next turn works. */
async function expectExact({ canary }: Victim, sessionId: string, seen: readonly SessionEvent[]): Promise<void> {
  await becomesIdle(canary, sessionId);
  await sendMessage(canary, sessionId, 'Go on.');
  await becomesIdle(canary, sessionId);
  const { events } = await readSession(canary, sessionId);
  expect(events.slice(0, seen.length)).toEqual(seen);
  const said = events.filter(({ type }) => type === 'agent.message').map(({ content }) => JSON.stringify(content));
  expect(said.filter((text) => !text.includes(WORDS))).toEqual([]);
  const asked = events.filter(({ type }) => type === 'user.message');
  expect(said.length).toBe(asked.length);
  await sendMessage(canary, sessionId, 'Go on.');
}

/** Sessions of the attacker can be interrupted and deleted, whatever they were at. */
async function expectSettled({ attacker }: Victim, sessions: readonly string[]): Promise<void> {
  for (const id of sessions) {
    await becomesIdle(attacker, id, 0);
    await attacker.beta.sessions.delete(id);
  }
}
