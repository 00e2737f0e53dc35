import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { addUsage, sumTokens } from './usage.ts';
import { noUsage } from './state.ts';
import { delegates, lead, message, openFleet, result, solo, workspaceId } from '../../suite/fleet.suite.ts';
import { createPlainEngine } from '../../suite/plain-engine.suite.ts';
import { onEachStore } from '../../suite/stores.suite.ts';

onEachStore((openStore) => {
  it('[I7] the usage of a session is the sum of its threads, and that of a thread the sum of its requests', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 3 };
    const tasks = [
      { usage, turns: [[{ say: 'One.' }]] },
      { usage, turns: [[{ fail: { status: 529, retry_after_s: 0 } }, { say: 'Two.' }]] },
    ];
    const id = await fleet.begin(lead, { usage, turns: [[delegates(...tasks)], [{ say: 'Done.' }]] });
    await fleet.rest(id);
    const ends = await fleet.payloads(id, 'span.model_request_end');
    const sum = ends.map(({ model_usage: each }) => each).reduce(addUsage, noUsage);
    expect(sum).toMatchObject({ input_tokens: 400, output_tokens: 40, cache_read_input_tokens: 20, cost_nano_usd: 28 });
    const state = await fleet.state(id);
    expect(state.usage).toEqual(sum);
    expect([...state.threads.values()].map((thread) => thread.usage).reduce(addUsage, noUsage)).toEqual(sum);
    expect((await fleet.payloads(id, 'session.usage')).at(-1)!.usage).toEqual(sum);
    expect((await fleet.store.sessions.get(workspaceId, id))!.data['usage']).toEqual(sum);
    const { items } = await fleet.store.threads.list({ sessionId: id, limit: 10 });
    expect(items).toHaveLength(3);
    for (const { id: thread, data } of items) expect(data['usage']).toEqual(state.threads.get(thread)!.usage);
    expect(ends.every(({ model }) => model !== '')).toBe(true);
  });
});

it('[R150] a price that is not known makes the cost unknown, and never 0', async () => {
  const fleet = await openFleet({ costNanoUsd: null });
  const id = await fleet.begin(solo, 'Hello');
  await fleet.rest(id);
  expect((await fleet.state(id)).usage.cost_nano_usd).toBeNull();
  expect(addUsage({ ...noUsage, cost_nano_usd: 3 }, { ...noUsage, cost_nano_usd: null }).cost_nano_usd).toBeNull();
  expect(addUsage({ ...noUsage, cost_nano_usd: 3 }, { ...noUsage, cost_nano_usd: 4 }).cost_nano_usd).toBe(7);
});

it('[R151] every kind of token counts', async () => {
  const fleet = await openFleet({ engine: createPlainEngine(() => ({})) });
  const id = await fleet.begin(solo, 'Hello');
  await fleet.rest(id);
  const { usage } = await fleet.state(id);
  expect(usage).toEqual({
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 3,
    cache_creation_5m_input_tokens: 2,
    cache_creation_1h_input_tokens: 1,
    cost_nano_usd: 7,
  });
  expect(sumTokens(usage)).toBe(21);
});

it('[R152] active time is counted for each thread, and once for the session where threads overlap', async () => {
  const clock = createManualClock(1_000);
  let met = 0;
  let release!: () => void;
  const both = new Promise<void>((resolve) => (release = resolve));
  const meet = {
    kind: 'builtin' as const,
    run: async () => {
      if (++met === 2) {
        clock.advance(1_000);
        release();
      }
      await both;
      return result('met');
    },
  };
  const fleet = await openFleet({ clock, tools: { meet } });
  const task = { turns: [[{ call: 'meet' }], [{ say: 'Fine.' }]] };
  const id = await fleet.begin(lead, { turns: [[delegates(task, task)], [{ say: 'Done.' }], [{ say: 'More.' }]] });
  const { seq } = await fleet.rest(id);
  const { data } = (await fleet.store.sessions.get(workspaceId, id))!;
  expect(data).toMatchObject({ active: { totalMs: 1_000, since: null }, thread_active_ms: 3_000 });
  expect([...(await fleet.state(id)).threads.values()].map(({ active }) => active.totalMs)).toEqual([
    1_000, 1_000, 1_000,
  ]);
  clock.advance(5_000);
  await fleet.send(id, message('More'));
  await fleet.rest(id, seq);
  expect((await fleet.state(id)).active).toEqual({ totalMs: 1_000, since: null });
});

it('[R153] the length of a call is from its intent to its result', async () => {
  const clock = createManualClock(1_000);
  const fleet = await openFleet({
    clock,
    tools: { slow: { kind: 'builtin', run: () => (clock.advance(70), result('x')) } },
  });
  const id = await fleet.begin(solo, { turns: [[{ call: 'slow' }], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ duration_ms: 70 }]);
});
