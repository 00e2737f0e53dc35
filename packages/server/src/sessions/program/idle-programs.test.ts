import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { ProgramEvent } from '../../engines/program/program.ts';
import {
  agent,
  confirm,
  customResult,
  type Fleet,
  message,
  openFleet,
  snapshot,
  workspaceId,
} from '../suite/fleet.suite.ts';
import {
  asks,
  begins,
  calls,
  callsAgent,
  callsCustom,
  createTestPrograms,
  ends,
  gives,
  opens,
  proposes,
  says,
  type TestProgram,
  turnBegins,
  turnEnds,
  worked,
  works,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };
const opened: ProgramEvent = { type: 'opened', key: 'main', conversation: 'c1', version: null };
const hour = 60 * 60_000;

async function openKept() {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const time = createManualSchedule(clock);
  const programs = createTestPrograms();
  const heap = { isShort: false };
  const fleet = await openFleet({ programs, clock, schedule: time.schedule, isHeapShort: () => heap.isShort });
  /** Lets this much time pass, with a look at the sessions every so often. */
  const pass = async (ms: number, stepMs: number = sessionLimits.hostTickMs) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      time.advance(stepMs);
      for (let round = 0; round < 8; round++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Lets time pass until so many sessions are open: a look takes a while of real time, too. */
  const passUntilOpen = (count: number) =>
    vi.waitFor(
      async () => {
        await pass(sessionLimits.hostTickMs);
        expect(fleet.sessions.countOpen()).toBe(count);
      },
      { timeout: 20_000, interval: 1 },
    );
  return { fleet, programs, clock, heap, pass, passUntilOpen };
}

/** A session that is idle, with something open in its program. */
async function begin(fleet: Fleet, program: Promise<TestProgram>, ...events: ProgramEvent[]): Promise<string> {
  const id = await fleet.begin(main, 'Go.');
  (await program).emit(opened, turnBegins, begins(), ...events, ends());
  await fleet.rest(id);
  return id;
}

it('[R330] an idle session is kept for 10 hours while its program waits for an approval, and the answer reaches the program', async () => {
  const { fleet, programs, passUntilOpen, pass } = await openKept();
  const id = await begin(fleet, programs.wait(), calls('b1', 'ask'));
  await pass(10 * hour, 60_000);
  expect(fleet.sessions.countOpen()).toBe(1);
  const [ask] = await fleet.asks(id);
  await fleet.send(id, confirm(ask!));
  const program = await programs.wait();
  await vi.waitFor(() => expect(program.heard).toEqual(['say Go.', 'allow b1']), 20_000);
  program.emit(gives('b1'), begins(), says('Done.'), ends(), turnEnds);
  await fleet.until(id, ({ type, payload }) => type === 'turn.ended' && payload.ok);
  expect(await fleet.payloads(id, 'session.error')).toEqual([]);
  await passUntilOpen(0);
});

it('[R330] the same holds for a custom tool call, and for an approval of a sub-agent', async () => {
  const { fleet, programs, pass } = await openKept();
  const id = await begin(fleet, programs.wait(), callsCustom('f1'));
  const childs = await fleet.begin(main, 'Go.');
  const second = await programs.wait(1);
  second.emit(turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), ends());
  second.emit(begins('k1'), calls('b1', 'ask', 'k1'), ends('k1'));
  await fleet.rest(childs);
  await pass(10 * hour, 60_000);
  const [form] = await fleet.asks(id);
  const [ask] = await fleet.asks(childs);
  await fleet.send(id, customResult(form!, 'filled'));
  await fleet.send(childs, confirm(ask!, 'deny', 'No.'));
  await vi.waitFor(() => expect(programs.opened[0]!.heard.at(-1)).toBe('result f1'), 20_000);
  await vi.waitFor(() => expect(second.heard.at(-1)).toBe('deny b1'), 20_000);
});

it('[R331] an idle session is kept while a background command of its program runs, and is released after the command has ended', async () => {
  const { fleet, programs, passUntilOpen, pass } = await openKept();
  await begin(fleet, programs.wait(), works('b1'), turnEnds);
  const program = await programs.wait();
  await pass(10 * hour, 60_000);
  expect(program.heard).not.toContain('close');
  program.emit(worked('b1'));
  await passUntilOpen(0);
  expect(program.heard).toContain('close');
});

it('[J397] a program is kept for 60 s after a turn that it began on its own, however short that was', async () => {
  const { fleet, programs, passUntilOpen, pass, clock } = await openKept();
  const id = await begin(fleet, programs.wait(), works('w1', 'wake_up', clock.now() + 2 * hour), turnEnds);
  const program = await programs.wait();
  await pass(hour, 60_000);
  program.emit(worked('w1'), turnBegins, begins(), says('Awake.'), ends(), turnEnds);
  await vi.waitFor(async () => expect(await fleet.payloads(id, 'turn.ended')).toHaveLength(2), 20_000);
  await pass(sessionLimits.hostIdleMs - 2 * sessionLimits.hostTickMs);
  expect([fleet.sessions.countOpen(), program.heard.includes('close')]).toEqual([1, false]);
  await passUntilOpen(0);
});

