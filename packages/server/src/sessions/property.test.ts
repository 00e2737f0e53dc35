import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isLong, seed, timeout } from '../../../../test/support/seed.ts';
import type { FrameType } from '../frames/frames.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { Database } from '../store/sqlite/database.ts';
import { createSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { type OpenStore, runRandomFleet } from './suite/random-run.suite.ts';

const RUNS = { memory: isLong ? 20_000 : 40, sqlite: isLong ? 1_000 : 4, mixed: isLong ? 20_000 : 20 };
/** On a busy machine the short test has to do with fewer. */
const RUNS_MS = isLong ? Infinity : 2_000;

/** Files that were opened: an attempt that is repeated begins with a new one. */
let opened = 0;
const folder = mkdtempSync(join(tmpdir(), 'fleetloom-random-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it(
  '[X1] whatever agents, tools, clients and restarts do, every session stays consistent and becomes idle',
  async () => {
    const types = await runMany(RUNS.memory, ({ clock }) => createMemoryStore({ clock }), wildTypes);
    // If the runs were tame, they would prove nothing.
    expect(wildTypes.filter((type) => !types.has(type))).toEqual([]);
  },
  timeout,
);

it(
  '[X1] and on SQLite',
  async () => {
    await runMany(RUNS.sqlite, async ({ clock }, run) => {
      // Time that passes only when a test lets it would not wait for a disk.
      const database = await Database.open(join(folder, `${run}-${opened++}.db`), async () => {});
      return createSqliteStore(database, clock);
    });
  },
  timeout,
);

it(
  '[R405] whatever programs and models do in mixed fleets, every session stays consistent and becomes idle',
  async () => {
    const wanted: FrameType[] = ['approval.requested', 'program.opened', 'answer.delivered', 'turn.took'];
    const types = await runMany(RUNS.mixed, ({ clock }) => createMemoryStore({ clock }), wanted, true);
    expect(wanted.filter((type) => !types.has(type))).toEqual([]);
  },
  timeout,
);

/** Goes on, up to ten times as long, until everything that is wanted has happened: some of it is rare. */
async function runMany(runsMax: number, openStore: OpenStore, wanted: readonly FrameType[] = [], hasPrograms = false) {
  console.log(`FLEETLOOM_SEED=${seed}`);
  const deadline = performance.now() + RUNS_MS;
  const types = new Set<FrameType>();
  for (let run = 0; run < runsMax * 10; run++) {
    const isEnough = run >= runsMax || performance.now() > deadline;
    if (isEnough && wanted.every((type) => types.has(type))) break;
    for (const type of await runRandomFleet(seed + run, openStore, undefined, hasPrograms)) types.add(type);
  }
  return types;
}

/** What a few dozen runs have among them, whatever their seed. The rest is too rare for a short test. */
const wildTypes: FrameType[] = [
  'agent.custom_tool_use',
  'agent.mcp_tool_result',
  'agent.thread_message_received',
  'delta.thinking',
  'session.error',
  'session.status_rescheduled',
  'session.thread_created',
  'session.thread_status_rescheduled',
  'session.thread_status_terminated',
  'session.updated',
  'system.message',
  'turn.retried',
  'turn.stopping',
  'turn.took',
  'user.custom_tool_result',
  'user.interrupt',
  'user.tool_confirmation',
];
