import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { environmentLimits } from './limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createPollers } from './pollers.ts';

it('[W6] a limited number of workers is remembered, and the least recently seen one is dropped', () => {
  const clock = createManualClock();
  const pollers = createPollers({ store: createMemoryStore(), clock, schedule: systemSchedule });
  for (let worker = 0; worker < environmentLimits.workersSeenMax; worker++) pollers.seen('env_1', `${worker}`);
  expect(pollers.count('env_1')).toBe(environmentLimits.workersSeenMax);
  pollers.seen('env_2', 'one more');
  expect([pollers.count('env_1'), pollers.count('env_2')]).toEqual([environmentLimits.workersSeenMax - 1, 1]);
  pollers.close();
});

it('[W4] a poll that waits when the server stops ends', async () => {
  const pollers = createPollers({ store: createMemoryStore(), clock: createManualClock(), schedule: systemSchedule });
  const waiting = pollers.until(async () => undefined, 999, new AbortController().signal);
  pollers.close();
  expect(await waiting).toBeUndefined();
});
