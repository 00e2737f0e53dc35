import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { sessionLimits } from '../../core/limits.ts';
import { hang, openFleet, solo } from '../../suite/fleet.suite.ts';
import { openMemory } from '../../suite/stores.suite.ts';
import type { WorkspaceLocations } from '../../../nodes/workspace-locations.ts';

it('[P127] sessions that a process owns, runs, takes over and loses are counted, and those that wait for their node', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  const first = await openFleet({ store, clock, schedule: time.schedule, owner: 'first', shared: {} });
  await Promise.all([1, 2].map(() => first.begin(solo, { turns: [[hang]] })));
  await expect
    .poll(() => first.sessions.figures())
    .toMatchObject({ owned: 2, running: 2, takenOver: 0, lost: { lease: 0, failure: 0 } });
  await first.close();

  let place: 'elsewhere' | 'none' = 'elsewhere';
  const locations: WorkspaceLocations = {
    find: async () => place,
    settle: async () => {},
    leave: async () => {},
    isHere: async () => false,
  };
  const next = await openFleet({ store, clock, schedule: time.schedule, owner: 'next', shared: { locations } });
  const figures = () => next.sessions.figures();
  // The first look finds out where they are, the next one counts them.
  await expect
    .poll(async () => {
      time.advance(sessionLimits.sharedTickMs);
      await new Promise((resolve) => setImmediate(resolve));
      return figures();
    })
    .toMatchObject({ owned: 0, withoutOwner: 2, waitingForNode: 2 });
  place = 'none';
  await expect
    .poll(async () => {
      time.advance(sessionLimits.sharedTickMs);
      await new Promise((resolve) => setImmediate(resolve));
      return figures();
    })
    .toMatchObject({ owned: 2, running: 2, takenOver: 2, withoutOwner: 0, waitingForNode: 0 });

  // The process stood still for longer than a lease.
  clock.advance(sessionLimits.sharedLeaseMs);
  expect(figures().owned).toBe(0);
  time.advance(sessionLimits.sharedTickMs);
  await expect.poll(() => figures().lost).toEqual({ lease: 2, failure: 0 });
});
