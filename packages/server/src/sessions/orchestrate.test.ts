import { expect, it } from 'vitest';
import { sessionLimits } from './core/limits.ts';
import type { Budget } from '../frames/payload-parts.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { delegates, hang, interruption, lead, openFleet, solo } from './suite/fleet.suite.ts';

// Behaviour of sessions that only the fleet routes use.

const unbound: Budget = { cost_nano_usd: null, tokens: null, requests: null, wall_ms: null };

it('[V86] where every delegation opens a thread, running threads count towards the limit, and idle ones do not', async () => {
  const fleet = await openFleet();
  const block = delegates(...Array.from({ length: sessionLimits.delegateTasksMax }, () => ({ turns: [[hang]] })));
  const blocks = Array.from({ length: sessionLimits.busyChildrenMax / sessionLimits.delegateTasksMax }, () => block);
  const script = { turns: [[...blocks, delegates('one more')], [{ say: 'Done.' }]] };
  const id = await fleet.begin(lead, script, { depthMax: 2, hasTextCommands: true });
  const refused = await fleet.until(id, ({ type }) => type === 'agent.tool_result');
  const text = `ERR: ${sessionLimits.busyChildrenMax} agents are at work and ${sessionLimits.busyChildrenMax} are allowed`;
  expect(refused.payload).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining(text) }] });
  expect((await fleet.state(id)).threads.size).toBe(sessionLimits.busyChildrenMax + 1);
  await fleet.send(id, interruption());
  await fleet.rest(id);
});

it('[V87] a time budget also holds after a restart', async () => {
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

it('[V88] a run that is cancelled within its budget ends as cancelled, not over budget', async () => {
  const fleet = await openFleet();
  const budget = { ...unbound, wall_ms: 60_000, requests: 100 };
  const id = await fleet.begin(solo, { turns: [[hang]] }, { budget, endsAtBudget: true });
  await fleet.until(id, ({ type }) => type === 'span.model_request_start');
  await fleet.send(id, interruption());
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: false, stop_reason: 'cancelled' }]);
  expect((await fleet.payloads(id, 'run.ended'))[0]).not.toHaveProperty('code');
});
