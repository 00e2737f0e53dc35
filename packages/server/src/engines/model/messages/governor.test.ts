import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { modelLimits } from '../limits.ts';
import { never } from '../suite/send-request.suite.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { createGovernor, type GovernorOptions, type Permit } from './governor.ts';

const answered = { type: 'answered' } as const;
const other = { type: 'other' } as const;

function create(options: GovernorOptions = {}) {
  const clock = createManualClock();
  const { schedule, advance, waiting } = createManualSchedule(clock);
  return { governor: createGovernor({ clock, schedule, ...options }), advance, timers: waiting };
}

describe('how many at once', () => {
  it('[N19] no more requests are under way than allowed', async () => {
    const { governor } = create({ concurrencyMax: 2 });
    const first = await take(governor.acquire('a', never));
    await take(governor.acquire('b', never));
    let isThird = false;
    const third = governor.acquire('c', never).then(() => (isThird = true));
    await tick();
    expect(isThird).toBe(false);
    expect(governor.counters()).toMatchObject({ active: 2, waiting: 1, limit: 2, granted: 2 });
    first.release(other);
    await third;
    expect(governor.counters()).toMatchObject({ active: 2, waiting: 0, granted: 3 });
  });

  it('[N19] the default number of concurrent requests comes from the limits', async () => {
    const { governor } = create();
    const asked = Array.from({ length: modelLimits.governorConcurrencyMax + 1 }, async () =>
      governor.acquire('a', never),
    );
    await tick();
    expect(governor.counters()).toMatchObject({ active: modelLimits.governorConcurrencyMax, waiting: 1 });
    (await take(asked[0])).release(other);
    await Promise.all(asked);
  });

  it('[N19] a permit that is given back twice counts once', async () => {
    const { governor } = create({ concurrencyMax: 1 });
    const permit = await take(governor.acquire('a', never));
    permit.release(other);
    permit.release(other);
    expect(governor.counters().active).toBe(0);
  });
});

describe('who waits', () => {
  it('[N20] threads take turns, however many requests one of them has', async () => {
    const { governor } = create({ concurrencyMax: 1 });
    const order: string[] = [];
    const held = await take(governor.acquire('x', never));
    const asked = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
      const permit = await take(governor.acquire(name.slice(0, 1), never));
      order.push(name);
      permit.release(other);
    });
    held.release(other);
    await Promise.all(asked);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('[N21] the queue is bounded, and states it', async () => {
    const { governor } = create({ concurrencyMax: 1, queueMax: 2 });
    const held = await take(governor.acquire('a', never));
    const waiting = [governor.acquire('a', never), governor.acquire('a', never)];
    await expect(governor.acquire('b', never)).rejects.toMatchObject({ code: 'endpoint_busy', kind: 'retryable' });
    held.release(other);
    (await take(waiting[0])).release(other);
    (await take(waiting[1])).release(other);
    expect(governor.counters()).toMatchObject({ active: 0, waiting: 0 });
  });

  it('[N21] the default number of waiting requests comes from the limits', async () => {
    const { governor } = create({ concurrencyMax: 1 });
    const controller = new AbortController();
    await governor.acquire('a', never);
    const { signal } = controller;
    const waiting = Array.from({ length: modelLimits.governorQueueMax }, async () => governor.acquire('a', never));
    await expect(governor.acquire('a', signal)).rejects.toMatchObject({ code: 'endpoint_busy' });
    expect(waiting).toHaveLength(governor.counters().waiting);
  });

  it('[N22] an interrupted request leaves the queue at once, and takes no permit', async () => {
    const { governor } = create({ concurrencyMax: 1 });
    const held = await take(governor.acquire('a', never));
    const controller = new AbortController();
    const interrupted = governor.acquire('b', controller.signal);
    const patient = governor.acquire('c', never);
    controller.abort();
    expect(await interrupted).toBeUndefined();
    expect(governor.counters().waiting).toBe(1);
    held.release(other);
    expect(await patient).toBeDefined();
    expect(await governor.acquire('d', controller.signal)).toBeUndefined();
    expect(governor.counters()).toMatchObject({ active: 1, waiting: 0 });
  });
});

