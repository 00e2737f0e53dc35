import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { commitOne } from '../../store/write.ts';
import { crash, hang, interruption, message, openFleet, solo, workspaceId } from '../suite/fleet.suite.ts';
import { onEachStore, openMemory } from '../suite/stores.suite.ts';

const breathe = () => new Promise((resolve) => setTimeout(resolve, 20));

onEachStore((openStore) => {
  it('[R180] a session stays with its process while that renews its lease, and is taken over afterwards', async () => {
    const clock = createManualClock(1_000);
    const store = await openStore(clock);
    const times = [createManualSchedule(clock), createManualSchedule(clock)] as const;
    const [one, two] = [
      await openFleet({ store, clock, owner: 'one', schedule: times[0].schedule }),
      await openFleet({ store, clock, owner: 'two', schedule: times[1].schedule }),
    ];
    const id = await one.begin(solo, { turns: [[hang]] });
    const { length } = await one.frames(id);
    for (let passed = 0; passed < 2 * sessionLimits.leaseMs; passed += sessionLimits.hostTickMs) {
      times[0].advance(sessionLimits.hostTickMs);
      await breathe();
      times[1].advance(0);
      await breathe();
    }
    expect(await one.head(id)).toBe(length);
    // From now on the first one is silent. It renewed its lease one tick ago.
    times[1].advance(sessionLimits.leaseMs - 2 * sessionLimits.hostTickMs);
    await breathe();
    expect(await two.head(id)).toBe(length);
    times[1].advance(2 * sessionLimits.hostTickMs);
    await two.until(id, ({ type }) => type === 'session.status_rescheduled', length);
    times[1].advance(0);
    const { seq } = await two.until(id, ({ type }) => type === 'span.model_request_start', length);
    await two.send(id, interruption());
    await two.rest(id, seq);
    expect(await two.payloads(id, 'turn.ended')).toHaveLength(1);
    times[0].advance(sessionLimits.hostTickMs);
    await breathe();
    expect(two.problems).toEqual([]);
  });
});

it('[R181] a message sent to one process reaches the session that another one owns', async () => {
  const store = await openMemory();
  const [one, two] = [await openFleet({ store, owner: 'one' }), await openFleet({ store, owner: 'two' })];
  const id = await one.begin(solo, 'Hello');
  const { seq } = await one.rest(id);
  await two.send(id, message('From afar'));
  await two.rest(id, seq);
  expect((await two.payloads(id, 'user.message')).at(-1)).toMatchObject({ content: [{ text: 'From afar' }] });
});

it('[R182] an idle session is released after a while, a running one is not', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ clock, schedule: time.schedule });
  const resting = await fleet.begin(solo, 'Hello');
  await fleet.rest(resting);
  const working = await fleet.begin(solo, { turns: [[hang]] });
  const isFree = async (sessionId: string) =>
    (await fleet.store.leases.acquire({ sessionId, owner: 'other', ttlMs: 1 })).ok;
  for (
    let passed = 0;
    passed < sessionLimits.hostIdleMs - sessionLimits.hostTickMs;
    passed += sessionLimits.hostTickMs
  ) {
    time.advance(sessionLimits.hostTickMs);
    await breathe();
  }
  expect([await isFree(resting), await isFree(working)]).toEqual([false, false]);
  time.advance(sessionLimits.hostTickMs);
  await breathe();
  expect([await isFree(resting), await isFree(working)]).toEqual([true, false]);
  clock.advance(2);
  const head = await fleet.head(resting);
  await fleet.send(resting, message('Still there?'));
  await fleet.rest(resting, head);
  expect(await fleet.payloads(resting, 'turn.ended')).toHaveLength(2);
}, 60_000);

it('[R183] sessions without an owner are adopted some at a time, until none is left', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  const first = await openFleet({ store, clock, owner: 'first', schedule: time.schedule });
  const count = sessionLimits.orphansTakenMax + 1;
  const create = { workspaceId, agent: solo, environment: { id: 'env_1', type: 'cloud' as const } };
  for (let at = 0; at < count; at++) await first.sessions.create(create);
  await first.close();
  const { items } = await store.sessions.list({ workspaceId, limit: 1_000 });
  for (const { id: sessionId } of items) {
    const input = { id: 'sevt_left', threadId: null, time: 0, data: { event: message('Hello') } };
    await commitOne(store, { type: 'submit', sessionId, changes: [{ type: 'enqueue_input', input }] });
  }
  const next = await openFleet({ store, clock, owner: 'next', schedule: time.schedule });
  const taken = async () => {
    const inputs = await Promise.all(items.map(async ({ id }) => store.inputs.peek(id, 1)));
    return inputs.filter(({ length }) => length === 0).length;
  };
  await expect.poll(taken).toBe(sessionLimits.orphansTakenMax);
  time.advance(sessionLimits.hostTickMs);
  await expect.poll(taken).toBe(count);
  for (const { id } of items) await next.rest(id);
});

it('[R184] work that a process leaves at an orderly close continues in the next one at once', async () => {
  const store = await openMemory();
  const first = await openFleet({ store, owner: 'first' });
  const when = [{ match: 'x', turn: [{ say: 'x' }] }];
  const id = await first.begin(solo, { when, else: [{ say: 'Once' }, { sleep_ms: 1 }, hang] });
  const { seq } = await first.until(id, ({ type }) => type === 'delta.text');
  await first.close();
  const head = await first.head(id);
  const next = await openFleet({ store, owner: 'next' });
  await next.until(id, ({ type }) => type === 'span.model_request_start', head);
  expect(head).toBeGreaterThanOrEqual(seq);
  await next.send(id, interruption());
  await next.rest(id, head);
});

it('[R185] a log that cannot be folded is a problem of its session, and of no other', async () => {
  const fleet = await openFleet();
  const broken = await fleet.begin(solo, 'Hello');
  await fleet.rest(broken);
  const next = await crash(fleet, ({ type }) => type === 'session.status_idle', { isChecked: false });
  await next.close();
  const lease = await next.store.leases.acquire({ sessionId: broken, owner: 'vandal', ttlMs: 0 });
  const bytes = Buffer.from(JSON.stringify(['sthr_nobody', null, 0, 'turn.retried', {}]));
  await commitOne(next.store, {
    type: 'append',
    sessionId: broken,
    fence: lease.ok ? lease.fence : 0,
    frames: [{ bytes }],
    changes: [],
  });
  const last = await openFleet({ store: next.store, isChecked: false });
  await last.send(broken, message('Hello?'));
  await expect.poll(() => last.problems.length).toBeGreaterThan(0);
  expect(last.problems[0]).toMatchObject({ message: expect.stringContaining('has no thread sthr_nobody') });
  const fine = await last.begin(solo, 'Hello');
  await last.rest(fine);
});

it('[R186] input without a signal is consumed anyway', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  const fleet = await openFleet({ store: { ...store, subscribe: () => () => {} }, clock, schedule: time.schedule });
  const id = await fleet.begin(solo, 'Hello');
  await expect.poll(async () => (await fleet.state(id)).status).toBe('idle');
  await fleet.send(id, message('Still there?'));
  time.advance(sessionLimits.hostTickMs - 1);
  await breathe();
  expect(await fleet.payloads(id, 'user.message')).toHaveLength(1);
  time.advance(1);
  await expect.poll(() => fleet.payloads(id, 'user.message')).toHaveLength(2);
  await expect.poll(async () => (await fleet.state(id)).status).toBe('idle');
});
