import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { Budget } from '../frames/payload-parts.ts';
import {
  confirm,
  createGate,
  delegates,
  interruption,
  lead,
  message,
  openFleet,
  result,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

const unbound: Budget = { cost_nano_usd: null, tokens: null, requests: null, wall_ms: null };
const bash = { bash: { kind: 'builtin' as const } };
const rounds = { turns: [[{ call: 'bash' }], [{ call: 'bash' }], [{ say: 'Done.' }]] };

onEachStore((openStore) => {
  it('[R100] a session that has used up its budget pauses in its turn; messages are refused, and raising the budget continues the turn', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: bash });
    const id = await fleet.begin(solo, rounds, { budget: { ...unbound, requests: 1 } });
    const { seq } = await fleet.rest(id);
    expect((await fleet.story(id)).slice(-4)).toEqual([
      'solo tool_result',
      'solo thread_status_idle budget_reached',
      'session usage',
      'session status_idle budget_reached',
    ]);
    await expect(fleet.send(id, message('Go on'))).rejects.toMatchObject({ code: 'budget_reached' });
    const system = { type: 'system.message' as const, content: [{ type: 'text' as const, text: 'x' }] };
    await expect(fleet.send(id, system)).rejects.toMatchObject({ code: 'budget_reached' });
    await fleet.send(id, interruption());
    await fleet.sessions.update({ workspaceId, sessionId: id, budget: { ...unbound, requests: 3 } });
    await fleet.rest(id, seq);
    expect((await fleet.story(id, seq)).slice(0, 4)).toEqual([
      'session updated',
      'session status_running',
      'solo thread_status_running',
      'solo model_request_start',
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
    expect(await fleet.payloads(id, 'run.ended')).toHaveLength(1);
  });
});

it.each<[string, Partial<Budget>]>([
  ['money', { cost_nano_usd: 7 }],
  ['tokens', { tokens: 1 }],
  ['requests', { requests: 1 }],
])('[R101] a budget of %s binds when it is reached, and not below', async (_, bound) => {
  const fleet = await openFleet({ tools: bash });
  const id = await fleet.begin(solo, rounds, { budget: { ...unbound, ...bound } });
  expect((await fleet.rest(id)).payload).toMatchObject({ stop_reason: { type: 'budget_reached' } });
  expect(await fleet.payloads(id, 'span.model_request_start')).toHaveLength(1);
  const [name, most] = Object.entries(bound)[0] as [keyof Budget, number];
  const wide = name === 'tokens' ? 1_000_000 : most + 1;
  const other = await fleet.begin(
    solo,
    { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] },
    { budget: { ...unbound, [name]: wide } },
  );
  expect((await fleet.rest(other)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
});

it('[R101] a budget of time counts only while the session works', async () => {
  const clock = createManualClock(1_000);
  const work = (ms: number) => ({ kind: 'builtin' as const, run: () => (clock.advance(ms), result('worked')) });
  const fleet = await openFleet({ clock, tools: { short: work(999), last: work(1) } });
  const budget = { ...unbound, wall_ms: 1_000 };
  const id = await fleet.begin(
    solo,
    { turns: [[{ call: 'short' }], [{ say: 'Fine.' }], [{ call: 'last' }], [{ say: 'Never.' }]] },
    { budget },
  );
  const { seq } = await fleet.rest(id);
  clock.advance(1_000_000);
  await fleet.send(id, message('Next'));
  expect((await fleet.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'budget_reached' } });
  expect((await fleet.payloads(id, 'session.usage')).map(({ active_ms: ms }) => ms)).toEqual([999, 1_000]);
});

