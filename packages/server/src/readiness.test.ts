import { expect, it } from 'vitest';
import { createManualClock } from './base/clock.ts';
import { limits } from './base/limits.ts';
import { createManualSchedule } from './base/manual-schedule.suite.ts';
import { createReadiness } from './readiness.ts';

it('[P67] a database that answers within the limit is there; one that does not, or complains, is away', async () => {
  const { schedule, advance, waiting } = createManualSchedule(createManualClock());
  const answers: (() => void)[] = [];
  const isReady = createReadiness({ now: () => new Promise((resolve) => answers.push(() => resolve(0))) }, schedule);
  const inTime = isReady();
  advance(limits.readyMs - 1);
  answers[0]!();
  expect(await inTime).toBe(true);
  const tooLate = isReady();
  advance(limits.readyMs);
  expect(await tooLate).toEqual({ reason: 'database' });
  const isAway = createReadiness({ now: () => Promise.reject(new Error('away')) }, schedule);
  expect(await isAway()).toEqual({ reason: 'database' });
  expect(waiting()).toBe(0);
});