it('[N22] nothing is left behind on a signal', async () => {
  const { governor } = create({ concurrencyMax: 1 });
  const { signal } = new AbortController();
  const first = await take(governor.acquire('a', signal));
  const second = governor.acquire('a', signal);
  first.release(other);
  (await take(second)).release(other);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('when the endpoint complains', () => {
  it('[N23] the bound halves once for all requests that were under way, and not below one', async () => {
    const { governor } = create({ concurrencyMax: 8 });
    const permits = await Promise.all(Array.from({ length: 8 }, async () => take(governor.acquire('a', never))));
    for (const permit of permits) permit.release({ type: 'pushed_back', retryAfterMs: null });
    expect(governor.counters()).toMatchObject({ limit: 4, pushedBack: 8, active: 0 });
    for (const limit of [2, 1, 1]) {
      (await take(governor.acquire('a', never))).release({ type: 'pushed_back', retryAfterMs: null });
      expect(governor.counters().limit).toBe(limit);
    }
  });

  it('[N23] the bound grows by one for every round of answers, up to where it was', async () => {
    const { governor } = create({ concurrencyMax: 4 });
    (await take(governor.acquire('a', never))).release({ type: 'pushed_back', retryAfterMs: null });
    const seen: number[] = [];
    for (let count = 0; count < 9; count++) {
      (await take(governor.acquire('a', never))).release(answered);
      seen.push(governor.counters().limit);
    }
    expect(seen).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 4]);
    (await take(governor.acquire('a', never))).release(other);
    expect(governor.counters().limit).toBe(4);
  });

  it('[N24] nothing starts until the pause is over that the endpoint asked for', async () => {
    const { governor, advance, timers } = create({ concurrencyMax: 4 });
    (await take(governor.acquire('a', never))).release({ type: 'pushed_back', retryAfterMs: 7_000 });
    let isGranted = false;
    const asked = governor.acquire('b', never).then(() => (isGranted = true));
    advance(6_999);
    await tick();
    expect(isGranted).toBe(false);
    expect(governor.counters().pausedMs).toBe(1);
    advance(1);
    await asked;
    expect(governor.counters().pausedMs).toBe(0);
    expect(timers()).toBe(0);
  });

  it('[N24] a timer that fires a moment early leaves no request waiting', async () => {
    const clock = createManualClock();
    const { schedule, advance } = createManualSchedule(clock);
    const hasty = (run: () => void, delayMs: number) => schedule(run, delayMs > 1 ? delayMs - 1 : delayMs);
    const governor = createGovernor({ clock, schedule: hasty, concurrencyMax: 4 });
    (await take(governor.acquire('a', never))).release({ type: 'pushed_back', retryAfterMs: 100 });
    const asked = governor.acquire('b', never);
    advance(99);
    expect(governor.counters()).toMatchObject({ waiting: 1, pausedMs: 1 });
    advance(1);
    expect(await asked).toBeDefined();
  });

  it('[N24] the longest of several pauses counts', async () => {
    const { governor, advance } = create({ concurrencyMax: 4 });
    const permits = await Promise.all(['a', 'b', 'c'].map(async (id) => take(governor.acquire(id, never))));
    for (const [at, retryAfterMs] of [1_000, 5_000, 2_000].entries()) {
      permits[at]?.release({ type: 'pushed_back', retryAfterMs });
    }
    expect(governor.counters().pausedMs).toBe(5_000);
    const asked = governor.acquire('a', never);
    advance(5_000);
    expect(await asked).toBeDefined();
  });

  it('[N24] the pause that an endpoint requests is bounded', async () => {
    const { governor } = create();
    (await take(governor.acquire('a', never))).release({
      type: 'pushed_back',
      retryAfterMs: modelLimits.governorPauseMsMax,
    });
    expect(governor.counters().pausedMs).toBe(modelLimits.governorPauseMsMax);
    const { governor: another } = create();
    (await take(another.acquire('a', never))).release({
      type: 'pushed_back',
      retryAfterMs: modelLimits.governorPauseMsMax + 1,
    });
    expect(another.counters().pausedMs).toBe(modelLimits.governorPauseMsMax);
  });
});

describe('always', () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant('acquire' as const), thread: fc.constantFrom('a', 'b', 'c') }),
    fc.record({
      do: fc.constant('release' as const),
      at: fc.nat(20),
      outcome: fc.constantFrom('answered', 'pushed_back', 'other'),
    }),
    fc.record({ do: fc.constant('interrupt' as const), at: fc.nat(20) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3_000) }),
  );

  it('[N19] in random runs the bound holds, no permit is lost and every request is served', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { governor, advance } = create({ concurrencyMax: 3, queueMax: 1_000 });
        const active: Permit[] = [];
        const controllers: AbortController[] = [];
        const asked: Promise<unknown>[] = [];
        for (const step of actions) {
          if (step.do === 'acquire') {
            const controller = new AbortController();
            controllers.push(controller);
            const granted = governor.acquire(step.thread, controller.signal);
            asked.push(granted.then((permit) => permit !== undefined && active.push(permit)));
          } else if (step.do === 'release') {
            const type = step.outcome;
            active
              .splice(step.at, 1)[0]
              ?.release(
                type === 'pushed_back'
                  ? { type, retryAfterMs: 1_000 }
                  : { type: type === 'answered' ? 'answered' : 'other' },
              );
          } else if (step.do === 'interrupt') controllers[step.at]?.abort();
          else advance(step.ms);
          await tick();
          const counters = governor.counters();
          expect(counters.active).toBe(active.length);
          expect(counters.active).toBeLessThanOrEqual(3);
          expect(counters.limit).toBeGreaterThanOrEqual(1);
          if (counters.waiting > 0 && counters.pausedMs === 0)
            expect(counters.active).toBeGreaterThanOrEqual(counters.limit);
        }
        while (governor.counters().active + governor.counters().waiting > 0) {
          for (const permit of active.splice(0)) permit.release(other);
          advance(1_000);
          await tick();
        }
        await Promise.all(asked);
      }),
      { numRuns: 200 },
    );
  });
});

async function take(permit: Promise<Permit | undefined> | undefined): Promise<Permit> {
  const taken = await permit;
  if (taken === undefined) throw new Error('no permit');
  return taken;
}

async function tick(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
