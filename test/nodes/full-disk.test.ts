import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Step, toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { mountSmallDisk } from '../hostile/small-disk.ts';
import { ownPostgres } from '../support/postgres.ts';
import { isLong, timeout } from '../support/seed.ts';
import { openCluster } from './cluster.ts';
import { Caller, toMessage } from './work.ts';
import { pause } from './work-through.ts';

const SESSIONS = isLong ? 12 : 4;
const TURNS = isLong ? 10 : 2;
const GATES = ['off', 'live', 'strict'] as const;

const disk = mountSmallDisk(32);
beforeAll(buildProgram, 300_000);
afterAll(() => disk?.unmount());

it.skipIf(disk === undefined)(
  '[P130] while the disk of the nodes is full, every fleet stream emits live what its replay emits',
  { timeout },
  async () => {
    const { url } = await ownPostgres();
    const cluster = await openCluster(url, 2, { directory: disk!.directory });
    const filling = fillAgain(join(disk!.directory, 'filler'));
    onTestFinished(async () => {
      await filling.end();
      await cluster.close();
    });
    const caller = new Caller(cluster.url, cluster.key);
    const { id: environment_id } = await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' });
    const tools = [{ type: 'agent_toolset_20260401' }];
    const create = async (name: string, turns: Step[][], more: object = {}) => {
      const agent = { name, model: 'scripted/echo', system: toScript(turns), tools, ...more };
      return (await caller.call<{ id: string }>('POST', '/v1/agents', agent)).id;
    };
    const work: Step[] = [
      { call: 'write', input: { file_path: '/mnt/session/outputs/x.txt', content: 'x'.repeat(1_000) } },
      { call: 'bash', input: { command: 'head -c 300000 /dev/zero | tr "\\0" y' } },
    ];
    const say = (words: string): Step[] => [{ think: 'so' }, { say: words, chunks: 6, every_ms: 30 }];
    const member = await create('member', times([work, say('done that now')]));
    const delegate: Step = { call: 'delegate', input: { tasks: [{ agent: 'member', message: 'Go' }] } };
    const agent = await create('a', times([work, [delegate], say('a long answer of several words')]), {
      multiagent: { type: 'coordinator', agents: [member] },
    });

    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const { id: session } = await caller.call<{ id: string }>('POST', '/v1/sessions', { agent, environment_id });
        const watched = {
          url: cluster.nodes[index % 2]!.url,
          key: cluster.key,
          session,
          include: ['thinking'],
        } as const;
        const readers = GATES.map((gate) => {
          const seen: FleetEvent[] = [];
          const watch = watchFleet({ ...watched, gate, signal: leaving.signal });
          const read = async () => {
            for await (const event of watch) seen.push(event);
          };
          read().catch(() => {});
          return { gate, seen };
        });
        for (let turn = 1; turn <= TURNS; turn++) {
          await caller.call('POST', `/v1/sessions/${session}/events`, toMessage('Go'));
          const ended = () => Math.min(...readers.map(({ seen }) => seen.filter(isDone).length));
          await expect.poll(ended, { timeout: 120_000 }).toBe(turn);
        }
        return { watched, readers };
      }),
    );
    await filling.end();
    const failed = new Set<string>();
    for (const { watched, readers } of sessions) {
      for (const { gate, seen } of readers) {
        const replayed: FleetEvent[] = [];
        for await (const event of watchFleet({ ...watched, gate, follow: false })) replayed.push(event);
        expect(seen).toEqual(replayed);
        for (const event of seen) if (event.type === 'tool_call' && !event.ok) failed.add(event.tool);
      }
    }
    leaving.abort();
    expect([...failed]).toContain('write');
  },
);

const isDone = ({ type, ...rest }: FleetEvent) => type === 'done' && 'request_id' in rest;

function times(turns: Step[][]): Step[][] {
  return Array.from({ length: TURNS }, () => turns).flat();
}

/** Fills the disk for a moment, again and again. */
function fillAgain(path: string) {
  const file = openSync(path, 'w');
  const over = new AbortController();
  const loop = async () => {
    while (!over.signal.aborted) {
      fill(file);
      await pause(700);
      ftruncateSync(file, 0);
      await pause(400);
    }
    closeSync(file);
  };
  const ended = loop();
  return {
    end: async () => {
      over.abort();
      await ended;
    },
  };
}

/** Until nothing fits any more. */
function fill(file: number): void {
  const block = Buffer.alloc(65_536, 1);
  for (let written = block.length; written > 0; ) {
    try {
      written = writeSync(file, block);
    } catch {
      written = 0;
    }
  }
}
