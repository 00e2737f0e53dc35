import { describe, expect, it, vi } from 'vitest';
import { webhookLimits } from './limits.ts';
import { openDeliveries } from './delivery-log.suite.ts';

const patience = { timeout: 20_000, interval: 2 };

describe('webhooks', () => {
  it('[W63] an event that was not accepted is sent again, with the same id and a new time, before any later event', async () => {
    const { receiver, clock, begin } = await openDeliveries();
    const { create, timers, rests } = begin();
    let refusals = 2;
    receiver.answer = ({ data }) => ({ status: data.type === 'session.status_idled' && refusals-- > 0 ? 500 : 200 });
    await create('sesn_1', ['session.status_running', 'session.status_idle', 'session.updated']);
    await receiver.came(3);
    const next = async (count: number) => {
      await rests();
      timers.advance(webhookLimits.webhookRetryMsMax);
      await receiver.came(count);
    };
    await next(4);
    await next(6);
    const types = ['session.created', 'session.status_run_started', 'session.status_idled', 'session.updated'];
    expect(receiver.types()).toEqual(types);
    const idled = receiver.attempts.slice(2, 5);
    expect(new Set(idled.map(({ event }) => event.id))).toEqual(new Set(['whevt_1_3']));
    expect(idled.map(({ seconds }) => seconds - idled[0]!.seconds)).toEqual([0, 60, 120]);
    expect(receiver.attempts[5]!.seconds).toBe(Math.floor(clock.now() / 1_000));
  });

  it('[W64] five seconds without an answer are a refusal', async () => {
    const { receiver, problems, begin } = await openDeliveries();
    const { create, timers, rests } = begin();
    receiver.answer = () => undefined;
    await create('sesn_1');
    await receiver.came(1);
    timers.advance(webhookLimits.webhookAnswerMs - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect([webhookLimits.webhookAnswerMs, problems]).toEqual([5_000, []]);
    receiver.answer = () => ({ status: 200 });
    timers.advance(1);
    await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining('no answer in 5000 ms')]), patience);
    await rests();
    timers.advance(webhookLimits.webhookRetryMs);
    await receiver.came(2);
  });

  it('[W64] another address in the answer is a refusal, and is not asked', async () => {
    const { receiver, problems, begin } = await openDeliveries();
    const { create } = begin();
    receiver.answer = () => ({ status: 307, headers: { location: receiver.url.replace('/hook', '/elsewhere') } });
    await create('sesn_1');
    await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining('it answered 307')]), patience);
    expect(receiver.attempts.map(({ path }) => path)).toEqual(['/hook?token=secret']);
  });

  it('[W65] 410 ends delivery until the next start, which delivers the missed events', async () => {
    const { receiver, problems, begin } = await openDeliveries();
    const first = begin();
    receiver.answer = () => ({ status: 410 });
    const session = await first.create('sesn_1');
    await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining('answered 410')]), patience);
    await session.append('session.status_running');
    first.webhooks.start();
    await first.looks();
    first.timers.advance(webhookLimits.webhookRetryMsMax);
    await first.looks();
    await first.webhooks.close();
    expect(receiver.attempts).toHaveLength(1);
    receiver.answer = () => ({ status: 200 });
    begin().webhooks.start();
    await receiver.came(3);
    expect(receiver.types()).toEqual(['session.created', 'session.status_run_started']);
  });

  it('[W66] an address that does not respond delays neither sessions nor other addresses', async () => {
    const { receiver, begin } = await openDeliveries();
    const silent = receiver.url.replace('/hook', '/silent');
    const { create } = begin({ urls: [silent, receiver.url] });
    receiver.answer = () => (receiver.attempts.length === 0 ? undefined : { status: 200 });
    const session = await create('sesn_1');
    for (let count = 0; count < 20; count++) await session.append('session.updated');
    await vi.waitFor(() => expect(receiver.types().length).toBeGreaterThanOrEqual(21), patience);
  });

  it('[W67] events that were not accepted before a stop or a crash are sent after the next start, each once and in order', async () => {
    for (const isCrash of [false, true]) {
      const { receiver, begin } = await openDeliveries();
      const first = begin();
      receiver.answer = ({ data }) => ({ status: data.type === 'session.created' ? 200 : 503 });
      const session = await first.create('sesn_1', ['session.status_running']);
      await receiver.came(2);
      // After a crash nothing of it goes on: its timers stand still.
      if (!isCrash) await first.webhooks.close();
      await session.append('session.status_idle');
      receiver.answer = () => ({ status: 200 });
      begin().webhooks.start();
      await receiver.came(4);
      const types = ['session.created', 'session.status_run_started', 'session.status_idled'];
      expect(receiver.types()).toEqual(types);
    }
  });

  it('[W67] events older than the address, or older than three days, are not delivered', async () => {
    const { receiver, clock, begin } = await openDeliveries();
    const before = begin({ urls: [] });
    const old = await before.create('sesn_old', ['session.status_running', 'session.status_idle']);
    clock.advance(1);
    const { webhooks, create } = begin();
    await old.append('session.updated');
    webhooks.start();
    await create('sesn_new');
    await receiver.came(2);
    const shown = () => receiver.attempts.map(({ event }) => `${event.data.id} ${event.data.type}`).toSorted();
    expect(shown()).toEqual(['sesn_new session.created', 'sesn_old session.updated']);
    await webhooks.close();
    await old.append('session.status_running');
    clock.advance(1);
    await old.append('session.status_rescheduled');
    clock.advance(webhookLimits.webhookKeepMs);
    await old.append('session.status_idle');
    receiver.attempts.length = 0;
    const last = begin();
    last.webhooks.start();
    await receiver.came(2);
    await last.webhooks.close();
    expect(shown()).toEqual(['sesn_old session.status_idled', 'sesn_old session.status_rescheduled']);
  });

  it('[W61] a fork delivers only its own events, an imported session none', async () => {
    const { receiver, clock, begin } = await openDeliveries();
    const { create, log, webhooks } = begin();
    const first = { forked_from: { session_id: 'sesn_0', seq: 2 } };
    const createdAt = clock.now();
    const toFrame = (type: string, time: number, payload: object = {}) => ({
      threadId: null,
      turn: null,
      time,
      type,
      payload: { stop_reason: { type: 'end_turn' }, ...payload },
    });
    const session = {
      workspaceId: 'w1',
      id: 'sesn_fork',
      agentId: 'a',
      agentVersion: 1,
      environmentId: 'e',
      status: 'idle' as const,
      createdAt,
      data: { primary_thread_id: 'sthr_main' },
    };
    const frames = [
      toFrame('session.created', createdAt - 2, first),
      toFrame('session.status_running', createdAt - 1),
      toFrame('session.status_idle', createdAt),
    ];
    await create('sesn_imported', ['session.status_running'], { is_read_only: true });
    await log.append({ type: 'create', session, frames, changes: [] });
    await receiver.came(2);
    await webhooks.close();
    expect(receiver.attempts.map(({ event }) => [event.data.id, event.data.type, event.created_at])).toEqual([
      ['sesn_fork', 'session.created', new Date(createdAt).toISOString()],
      ['sesn_fork', 'session.status_idled', new Date(createdAt).toISOString()],
    ]);
  });

  it('[W68] the deletion of a session is delivered, also if the address was unreachable at that time', async () => {
    const { receiver, store, begin } = await openDeliveries();
    const { create, webhooks } = begin();
    const [here, later, imported] = [
      await create('sesn_here'),
      await create('sesn_later'),
      await create('sesn_imported', [], { is_read_only: true }),
    ];
    await receiver.came(2);
    const { items } = await store.documents.list({ kind: 'webhook', limit: 10 });
    const list = () => store.documents.list({ kind: `webhook_place_${items[0]!.id}`, limit: 10 });
    const cursors = async () => (await list()).items.map(({ id }) => id);
    await here.delete();
    await vi.waitFor(async () => expect(await cursors()).toEqual(['sesn_later', 'sesn_imported']), patience);
    await webhooks.close();
    await later.delete();
    await imported.delete();
    begin().webhooks.start();
    await vi.waitFor(async () => expect(await cursors()).toEqual([]), patience);
    expect(receiver.attempts.slice(2).map(({ event }) => [event.data.id, event.data.type])).toEqual([
      ['sesn_here', 'session.deleted'],
      ['sesn_later', 'session.deleted'],
    ]);
  });
});