it('[R331] a scheduled wake-up keeps an idle session until its time has passed', async () => {
  const { fleet, programs, clock, passUntilOpen, pass } = await openKept();
  const until = clock.now() + hour;
  const id = await begin(fleet, programs.wait(), works('w1', 'wake_up', until), turnEnds);
  await pass(hour - 60_000, 60_000);
  expect(fleet.sessions.countOpen()).toBe(1);
  await passUntilOpen(0);
  expect(await fleet.payloads(id, 'session.error')).toEqual([]);
});

it('[R332] low heap memory releases idle sessions at once, but not those whose program has something open', async () => {
  const { heap, fleet, programs, passUntilOpen, pass } = await openKept();
  const id = await begin(fleet, programs.wait(), calls('b1', 'ask'));
  const idle = await fleet.begin(main, 'Go.');
  (await programs.wait(1)).emit(turnBegins, turnEnds);
  await fleet.rest(idle);
  heap.isShort = true;
  await passUntilOpen(1);
  await pass(5 * sessionLimits.hostTickMs);
  expect(await fleet.asks(id)).toHaveLength(1);
});

it('[R333] above 50 idle programs with something open, the one that was idle longest is ended, and its log has the reason', async () => {
  const { fleet, programs, passUntilOpen, pass } = await openKept();
  const ids: string[] = [];
  for (let count = 0; count < sessionLimits.idleProgramsMax; count++) {
    ids.push(await begin(fleet, programs.wait(count), calls('b1', 'ask')));
    await pass(sessionLimits.hostTickMs);
  }
  await pass(2 * sessionLimits.hostIdleMs);
  expect(fleet.sessions.countOpen()).toBe(50);
  const [ask] = await fleet.asks(ids[0]!);
  const last = await begin(fleet, programs.wait(50), calls('b1', 'ask'));
  await passUntilOpen(50);
  await fleet.until(ids[0]!, ({ type }) => type === 'session.error');
  expect((await fleet.payloads(ids[0]!, 'session.error'))[0]?.error).toMatchObject({
    reason: 'program_released',
    message: expect.stringMatching(/at most 50 idle programs.*send a message/),
  });
  expect((await fleet.payloads(ids[0]!, 'agent.tool_result'))[0]).toMatchObject({ closed_by: 'release' });
  await expect(fleet.send(ids[0]!, confirm(ask!))).rejects.toMatchObject({
    code: 'approval_withdrawn',
    message: expect.stringContaining('the server ended its idle program'),
  });
  expect(programs.opened[0]!.heard.at(-1)).toBe('close');
  for (const id of [...ids.slice(1), last]) expect(await fleet.asks(id)).toHaveLength(1);
  await fleet.send(ids[0]!, message('And now?'));
  expect((await programs.wait(51)).options.resume).toBe('c1');
});

it('[R334] background work that ends with its program is logged with the reason: the program died, its definition was changed, the session was archived', async () => {
  const { fleet, programs } = await openKept();
  const emit = [works('b1'), turnEnds];
  const [died, changed, archived] = [
    await begin(fleet, programs.wait(0), ...emit),
    await begin(fleet, programs.wait(1), ...emit),
    await begin(fleet, programs.wait(2), ...emit),
  ];
  programs.opened[0]!.exit('it was ended by SIGKILL');
  await fleet.sessions.update({
    workspaceId,
    sessionId: changed,
    agent: (before) => ({ ...before, system: 'Other.' }),
  });
  await fleet.sessions.archive(workspaceId, archived);
  const reasonOf = async (id: string) => {
    await fleet.until(id, ({ type }) => type === 'program.work_ended');
    return (await fleet.payloads(id, 'program.work_ended')).map(({ outcome, reason }) => `${outcome}: ${reason}`);
  };
  expect(await reasonOf(died)).toEqual(['lost: the program is gone: it was ended by SIGKILL']);
  expect(await reasonOf(changed)).toEqual([expect.stringContaining('lost: the definition of the agent was changed')]);
  expect(await reasonOf(archived)).toEqual(['lost: the session was archived']);
  expect((await fleet.payloads(died, 'session.error'))[0]?.error).toMatchObject({
    reason: 'program_work_lost',
    message: 'the background command "does b1" ended with the program: the program is gone: it was ended by SIGKILL',
  });
});

it('[R339] a thread is requires_action when its program requests one approval and not yet the others', async () => {
  const { fleet, programs } = await openKept();
  const id = await begin(fleet, programs.wait(), proposes('b1'), proposes('b2'), asks('b1'));
  const program = await programs.wait();
  const [first, ...others] = await fleet.asks(id);
  expect(others).toEqual([]);
  const { seq } = await fleet.rest(id);
  await fleet.send(id, confirm(first!));
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('allow b1'), 20_000);
  program.emit(gives('b1'), asks('b2'));
  await fleet.rest(id, seq);
  expect(await fleet.asks(id)).toHaveLength(1);
});
