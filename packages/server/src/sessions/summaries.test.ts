import { fleetLimits } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { JsonObject } from '../base/json/json.ts';
import type { SummaryData } from '../frames/summary-data.ts';
import { listFleetCosts } from '../views/sessions/list-fleet-costs.ts';
import { toFleetSession } from '../views/sessions/to-fleet-session.ts';
import { sessionLimits } from './core/limits.ts';
import {
  confirm,
  createGate,
  delegates,
  type Fleet,
  lead,
  message,
  openFleet,
  result,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';
import type { EngineEvent } from '../engines/model/engine.ts';
import { createPlainEngine, someUsage } from './suite/plain-engine.suite.ts';

const asking = { kind: 'builtin' as const, permission: 'ask' as const };

async function summaryOf({ store }: Fleet, id: string) {
  const [summary] = await store.summaries.getAll(workspaceId, [id]);
  return { ...summary!, data: summary!.data as unknown as SummaryData & JsonObject };
}

onEachStore((openStore) => {
  it('[V184] a session that waits for a decision needs you, with the call as the reason, and is done after it', async () => {
    const bash = { ...asking, run: () => result('hi') };
    const fleet = await openFleet({ store: await openStore(), tools: { bash } });
    const turns = [[{ call: 'bash', input: { command: 'npm test' } }], [{ say: 'Done.' }]];
    const id = await fleet.begin(solo, { turns });
    const { seq } = await fleet.rest(id);
    const [use] = await fleet.payloads(id, 'agent.tool_use');
    expect(await summaryOf(fleet, id)).toMatchObject({
      state: 'needs_you',
      stallsAt: null,
      agentName: 'solo',
      data: { needs_you: 1, reason: 'bash: npm test', threads: 1, ended_at: null },
    });
    await fleet.send(id, confirm(use!.id));
    await fleet.rest(id, seq);
    const done = await summaryOf(fleet, id);
    expect(done).toMatchObject({ state: 'done', data: { needs_you: 0, reason: null, failed_threads: 0 } });
    expect(done.tokens).toBeGreaterThan(0);
    expect(done.data.started_at).not.toBeNull();
    expect(done.data.ended_at).not.toBeNull();
    await fleet.sessions.archive(workspaceId, id);
    expect(await summaryOf(fleet, id)).toMatchObject({ state: 'archived' });
  });

  it('[V205] the summary has the budget of a session and whether it is reached, and again not after it was raised', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { bash: { kind: 'builtin' } } });
    const budget = { cost_nano_usd: null, tokens: null, requests: 1, wall_ms: null };
    const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] }, { budget });
    const { seq } = await fleet.rest(id);
    expect(await summaryOf(fleet, id)).toMatchObject({ state: 'needs_you', data: { budget, budget_state: 'reached' } });
    await fleet.sessions.update({ workspaceId, sessionId: id, budget: { ...budget, requests: 9 } });
    await fleet.rest(id, seq);
    expect(await summaryOf(fleet, id)).toMatchObject({ state: 'done', data: { budget_state: 'within' } });
    const { reached, within } = (await listFleetCosts(fleet.store, { workspaceId, query: {}, now: Date.now() }))
      .budget_counts;
    expect([reached, within]).toEqual([0, 1]);
  });

  it('[V184] a session that never ran is idle, and one whose run failed has failed, with the error as the reason', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const environment = { id: 'env_1', type: 'cloud' as const };
    const source = { repository: '/repo', branch: 'main' };
    const { id: idle } = await fleet.sessions.create({
      workspaceId,
      agent: solo,
      environment,
      source,
      createdBy: 'me',
    });
    expect(await summaryOf(fleet, idle)).toMatchObject({
      state: 'idle',
      data: { name: 'New session', started_at: null, repository: '/repo', branch: 'main', created_by: 'me' },
    });
    const id = await fleet.begin(solo, { turns: [[{ fail: { status: 400, message: 'no such model' } }]] });
    await fleet.rest(id);
    const failed = await summaryOf(fleet, id);
    expect(failed).toMatchObject({ state: 'failed', data: { failed_threads: 1, needs_you: 0 } });
    expect(failed.data.reason).toContain('no such model');
    await fleet.sessions.update({ workspaceId, sessionId: id, title: 'A title' });
    expect((await summaryOf(fleet, id)).data).toMatchObject({ name: 'A title', title: 'A title' });
  });
});