describe('undelivered events', () => {
  it('[W67] is found by the next look, 15 seconds after the last, where it is for this process to look', async () => {
    const { receiver, begin } = await openDeliveries();
    const elsewhere = begin({ urls: [] });
    const [mine, not] = [begin(), begin({ isMine: false })];
    for (const { webhooks } of [mine, not]) webhooks.start();
    for (const { looks } of [mine, not]) await looks();
    // The node that runs it delivers its events.
    await elsewhere.create('sesn_0', [], { status: 'running' });
    await elsewhere.create('sesn_1');
    not.timers.advance(webhookLimits.webhookLookMs - 1);
    mine.timers.advance(0);
    expect([webhookLimits.webhookLookMs, receiver.attempts.length]).toEqual([15_000, 0]);
    not.timers.advance(1);
    await not.looks();
    expect(receiver.attempts).toHaveLength(0);
    mine.timers.advance(0);
    await receiver.came(1);
    await mine.looks();
    await mine.webhooks.close();
    expect(receiver.attempts.map(({ event }) => event.data.id)).toEqual(['sesn_1']);
  });

  it('[W67] is found by a start also where the record of its session has not changed for long', async () => {
    const { receiver, clock, begin } = await openDeliveries();
    const first = begin();
    const session = await first.create('sesn_1');
    await receiver.came(1);
    await first.hears();
    first.webhooks.start();
    await first.looks();
    clock.advance(2 * webhookLimits.webhookMarginMs);
    first.timers.advance(0);
    await first.looks();
    await first.webhooks.close();
    await session.append('session.thread_status_terminated', { session_thread_id: 'sthr_2' });
    begin().webhooks.start();
    await receiver.came(2);
    expect(receiver.types()).toEqual(['session.created', 'session.thread_terminated']);
  });

  it('[W67] the time up to which all is delivered bounds the search of later starts', async () => {
    const { receiver, clock, store, begin } = await openDeliveries();
    const { webhooks, timers, looks, rests, create } = begin();
    const settledAt = async () =>
      (await store.documents.list({ kind: 'webhook', limit: 1 })).items[0]?.data['settled_at'];
    webhooks.start();
    await looks();
    expect(await settledAt()).toBe(clock.now());
    clock.advance(webhookLimits.webhookMarginMs);
    receiver.answer = () => ({ status: 500 });
    await create('sesn_1');
    const createdAt = clock.now();
    await rests();
    for (let count = 0; count < 6; count++) {
      timers.advance(webhookLimits.webhookMarginMs);
      await looks();
    }
    expect(await settledAt()).toBe(createdAt);
  });

  it('[W68] is found ten minutes after the last sweep where it was deleted', async () => {
    const { receiver, clock, begin } = await openDeliveries();
    const { webhooks, timers, looks, hears, create } = begin();
    const elsewhere = begin({ urls: [] });
    const session = await elsewhere.create('sesn_1');
    webhooks.start();
    await receiver.came(1);
    await looks();
    await hears();
    await session.delete();
    clock.advance(webhookLimits.webhookSweepMs - webhookLimits.webhookLookMs - 1);
    timers.advance(webhookLimits.webhookLookMs);
    await looks();
    await create('sesn_2');
    await receiver.came(2);
    await hears();
    timers.advance(webhookLimits.webhookLookMs);
    await receiver.came(3);
    expect(webhookLimits.webhookSweepMs).toBe(600_000);
    expect(receiver.attempts.map(({ event }) => `${event.data.id} ${event.data.type}`)).toEqual([
      'sesn_1 session.created',
      'sesn_2 session.created',
      'sesn_1 session.deleted',
    ]);
  });

  it('[W74] everything kept for an address is removed three days after it was last configured', async () => {
    const { receiver, clock, store, begin } = await openDeliveries();
    const first = begin();
    await first.create('sesn_1');
    await vi.waitFor(() => expect(receiver.types()).toHaveLength(1), patience);
    first.webhooks.start();
    await first.looks();
    await first.webhooks.close();
    const kept = async () => {
      const { items } = await store.documents.list({ kind: 'webhook', limit: 10 });
      const cursors = items.map(({ id }) => store.documents.list({ kind: `webhook_place_${id}`, limit: 10 }));
      return (await Promise.all(cursors)).map(({ items: all }) => all.length).toSorted((one, other) => one - other);
    };
    const startOther = async () => {
      const { webhooks, looks } = begin({ urls: ['http://127.0.0.1:9/'] });
      webhooks.start();
      await looks();
      await webhooks.close();
    };
    clock.advance(webhookLimits.webhookKeepMs);
    await startOther();
    expect(await kept()).toEqual([0, 1]);
    clock.advance(1);
    await startOther();
    expect(await kept()).toEqual([0]);
  });
});

