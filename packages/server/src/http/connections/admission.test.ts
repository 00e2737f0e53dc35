import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createManualClock } from '../../base/clock.ts';
import { baseLimits } from '../../base/limits.ts';
import { watchLoopLag } from '../../base/loop-lag.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { httpLimits } from '../limits.ts';
import { defineRoute } from '../routing/route.ts';
import { withHttpServer } from '../server/http-server.suite.ts';
import { Admission, type AdmissionKind } from './admission.ts';
import { quantile, simulateLoad } from './simulated-load.suite.ts';

const { admissionWaitingMax, admissionDelayMs, admissionSlowMs, admissionSlowIdleMs, admission: slots } = httpLimits;

function open(kind: AdmissionKind = 'work') {
  const clock = createManualClock();
  const state = { delayMs: 0, busyShare: 0 };
  const problems: Error[] = [];
  const onProblem = (problem: Error) => void problems.push(problem);
  const admission = new Admission({
    kind,
    clock,
    delayMs: () => state.delayMs,
    busyShare: () => state.busyShare,
    random: () => 0.5,
    onProblem,
  });
  const outcomes: string[] = [];
  const leaves: (() => void)[] = [];
  const enter = () =>
    admission.enter().then(
      (leave) => {
        leaves.push(leave);
        outcomes.push('in');
      },
      (error: { code: string }) => outcomes.push(error.code),
    );
  /** Ticks pass as they would in a server. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += baseLimits.loopLagTickMs) {
      clock.advance(Math.min(baseLimits.loopLagTickMs, ms - passed));
      admission.tick();
      await settle();
    }
  };
  const count = (outcome: string) => outcomes.filter((each) => each === outcome).length;
  return { admission, state, problems, enter, leaves, pass, count };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('[P114] as many requests for work are under way as there are slots, the others wait in their order, and one is let in for each that ends', async () => {
  const { admission, enter, leaves, count, pass } = open();
  for (let index = 0; index < slots.work.most + 2; index++) void enter();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([slots.work.most, 2]);
  leaves[0]!();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([slots.work.most + 1, 1]);
  // While the process has time, requests that wait for something else, such as a clone, do not keep the others out.
  await pass(admissionSlowIdleMs - baseLimits.loopLagTickMs);
  expect([count('in'), admission.waiting]).toEqual([slots.work.most + 1, 1]);
  await pass(baseLimits.loopLagTickMs);
  expect([count('in'), admission.waiting]).toEqual([slots.work.most + 2, 0]);
});

it('[P134] a request counts as under way until it ends while the process is busy, and fewer are let in at a time after each that took long', async () => {
  const { admission, state, enter, leaves, count, pass } = open();
  state.busyShare = httpLimits.admissionBusyShare;
  for (let index = 0; index < slots.work.most + 4; index++) void enter();
  await pass(admissionSlowMs + 100);
  expect([count('in'), admission.waiting]).toEqual([slots.work.most, 4]);
  const fewer = Math.floor(slots.work.most * httpLimits.admissionSlotsFactor);
  for (const leave of leaves.splice(0, slots.work.most - fewer)) leave();
  await settle();
  // All that ran at the same time count once.
  expect([count('in'), admission.waiting]).toEqual([slots.work.most, 4]);
  leaves.shift()!();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([slots.work.most + 1, 3]);
  // The number grows again while all are in use and quick.
  while (leaves.length > 0) {
    leaves.shift()!();
    await settle();
  }
  for (let index = 0; index < slots.work.most; index++) void enter();
  await settle();
  for (let round = 0; round < 20 * slots.work.most; round++) {
    void enter();
    leaves.shift()!();
    await settle();
  }
  expect(leaves).toHaveLength(slots.work.most);
});

it('[P134] requests that wait for something else reduce the number only after a second, and not below four', async () => {
  const { enter, leaves, count, pass } = open();
  for (let index = 0; index < slots.work.most; index++) void enter();
  await pass(admissionSlowIdleMs - baseLimits.loopLagTickMs);
  for (const leave of leaves.splice(0)) leave();
  for (let round = 0; round < 10; round++) {
    const before = count('in');
    for (let index = 0; index < slots.work.most; index++) void enter();
    await settle();
    // Nothing was slow before the first round.
    if (round === 0) expect(count('in') - before).toBe(slots.work.most);
    if (round === 9) expect(count('in') - before).toBe(httpLimits.admissionIdleSlots);
    await pass(2 * admissionSlowIdleMs);
    for (const leave of leaves.splice(0)) leave();
    await pass(2 * admissionSlowIdleMs);
  }
});

it('[P114] while what is due is late, one request for work is let in at a time; one that has waited for the limit is rejected, and so are all beyond the limit of waiting ones', async () => {
  const { admission, state, problems, enter, leaves, count, pass } = open();
  state.delayMs = admissionDelayMs;
  state.busyShare = 1;
  for (let index = 0; index < admissionWaitingMax + 1; index++) void enter();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([1, admissionWaitingMax]);
  void enter();
  await settle();
  expect([count('overloaded'), admission.rejected]).toEqual([1, 1]);
  leaves.shift()!();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([2, admissionWaitingMax - 1]);
  await pass(slots.work.waitMs);
  expect([admission.waiting, count('in'), count('overloaded')]).toEqual([0, 2, admissionWaitingMax]);
  expect(problems.map(String)).toEqual([
    expect.stringContaining('new requests for work are rejected with 529 overloaded until it has caught up'),
  ]);
  leaves.shift()!();
  state.delayMs = admissionDelayMs - 1;
  const before = count('in');
  for (let index = 0; index < slots.work.most; index++) void enter();
  await settle();
  expect(count('in') - before).toBeGreaterThan(slots.work.most / 2);
});

it('[P203] a request waits for less where the last ones took long, so that it is still answered in time', async () => {
  const { state, enter, leaves, count, pass, admission } = open();
  state.busyShare = 1;
  const tookMs = 900;
  for (let round = 0; round < httpLimits.admissionServed; round++) {
    void enter();
    // One of ten waits for something else.
    await pass(round % 10 === 0 ? 5 * tookMs : tookMs);
    leaves.shift()!();
  }
  // A short queue waits for as long as it may.
  const short = httpLimits.admissionQueueLeast - 1;
  for (let index = 0; index < slots.work.least + short + 1; index++) void enter();
  await settle();
  expect(admission.waiting).toBe(short + 1);
  await pass(slots.work.answerMs - tookMs - baseLimits.loopLagTickMs);
  expect([admission.waiting, count('overloaded')]).toEqual([short + 1, 0]);
  await pass(baseLimits.loopLagTickMs);
  expect([admission.waiting, count('overloaded')]).toEqual([short, 1]);
  await pass(slots.work.waitMs - (slots.work.answerMs - tookMs));
  expect([admission.waiting, count('overloaded')]).toEqual([0, short + 1]);
});

it('[P203] a request may always wait for a moment, however long the last ones took', async () => {
  const { state, enter, leaves, count, pass } = open();
  state.busyShare = 1;
  for (let round = 0; round < httpLimits.admissionServed; round++) {
    void enter();
    await pass(2 * slots.work.answerMs);
    leaves.shift()!();
  }
  for (let index = 0; index < slots.work.least + httpLimits.admissionQueueLeast; index++) void enter();
  await pass(httpLimits.admissionWaitLeastMs - baseLimits.loopLagTickMs);
  expect(count('overloaded')).toBe(0);
  await pass(baseLimits.loopLagTickMs);
  expect(count('overloaded')).toBe(1);
});

it('[P135] reads have slots of their own, of which some are open however late everything is', async () => {
  const { state, enter, leaves, count, pass } = open('reads');
  for (let index = 0; index < 2 * slots.reads.most; index++) void enter();
  await settle();
  expect(count('in')).toBe(slots.reads.first);
  state.delayMs = admissionDelayMs;
  for (const leave of leaves) leave();
  await settle();
  expect(count('in')).toBe(slots.reads.first + slots.reads.least);
  await pass(slots.reads.waitMs);
  expect(count('overloaded')).toBe(2 * slots.reads.most - slots.reads.first - slots.reads.least);
});

it('[P114] a request that would wait for longer than the limit, at the rate of the last second, is rejected when it arrives', async () => {
  const { admission, enter, leaves, count, pass } = open();
  for (let index = 0; index < 100; index++) void enter();
  // One in 50 ms: 20 a second.
  for (let tick = 0; tick < slots.work.queueMs / 2 / baseLimits.loopLagTickMs; tick++) {
    await pass(baseLimits.loopLagTickMs);
    leaves.shift()!();
  }
  await settle();
  expect(admission.waiting).toBeGreaterThan(20);
  const before = admission.waiting;
  void enter();
  await settle();
  expect([count('overloaded'), admission.waiting]).toEqual([1, before]);
});

it('[P114] the delay of the event loop is that of the last timer or of one that is overdue, and its maximum lasts for a window', () => {
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const lag = watchLoopLag(clock, schedule);
  advance(baseLimits.loopLagTickMs + 30);
  expect([lag.lagMs, lag.longestMs]).toEqual([30, 30]);
  advance(baseLimits.loopLagTickMs);
  expect([lag.lagMs, lag.longestMs]).toEqual([0, 30]);
  clock.advance(baseLimits.loopLagTickMs + 7);
  expect(lag.lagMs).toBe(7);
  for (let passed = 0; passed < 2 * baseLimits.loopLagWindowMs; passed += baseLimits.loopLagTickMs) {
    advance(baseLimits.loopLagTickMs);
  }
  expect(lag.longestMs).toBe(0);
  lag.close();
});

it('[P115] an overloaded server rejects requests for new work with 529, retry-after and no effect, before their key is checked; other requests are served', async () => {
  let runs = 0;
  const toRoute = (path: string, startsWork?: true | ((body: { work?: boolean | undefined }) => boolean)) =>
    defineRoute({
      name: path,
      summary: path,
      method: 'post',
      path: `/v1/${path}`,
      accepts: ['api'],
      body: z.strictObject({ work: z.boolean().optional() }),
      ...(startsWork === undefined ? {} : { startsWork }),
      gives: z.looseObject({}),
      handle: async () => ({ runs: (runs += 1) }),
    });
  const openFull = async (kind: AdmissionKind, waiting: number) => {
    const admission = new Admission({
      kind,
      clock: { steady: () => 0 },
      delayMs: () => admissionDelayMs,
      busyShare: () => 1,
      random: () => 0.99,
      onProblem: () => {},
    });
    // Nothing leaves, and nothing is let in.
    for (let index = 0; index < slots[kind].least; index++) await admission.enter();
    for (let index = 0; index < waiting; index++) void admission.enter();
    return admission;
  };
  const admission = {
    work: await openFull('work', admissionWaitingMax),
    reads: await openFull('reads', admissionWaitingMax),
  };
  const list = defineRoute({
    name: 'list',
    summary: 'list',
    method: 'get',
    path: '/v1/list',
    accepts: ['api'],
    gives: z.looseObject({}),
    handle: async () => ({ runs: (runs += 1) }),
  });
  const routes = [toRoute('always', true), toRoute('some', ({ work }) => work === true), toRoute('never'), list];
  await withHttpServer({ routes, admission }, async ({ server, send, errors }) => {
    const post = (path: string, body: object) => send({ method: 'POST', path: `/v1/${path}`, body });
    for (const [path, body] of [
      ['always', {}],
      ['some', { work: true }],
    ] as const) {
      const { status, headers, json } = await post(path, body);
      expect([status, headers['retry-after'], json.error.type]).toEqual([529, '3', 'overloaded_error']);
      expect(json.error.details).toEqual({ error_code: 'overloaded' });
    }
    expect((await send({ path: '/v1/list' })).status).toBe(529);
    expect(runs).toBe(0);
    expect((await post('some', { work: false })).json).toEqual({ runs: 1 });
    expect((await post('never', {})).json).toEqual({ runs: 2 });
    expect((await send({ path: '/healthz' })).status).toBe(200);
    // Not one line in the log for each.
    expect(errors).toEqual([]);
    // A client that keeps its connection is rejected any number of times, and leaves nothing behind on it.
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 20; index++) {
      await new Promise<void>((resolve, reject) => {
        const sent = request(`${server.url}/v1/always`, { method: 'POST', agent }, (response) => {
          response.resume().on('end', resolve);
        });
        sent.on('error', reject).end('{"work":true}');
      });
    }
    await settle();
    process.off('warning', onWarning);
    agent.destroy();
    expect(warnings).toEqual([]);
  });
});

it.each([1, 5, 20, 50])(
  '[P136] on a machine that is %i times slower, at three times its capacity, accepted requests take at most 2 s, most of the machine is used, and it has caught up 5 s after the last request',
  async (slowness) => {
    const request = { ms: 0.8, turns: 8 };
    for (const [kind, place, work] of [
      ['work', 'loop', { ms: 1, turns: 10 }],
      ['work', 'loop', { ms: 4, turns: 60 }],
      ['work', 'database', { ms: 1, turns: 10 }],
      ['reads', 'loop', { ms: 0, turns: 1 }],
    ] as const) {
      const load = { kind, place, costs: { arrivalMs: 0.2, request, work }, slowness };
      const half = await simulateLoad({ ...load, times: 0.5, durationMs: 4_000 });
      expect(half.rejectedMs).toEqual([]);
      const over = await simulateLoad({ ...load, times: 3, durationMs: slowness === 1 ? 4_000 : 20_000 });
      const figures = `${slowness} ${kind} in the ${place}, ${work.turns}: p99 ${quantile(over.acceptedMs, 0.99)} ms, ${over.used} used, ${over.recoveryMs} ms`;
      const atMostMs = kind === 'work' ? 2_000 : 5_000;
      expect(quantile(over.acceptedMs, 0.99), figures).toBeLessThan(atMostMs);
      expect(quantile(over.rejectedMs, 0.99), figures).toBeLessThan(atMostMs);
      // The rest of it rejects.
      expect(over.used, figures).toBeGreaterThan(0.6);
      expect(over.runningMax, figures).toBeLessThan(200);
      expect(over.recoveryMs, figures).toBeLessThan(5_000);
    }
  },
);
