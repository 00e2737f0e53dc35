import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { sessionLimits } from '../../core/limits.ts';
import { systemSchedule } from '../../../base/schedule.ts';
import { agent, openFleet } from '../../suite/fleet.suite.ts';
import { ProgramDriver } from './program-driver.ts';
import { begins, createTestPrograms, ends, says, turnBegins } from './test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;

it('[J172] a limited number of writes wait for the disk; then no more output is read, and all of it in the meantime is one write', async () => {
  const { driver, program, writes } = await open();
  for (let at = 0; at < sessionLimits.programWritesMax; at++) {
    program.emit(at === 0 ? turnBegins : begins());
    await vi.waitFor(() => expect(writes).toHaveLength(at + 1), 20_000);
  }
  program.emit(says('One.'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  program.emit(ends());
  expect(writes).toHaveLength(sessionLimits.programWritesMax);
  writes[0]!.end();
  await vi.waitFor(() => expect(writes).toHaveLength(sessionLimits.programWritesMax + 1), 20_000);
  expect(writes.at(-1)!.types).toEqual(['block_ended', 'request_ended']);
  for (const { end } of writes) end();
  await driver.drop();
});

/** A driver in the place of that of a session, with a disk that is as slow as the test wants. */
async function open() {
  const sessions = createTestPrograms();
  const fleet = await openFleet({ programs: sessions });
  const id = await fleet.begin({ ...agent('main', []), model }, 'Go.');
  await sessions.wait();
  const programs = createTestPrograms();
  const writes: { types: string[]; end: () => void }[] = [];
  const state = await fleet.state(id);
  const driver = new ProgramDriver({
    engine: programs,
    openWorkspace: async () => '/nowhere',
    costNanoUsd: () => null,
    state,
    rootId: state.created.primary_thread_id,
    nextEventId: () => 'sevt_1',
    clock: systemClock,
    schedule: systemSchedule,
    writeDelta: async () => {},
    files: null,
    dispatch: (events) =>
      new Promise((end) => writes.push({ types: events.map(({ event }) => event.type), end: () => end() })),
  });
  const [said] = (await fleet.frames(id)).filter(({ type }) => type === 'user.message');
  driver.begin([said!]);
  return { driver, program: await programs.wait(), writes };
}