describe('webhooks of several nodes', () => {
  it('[W69] one node at a time delivers a session; another one continues when its claim expires', async () => {
    const { receiver, begin } = await openDeliveries();
    const [one, other] = [begin({ holder: 'one' }), begin({ holder: 'other' })];
    receiver.answer = () => undefined;
    const session = await one.create('sesn_1', ['session.status_running']);
    await receiver.came(1);
    receiver.answer = () => ({ status: 200 });
    // The other one finds it, and leaves it to the first.
    other.webhooks.start();
    await other.rests();
    other.timers.advance(webhookLimits.webhookClaimMs - 1);
    await other.rests();
    expect(receiver.attempts).toHaveLength(1);
    await session.append('session.status_idle');
    other.timers.advance(webhookLimits.webhookLookMs);
    await vi.waitFor(() => expect(receiver.types()).toHaveLength(3), patience);
    expect(receiver.types()).toEqual(['session.created', 'session.status_run_started', 'session.status_idled']);
  });

  it('[W69] events of sessions that both nodes notice are sent once', async () => {
    const { receiver, begin } = await openDeliveries();
    const nodes = [begin({ holder: 'one' }), begin({ holder: 'other' })];
    await Promise.all(
      nodes.flatMap((node, at) => [0, 1, 2].map((n) => node.create(`sesn_${at}${n}`, ['session.updated']))),
    );
    // Each finds the session that the other one delivers at the moment.
    for (const { webhooks } of nodes) webhooks.start();
    await vi.waitFor(() => expect(receiver.types()).toHaveLength(12), patience);
    for (const { looks, hears } of nodes) await Promise.all([looks(), hears()]);
    expect(new Set(receiver.attempts.map(({ event }) => event.id)).size).toBe(receiver.attempts.length);
  });
});
