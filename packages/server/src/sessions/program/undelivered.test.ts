import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { MAIN, type ProgramEvent } from '../../engines/program/program.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { agent, confirm, crash, customResult, openFleet, snapshot } from '../suite/fleet.suite.ts';
import {
  begins,
  calls,
  callsAgent,
  callsCustom,
  createTestPrograms,
  ends,
  gives,
  opens,
  turnBegins,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };
const opened: ProgramEvent = { type: 'opened', key: MAIN, conversation: 'c1', version: null };
const stopped: ProgramEvent = { type: 'turn_ended', key: MAIN, outcome: { type: 'stopped' }, isMoreToCome: false };
const ofChild = [callsAgent('a1'), opens('k1', 'a1'), ends(), begins('k1'), calls('b1', 'ask', 'k1'), ends('k1')];

type Row = readonly [what: string, events: readonly ProgramEvent[], toAnswer: (id: string) => ClientEvent, key: string];

const rows: readonly Row[] = [
  ['an allow', [calls('b1', 'ask'), ends()], (id) => confirm(id, 'allow'), MAIN],
  ['a deny', [calls('b1', 'ask'), ends()], (id) => confirm(id, 'deny'), MAIN],
  ['the result of a custom tool', [callsCustom('b1'), ends()], (id) => customResult(id, 'filled'), MAIN],
  ['an allow of a sub-agent’s call', ofChild, (id) => confirm(id, 'allow'), 'k1'],
];

it.each(rows)(
  '[R360] %s that was acknowledged and never reached the program is logged as not applied after a kill',
  async (_, events, toAnswer) => {
    const fleet = await begin(events, createTestPrograms({ isUnanswered: true }));
    const [answerId] = await answer(fleet, toAnswer);
    const programs = createTestPrograms();
    const restarted = await crash(fleet, ({ type }) => isAnswer(type), { programs, isChecked: true });
    await restarted.until(fleet.id, ({ type }) => type === 'session.error');
    const [dropped, ...more] = await restarted.payloads(fleet.id, 'answer.not_applied');
    expect(dropped).toMatchObject({ answer_id: answerId, reason: 'restarted' });
    expect(more).toEqual([]);
  },
);

it('[R360] an answer that never reached the program has the reason `restarted` also if its turn was being stopped at the kill', async () => {
  const events = [calls('b1', 'ask'), ends()];
  const fleet = await begin(events, createTestPrograms({ isUnanswered: true }));
  const [answerId] = await answer(fleet, (id) => confirm(id, 'allow'));
  await fleet.send(fleet.id, { type: 'user.interrupt', session_thread_id: null });
  await fleet.until(fleet.id, ({ type }) => type === 'turn.stopping');
  const programs = createTestPrograms();
  const restarted = await crash(fleet, ({ type }) => type === 'turn.stopping', { programs, isChecked: true });
  await restarted.until(fleet.id, ({ type }) => type === 'turn.ended');
  expect(await restarted.payloads(fleet.id, 'answer.not_applied')).toMatchObject([
    { answer_id: answerId, reason: 'restarted' },
  ]);
});

it.each(rows)(
  '[R360] %s whose call has a result in the transcripts was applied, also if the kill came before the log had that',
  async (_, events, toAnswer, key) => {
    const fleet = await begin(events, createTestPrograms({ isUnanswered: true }));
    const [answerId] = await answer(fleet, toAnswer);
    const recovered: ProgramEvent[] = [{ type: 'answered', key, callId: 'b1' }, gives('b1', key)];
    const programs = createTestPrograms({ recovered });
    const restarted = await crash(fleet, ({ type }) => isAnswer(type), { programs, isChecked: true });
    await restarted.until(fleet.id, ({ type }) => type === 'session.error');
    expect(await restarted.payloads(fleet.id, 'answer.delivered')).toMatchObject([{ answer_id: answerId }]);
    expect(await restarted.payloads(fleet.id, 'answer.not_applied')).toEqual([]);
  },
);

it.each(rows)(
  '[R361] %s that reached the program is logged as delivered, and a crash afterwards changes nothing of that',
  async (_, events, toAnswer) => {
    const fleet = await begin(events, createTestPrograms());
    const [answerId] = await answer(fleet, toAnswer);
    await fleet.until(fleet.id, ({ type }) => type === 'answer.delivered');
    expect(await fleet.payloads(fleet.id, 'answer.delivered')).toMatchObject([{ answer_id: answerId }]);
    const restarted = await crash(fleet, ({ type }) => type === 'answer.delivered', { programs: createTestPrograms() });
    await restarted.until(fleet.id, ({ type }) => type === 'session.error');
    expect(await restarted.payloads(fleet.id, 'answer.not_applied')).toEqual([]);
  },
);

it.each([
  ['ends the call on its own', 'call_ended'],
  ['ends the turn', 'call_ended'],
  ['dies', 'program_ended'],
] as const)('[R362] an answer that did not reach a program that %s is logged with `%s`', async (what, reason) => {
  const programs = createTestPrograms({ isUnanswered: true });
  const fleet = await begin([calls('b1', 'ask'), ends()], programs);
  const [answerId] = await answer(fleet, (id) => confirm(id, 'allow'));
  const program = await programs.wait();
  if (what === 'dies') program.exit('it was ended by SIGSEGV');
  else if (what === 'ends the turn') program.emit(stopped);
  else program.emit(gives('b1'));
  await fleet.until(fleet.id, ({ type }) => type === 'answer.not_applied');
  expect(await fleet.payloads(fleet.id, 'answer.not_applied')).toMatchObject([{ answer_id: answerId, reason }]);
});

/** A session whose program waits for an answer. */
async function begin(events: readonly ProgramEvent[], programs: ReturnType<typeof createTestPrograms>) {
  const fleet = await openFleet({ programs, isChecked: false });
  const id = await fleet.begin(main, 'Go.');
  (await programs.wait()).emit(opened, turnBegins, begins(), ...events);
  await fleet.rest(id);
  return { ...fleet, id };
}

async function answer(fleet: Awaited<ReturnType<typeof begin>>, toAnswer: (id: string) => ClientEvent) {
  const [ask] = await fleet.asks(fleet.id);
  const sent = await fleet.send(fleet.id, toAnswer(ask!));
  await fleet.until(fleet.id, ({ type }) => isAnswer(type));
  return sent.map(({ id }) => id);
}

function isAnswer(type: string): boolean {
  return type === 'user.tool_confirmation' || type === 'user.custom_tool_result';
}