it('[V184] a coordinator and its children are one session that needs you as soon as one of them does', async () => {
  const gate = createGate();
  const bash = { ...asking, run: () => result('hi') };
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { bash, wait } });
  const id = await fleet.begin(lead, {
    when: [
      { match: 'ask', turn: [{ call: 'bash', input: {} }] },
      { match: 'slow', turn: [{ call: 'wait' }] },
    ],
    else: [delegates('ask', 'slow')],
  });
  await expect.poll(async () => (await summaryOf(fleet, id)).state).toBe('needs_you');
  expect((await summaryOf(fleet, id)).data.threads).toBeGreaterThan(1);
  gate.open();
});

it('[V183] a session is stalled 70 s after the last record of what its model sent, and text moves that time every 10 s', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const steps: (() => void)[] = [];
  const step = async () => {
    await expect.poll(() => steps.length).toBeGreaterThan(0);
    steps.shift()!();
  };
  const next = () => new Promise<void>((resolve) => steps.push(resolve));
  const engine = createPlainEngine(async function* (): AsyncGenerator<EngineEvent> {
    await next();
    yield { type: 'queued', reason: 'concurrency', ahead: 3, waitMs: null };
    await next();
    yield { type: 'admitted' };
    yield { type: 'block_started', index: 0, block: 'text' };
    for (const text of ['a', 'b', 'c']) {
      await next();
      yield { type: 'delta', index: 0, text };
    }
    await next();
    const stop = { reason: 'end_turn', category: null, explanation: null } as const;
    yield { type: 'finished', content: [{ type: 'text', text: 'abc' }], stop, usage: someUsage, model: 'plain' };
  });
  const fleet = await openFleet({ engine, clock, schedule });
  const begun = clock.now();
  const { stalledMs, activityMs } = fleetLimits;
  const silenceMs = stalledMs + activityMs;
  const environment = { id: 'env_1', type: 'cloud' as const };
  const { id } = await fleet.sessions.create({ workspaceId, agent: solo, environment, events: [message('Go on.')] });
  await expect.poll(async () => (await summaryOf(fleet, id)).stallsAt).toBe(begun + silenceMs);
  const shown = toFleetSession(await summaryOf(fleet, id), begun + silenceMs);
  expect(shown).toMatchObject({ state: 'stalled', stalled_threads_count: 1, name: 'Go on.' });
  expect(toFleetSession(await summaryOf(fleet, id), begun + silenceMs - 1)).toMatchObject({
    state: 'running',
    stalled_threads_count: 0,
    stalls_at: new Date(begun + silenceMs).toISOString(),
  });
  // A request that waits in the queue of its engine may be silent.
  await step();
  await expect.poll(async () => (await summaryOf(fleet, id)).stallsAt).toBeNull();
  advance(1);
  await step();
  await expect.poll(async () => (await summaryOf(fleet, id)).stallsAt).toBe(begun + 1 + silenceMs);
  // Text within 10 s changes nothing, and later text does.
  advance(activityMs - 1);
  await step();
  await expect.poll(() => steps.length).toBe(1);
  expect((await summaryOf(fleet, id)).stallsAt).toBe(begun + 1 + silenceMs);
  advance(1);
  await step();
  await expect.poll(() => steps.length).toBe(1);
  advance(1_000);
  await expect.poll(async () => (await summaryOf(fleet, id)).stallsAt).toBe(begun + 1 + activityMs + 1_000 + silenceMs);
  expect((await summaryOf(fleet, id)).activityAt).toBe(begun + 1 + activityMs + 1_000);
  await step();
  await step();
  await expect.poll(async () => (await summaryOf(fleet, id)).state).toBe('done');
  expect((await summaryOf(fleet, id)).stallsAt).toBeNull();
});

it('[V193] a reason has at most 200 characters, and searches look at 500 characters of the first message', async () => {
  const fleet = await openFleet();
  const fail = (length: number) => [[{ fail: { status: 400, message: 'x'.repeat(length) } }]];
  const id = await fleet.begin(solo, { turns: fail(sessionLimits.reasonCharsMax) });
  await fleet.rest(id);
  const { reason } = (await summaryOf(fleet, id)).data;
  expect(reason).toHaveLength(sessionLimits.reasonCharsMax);
  const environment = { id: 'env_1', type: 'cloud' as const };
  const text = `${'y'.repeat(sessionLimits.searchCharsMax - 1)}zw`;
  const { id: long } = await fleet.sessions.create({ workspaceId, agent: solo, environment, events: [message(text)] });
  await fleet.rest(long);
  const find = async (word: string) => {
    const order = { sort: 'activity', order: 'desc', limit: 9, includesArchived: false } as const;
    return (await fleet.store.summaries.list({ workspaceId, now: Date.now(), ...order, words: [word] })).items.length;
  };
  expect([await find('yz'), await find('zw')]).toEqual([1, 0]);
});
