import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import type { Budget } from '../frames/frames.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { delegates, hang, interruption, lead, openFleet, solo } from './suite/fleet.suite.ts';

// What sessions do for the fleet door alone.

const unbound: Budget = { cost_nano_usd: null, tokens: null, requests: null, wall_ms: null };

it('[V86] where every delegation is a thread of its own, those at work count and not those that live', async () => {
  const fleet = await openFleet();
  const block = delegates(...Array.from({ length: limits.delegateTasksMax }, () => ({ turns: [[hang]] })));
  const blocks = Array.from({ length: limits.busyChildrenMax / limits.delegateTasksMax }, () => block);
  const script = { turns: [[...blocks, delegates('one more')], [{ say: 'Done.' }]] };
  const id = await fleet.begin(lead, script, { depthMax: 2, hasTextCommands: true });
  const refused = await fleet.until(id, ({ type }) => type === 'agent.tool_result');
  const text = `ERR: ${limits.busyChildrenMax} agents are at work and ${limits.busyChildrenMax} are allowed`;
  expect(refused.payload).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining(text) }] });
  expect((await fleet.state(id)).threads.size).toBe(limits.busyChildrenMax + 1);
  await fleet.send(id, interruption());
  await fleet.rest(id);
});

it('[V87] a budget of time is kept by who goes on after a restart, too', async () => {
  const store = createMemoryStore();
  const first = await openFleet({ store, isChecked: false });
  const budget = { ...unbound, wall_ms: 600 };
  const id = await first.begin(solo, { turns: [[hang]] }, { budget, endsAtBudget: true });
  await first.until(id, ({ type }) => type === 'span.model_request_start');
  await first.close();
  const second = await openFleet({ store, owner: 'second' });
  const ended = await second.until(id, ({ type }) => type === 'run.ended');
  expect(ended.payload).toMatchObject({ ok: false, stop_reason: 'limit', code: 'budget_reached' });
  const { active } = await second.state(id);
  expect(active.totalMs).toBeGreaterThanOrEqual(600);
});

it('[V88] a run that somebody cancels within its budget is cancelled, not over budget', async () => {
  const fleet = await openFleet();
  const budget = { ...unbound, wall_ms: 60_000, requests: 100 };
  const id = await fleet.begin(solo, { turns: [[hang]] }, { budget, endsAtBudget: true });
  await fleet.until(id, ({ type }) => type === 'span.model_request_start');
  await fleet.send(id, interruption());
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: false, stop_reason: 'cancelled' }]);
  expect((await fleet.payloads(id, 'run.ended'))[0]).not.toHaveProperty('code');
});
