import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { primaryOf } from '../core/state/state.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { ControlRequest } from '../../engines/program/program-controls.ts';
import type { FrameType } from '../../frames/frames.ts';
import type { ProgramEvent } from '../../engines/program/program.ts';
import { agent, message, openFleet, workspaceId } from '../suite/fleet.suite.ts';
import { begins, createTestPrograms, ends, says, turnBegins, turnEnds } from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', []), model };
const opened: ProgramEvent = { type: 'opened', key: 'main', conversation: 'c1', version: null };
const rewind = (messageId: string, isDryRun = false): ControlRequest => ({ type: 'rewind', messageId, isDryRun });

it('[R370] the program that runs is asked for its usage and the diff, also while it works', async () => {
  const { id, ask, program } = await open();
  expect(await ask(id, { type: 'usage' })).toMatchObject({ type: 'answered', answer: { type: 'usage', costUsd: 0.5 } });
  expect(await ask(id, { type: 'diff' })).toMatchObject({ type: 'answered', answer: { reason: 'no-repository' } });
  expect(program.heard.slice(-2)).toEqual(['usage', 'diff']);
});

it('[R371] a rewind is logged with its files and its caller, a dry run and a refused one are not', async () => {
  const { id, ask, program, fleet, end } = await open();
  await end();
  const rewound = async () =>
    (await fleet.frames(id)).flatMap((frame) => (frame.type === 'program.files_rewound' ? [frame.payload] : []));
  expect(await ask(id, rewind('sevt_1', true))).toMatchObject({ type: 'answered', answer: { isDryRun: true } });
  expect(await ask(id, rewind('sevt_unknown'))).toEqual({
    type: 'refused',
    code: 'not_rewindable',
    problem: 'the program refused for sevt_unknown: No such checkpoint',
  });
  expect(await rewound()).toEqual([]);
  expect(await ask(id, rewind('sevt_1'))).toMatchObject({ type: 'answered', answer: { files: ['a.txt'] } });
  const said = { message_id: 'sevt_1', by: 'me', files: ['a.txt'], lines_added: 1, lines_removed: 2 };
  expect(await rewound()).toEqual([said]);
  expect(program.heard.slice(-3)).toEqual(['rewind sevt_1 dry', 'rewind sevt_unknown', 'rewind sevt_1']);
});

it('[V165] a rewind and lost background work change the time of the session, by which readers of all sessions find them', async () => {
  const { id, ask, program, fleet, end, pass } = await open();
  const work = { workId: 'b1', kind: 'command', description: 'does b1', until: null } as const;
  program.emit({ type: 'work_started', key: 'main', ...work });
  await end();
  const isRecent = async (type: FrameType) => {
    const frame = (await fleet.frames(id)).findLast((each) => each.type === type);
    return (await fleet.store.sessions.get(workspaceId, id))?.updatedAt === frame?.time;
  };
  await pass(5);
  await ask(id, rewind('sevt_1'));
  expect(await isRecent('program.files_rewound')).toBe(true);
  await pass(5);
  program.exit('it was ended by SIGKILL');
  await fleet.until(id, ({ type }) => type === 'session.error');
  expect(await isRecent('session.error')).toBe(true);
  expect(await isRecent('program.files_rewound')).toBe(false);
});

it('[R371] files are not rewound while the session is running', async () => {
  const { id, ask, program } = await open();
  expect(await ask(id, rewind('sevt_1'))).toMatchObject({ type: 'refused', code: 'session_running' });
  expect(await ask(id, rewind('sevt_1', true))).toMatchObject({ type: 'answered' });
  expect(program.heard.at(-1)).toBe('rewind sevt_1 dry');
});

it('[R372] a message is passed to the program with its id, and several at once with that of the first', async () => {
  const { id, fleet, program, end } = await open();
  await end();
  await fleet.sessions.send({ workspaceId, sessionId: id, events: [message('Two.'), message('Three.')] });
  await vi.waitFor(() => expect(program.saidIds).toHaveLength(2), 20_000);
  const ids = (await fleet.frames(id)).flatMap((frame) => (frame.type === 'user.message' ? [frame.payload.id] : []));
  expect(program.saidIds).toEqual([ids[0], ids[1]]);
});

it('[R374] a rewind starts a program that has ended, which resumes its conversation; usage and diff are refused then', async () => {
  const { id, ask, fleet, programs, end, pass } = await open();
  await end();
  await vi.waitFor(
    async () => {
      await pass(sessionLimits.hostTickMs);
      expect(fleet.sessions.countOpen()).toBe(0);
    },
    { timeout: 20_000, interval: 1 },
  );
  for (const type of ['usage', 'diff'] as const) expect(await ask(id, { type })).toBeUndefined();
  expect(await ask(id, rewind('sevt_1'))).toMatchObject({ type: 'answered' });
  expect(programs.opened[1]).toMatchObject({ options: { resume: 'c1' }, heard: ['rewind sevt_1'] });
  // It ends before anything was said to it, which does not mean that the conversation is lost.
  programs.opened[1]!.exit('killed');
  await fleet.sessions.send({ workspaceId, sessionId: id, events: [message('Go on.')] });
  expect(await programs.wait(2)).toMatchObject({ options: { resume: 'c1' } });
});

it('[R374] a session whose program has never run has nothing to rewind', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'unused', { events: [] });
  const outcome = await fleet.sessions.control(id, { request: rewind('sevt_1'), by: 'me' });
  expect(outcome).toMatchObject({ type: 'refused', code: 'program_not_running' });
  expect(programs.opened).toEqual([]);
});

/** A session whose program is in its first turn. */
async function open() {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const time = createManualSchedule(clock);
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, clock, schedule: time.schedule });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(opened, turnBegins, begins(), says('One.'), ends());
  await vi.waitFor(async () => expect(primaryOf(await fleet.state(id)).program.conversation).toBe('c1'), 20_000);
  const end = async () => {
    program.emit(turnEnds);
    await vi.waitFor(async () => expect((await fleet.state(id)).status).toBe('idle'), 20_000);
  };
  const ask = (sessionId: string, request: ControlRequest) => fleet.sessions.control(sessionId, { request, by: 'me' });
  const pass = async (ms: number) => {
    time.advance(ms);
    for (let round = 0; round < 8; round++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { id, fleet, programs, program, ask, end, pass };
}
