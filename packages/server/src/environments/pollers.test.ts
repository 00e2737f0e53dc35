import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createPollers } from './pollers.ts';

it('[W6] only so many workers are remembered, and the one that was away for longest is forgotten', () => {
  const clock = createManualClock();
  const pollers = createPollers({ store: createMemoryStore(), clock, schedule: systemSchedule });
  for (let worker = 0; worker < limits.workersSeenMax; worker++) pollers.seen('env_1', `${worker}`);
  expect(pollers.count('env_1')).toBe(limits.workersSeenMax);
  pollers.seen('env_2', 'one more');
  expect([pollers.count('env_1'), pollers.count('env_2')]).toEqual([limits.workersSeenMax - 1, 1]);
  pollers.close();
});

it('[W4] whoever waits when the server stops is let go', async () => {
  const pollers = createPollers({ store: createMemoryStore(), clock: createManualClock(), schedule: systemSchedule });
  const waiting = pollers.until(async () => undefined, 999, new AbortController().signal);
  pollers.close();
  expect(await waiting).toBeUndefined();
});
