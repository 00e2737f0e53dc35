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
import { Admission } from './admission.ts';

const { admissionSlots, admissionWaitMs, admissionWaitingMax, admissionDelayMs, admissionSlotMs } = httpLimits;

function open() {
  const clock = createManualClock();
  const state = { delayMs: 0 };
  const problems: Error[] = [];
  const onProblem = (problem: Error) => void problems.push(problem);
  const admission = new Admission({ clock, delayMs: () => state.delayMs, random: () => 0.5, onProblem });
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
  for (let index = 0; index < admissionSlots + 2; index++) void enter();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([admissionSlots, 2]);
  leaves[0]!();
  await settle();
  expect([count('in'), admission.waiting]).toEqual([admissionSlots + 1, 1]);
  // Requests that wait for something else, such as a clone, do not keep the others out.
  await pass(admissionSlotMs);
  expect([count('in'), admission.waiting]).toEqual([admissionSlots + 2, 0]);
});

it('[P114] while what is due is late, one request for work is let in at a time; one that has waited for the limit is rejected, and so are all beyond the limit of waiting ones', async () => {
  const { admission, state, problems, enter, leaves, count, pass } = open();
  state.delayMs = admissionDelayMs;
  void enter();
  void enter();
  await pass(admissionWaitMs - admissionSlotMs / 2);
  // The first one no longer counts after half of the time, and the second one is let in for it.
  expect([count('in'), admission.waiting]).toEqual([2, 0]);
  for (let index = 0; index < admissionWaitingMax; index++) void enter();
  await settle();
  expect(admission.waiting).toBe(admissionWaitingMax);
  void enter();
  await settle();
  expect([count('overloaded'), admission.rejected]).toEqual([1, 1]);
  await pass(admissionWaitMs);
  expect([admission.waiting, count('in') + count('overloaded')]).toEqual([0, admissionWaitingMax + 3]);
  expect(count('in')).toBeLessThan(6);
  expect(problems.map(String)).toEqual([
    expect.stringContaining('rejected with 529 overloaded until it has caught up'),
  ]);
  state.delayMs = admissionDelayMs - 1;
  for (const leave of leaves) leave();
  const before = count('in');
  for (let index = 0; index < admissionSlots; index++) void enter();
  await settle();
  expect(count('in') - before).toBe(admissionSlots);
});

it('[P114] a request that would wait for longer than the limit, at the rate of the last second, is rejected when it arrives', async () => {
  const { admission, enter, leaves, count, pass } = open();
  for (let index = 0; index < 100; index++) void enter();
  // One in 50 ms: 20 a second.
  for (let tick = 0; tick < admissionWaitMs / 2 / baseLimits.loopLagTickMs; tick++) {
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
  const admission = new Admission({
    clock: { steady: () => 0 },
    delayMs: () => admissionDelayMs,
    random: () => 0.99,
    onProblem: () => {},
  });
  // Nothing leaves, and nothing is let in.
  await admission.enter();
  for (let index = 0; index < admissionWaitingMax; index++) void admission.enter();
  const routes = [toRoute('always', true), toRoute('some', ({ work }) => work === true), toRoute('never')];
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