it('[R102] a budget of money does not bind where a price is not known', async () => {
  const fleet = await openFleet({ tools: bash, costNanoUsd: null });
  const id = await fleet.begin(solo, rounds, { budget: { ...unbound, cost_nano_usd: 1 } });
  expect((await fleet.rest(id)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
});

it('[R103] a thread that waits for a paused child is paused too, and continues with it', async () => {
  const fleet = await openFleet({ tools: bash });
  const id = await fleet.begin(
    lead,
    { turns: [[delegates(rounds, rounds)], [{ say: 'Done.' }]] },
    { budget: { ...unbound, requests: 3 } },
  );
  const first = await fleet.rest(id);
  expect(first.payload).toMatchObject({ stop_reason: { type: 'budget_reached' } });
  const { threads } = await fleet.state(id);
  expect([...threads.values()].map(({ status, stop }) => [status, stop.reason.type])).toEqual([
    ['idle', 'budget_reached'],
    ['idle', 'budget_reached'],
    ['idle', 'budget_reached'],
  ]);
  await fleet.sessions.update({ workspaceId, sessionId: id, budget: null });
  expect((await fleet.rest(id, first.seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect((await fleet.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
});

it('[R104] pending approvals are named before the budget; once decided, the budget is named', async () => {
  const fleet = await openFleet({ tools: { ...bash, ask: { kind: 'builtin', permission: 'ask' } } });
  const asks = { turns: [[{ call: 'ask' }], [{ say: 'x' }]] };
  const id = await fleet.begin(
    lead,
    { turns: [[delegates(asks, rounds)], [{ say: 'Done.' }]] },
    { budget: { ...unbound, requests: 3 } },
  );
  const first = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  expect(first.payload).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: [ask] } });
  await fleet.send(id, confirm(ask!));
  expect((await fleet.rest(id, first.seq)).payload).toMatchObject({ stop_reason: { type: 'budget_reached' } });
});

it('[R105] an interrupt leaves what the budget paused as it is, and is not kept', async () => {
  const fleet = await openFleet({ tools: bash });
  const id = await fleet.begin(solo, rounds, { budget: { ...unbound, requests: 1 } });
  const { seq } = await fleet.rest(id);
  const sent = await fleet.send(id, interruption());
  expect(sent).toHaveLength(1);
  await fleet.sessions.update({ workspaceId, sessionId: id, title: 'Seen' });
  expect(await fleet.story(id, seq)).toEqual(['session updated']);
  expect((await fleet.state(id)).stop.reason).toEqual({ type: 'budget_reached' });
});

it('[R106] a budget is set at creation or never, and must exceed the usage so far', async () => {
  const fleet = await openFleet({ tools: bash });
  const free = await fleet.begin(solo, 'Hello');
  await fleet.rest(free);
  const update = (sessionId: string, budget: Budget | null) =>
    fleet.sessions.update({ workspaceId, sessionId, budget });
  await expect(update(free, unbound)).rejects.toMatchObject({ code: 'budget_create_only' });
  const bound = await fleet.begin(solo, rounds, { budget: { ...unbound, cost_nano_usd: 7 } });
  const { seq } = await fleet.rest(bound);
  await expect(update(bound, { ...unbound, cost_nano_usd: 7 })).rejects.toMatchObject({ code: 'budget_not_raised' });
  await update(bound, { ...unbound, cost_nano_usd: 8 });
  await fleet.rest(bound, seq);
  expect(await fleet.payloads(bound, 'span.model_request_start')).toHaveLength(2);
});

it.each<[string, Partial<Budget>, Partial<Budget>]>([
  ['tokens', { tokens: 1 }, { tokens: 1_000_000 }],
  ['requests', { requests: 1 }, { requests: 2 }],
  ['time', { wall_ms: 5 }, { wall_ms: 6 }],
])('[R253] a changed budget of %s must exceed the usage so far, too', async (_, bound, more) => {
  const clock = createManualClock(1_000);
  const fleet = await openFleet({
    clock,
    tools: { bash: { kind: 'builtin', run: () => (clock.advance(5), result('')) } },
  });
  const turns = [[{ call: 'bash' }], [{ say: 'Done.' }]];
  const id = await fleet.begin(solo, { turns }, { budget: { ...unbound, ...bound } });
  const { seq } = await fleet.rest(id);
  const update = (budget: Budget) => fleet.sessions.update({ workspaceId, sessionId: id, budget });
  await expect(update({ ...unbound, ...bound, cost_nano_usd: 1_000 })).rejects.toMatchObject({
    code: 'budget_not_raised',
  });
  expect(await fleet.head(id)).toBe(seq);
  await update({ ...unbound, ...more });
  expect((await fleet.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
});

it('[R107] a run that ends at its budget ends when the budget is used up, with that reason', async () => {
  const fleet = await openFleet({ tools: bash });
  const budget = { ...unbound, requests: 3 };
  const turns = [[delegates(rounds, rounds)], [{ say: 'Never.' }]];
  const id = await fleet.begin(lead, { turns }, { budget, endsAtBudget: true });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'span.model_request_start')).toHaveLength(3);
  const ends = await fleet.payloads(id, 'turn.ended');
  expect(ends.map(({ ok, stop_reason: reason }) => [ok, reason])).toEqual([
    [false, 'limit'],
    [false, 'limit'],
    [false, 'limit'],
  ]);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([
    { ok: false, stop_reason: 'limit', code: 'budget_reached' },
  ]);
  expect((await fleet.story(id)).at(-1)).toBe('session status_idle end_turn');
});

it('[R108] when its time is up a run is stopped, also in the middle of a tool', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const gate = createGate();
  const slow = { kind: 'builtin' as const, run: async () => (await gate.opened, result('late')) };
  const fleet = await openFleet({ clock, schedule: time.schedule, tools: { slow } });
  const budget = { ...unbound, wall_ms: 1_000 };
  const turns = [[{ call: 'slow' }], [{ say: 'Never.' }]];
  const id = await fleet.begin(solo, { turns }, { budget, endsAtBudget: true });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  time.advance(999);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await fleet.types(id)).not.toContain('turn.stopping');
  time.advance(1);
  await fleet.until(id, ({ type }) => type === 'turn.stopping');
  const head = await fleet.head(id);
  time.advance(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await fleet.head(id)).toBe(head);
  gate.open();
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([
    { ok: false, stop_reason: 'limit', code: 'budget_reached' },
  ]);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ is_interrupted: true }]);
});
