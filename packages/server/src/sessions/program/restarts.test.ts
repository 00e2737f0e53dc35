import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import type { ProgramEvent } from '../../engines/program/program.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { agent, confirm, crash, message, openFleet, snapshot, workspaceId } from '../suite/fleet.suite.ts';
import {
  begins,
  calls,
  callsAgent,
  createTestPrograms,
  ends,
  opens,
  says,
  turnBegins,
  turnEnds,
  works,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };
const opened: ProgramEvent = { type: 'opened', key: 'main', conversation: 'c1', version: null };

const ofMain = [calls('b1', 'ask'), ends()];
const ofThree = [calls('b1', 'ask'), calls('b2', 'ask'), calls('b3', 'ask'), ends()];
const ofChild = [callsAgent('a1'), opens('k1', 'a1'), ends(), begins('k1'), calls('b1', 'ask', 'k1'), ends('k1')];

it.each([
  ['one approval', ofMain, 1],
  ['three approvals', ofThree, 3],
  ['an approval of a sub-agent', ofChild, 1],
])(
  '[R335] after a crash with %s open, the next process withdraws it without being asked, and refuses late answers with the reason',
  async (_, events, count) => {
    const first = createTestPrograms();
    const fleet = await openFleet({ programs: first, isChecked: false });
    const id = await fleet.begin(main, 'Go.');
    (await first.wait()).emit(opened, turnBegins, begins(), ...events);
    await fleet.rest(id);
    const asks = await fleet.asks(id);
    expect(asks).toHaveLength(count);
    const second = createTestPrograms();
    const restarted = await crash(fleet, ({ type }) => type === 'session.status_idle', {
      programs: second,
      isChecked: true,
    });
    await restarted.until(id, ({ type }) => type === 'session.error');
    await vi.waitFor(
      async () => expect((await restarted.state(id)).stop.reason.type).toBe('retries_exhausted'),
      20_000,
    );
    const pending = await restarted.store.approvals.list({ workspaceId, sessionId: id, isPending: true, limit: 10 });
    expect(pending.items).toEqual([]);
    const results = (await restarted.payloads(id, 'agent.tool_result')).filter(({ closes_ask: ask }) => ask !== null);
    expect(results).toHaveLength(count);
    for (const result of results) {
      expect(result).toMatchObject({
        closed_by: 'restart',
        content: [{ text: 'This call was not carried out: the server restarted while the call waited for an answer.' }],
      });
    }
    for (const ask of asks) {
      await expect(restarted.send(id, confirm(ask))).rejects.toMatchObject({
        code: 'approval_withdrawn',
        message: expect.stringContaining(`${ask} was withdrawn because the server restarted`),
      });
    }
    await restarted.send(id, message('Continue.'));
    const next = await second.wait();
    expect(next.options.resume).toBe('c1');
    next.emit(turnBegins, begins(), says('Here.'), ends(), turnEnds);
    await restarted.until(id, ({ type, payload }) => type === 'turn.ended' && payload.ok);
    expect(await restarted.payloads(id, 'user.tool_confirmation')).toEqual([]);
  },
);

it('[R335] the same holds after a server that was stopped in an orderly way', async () => {
  const store = createMemoryStore();
  const fleet = await openFleet({
    store: { ...store, close: async () => {} },
    programs: createTestPrograms(),
    isChecked: false,
  });
  const id = await fleet.begin(main, 'Go.');
  const programs = fleet.options.programs as ReturnType<typeof createTestPrograms>;
  (await programs.wait()).emit(opened, turnBegins, begins(), ...ofMain);
  await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.close();
  const restarted = await openFleet({ store, programs: createTestPrograms() });
  await restarted.until(id, ({ type }) => type === 'session.error');
  await expect(restarted.send(id, confirm(ask!))).rejects.toMatchObject({ code: 'approval_withdrawn' });
});

it('[R336] after a crash, background work of an idle session is logged as lost, and a session without any is left alone', async () => {
  const first = createTestPrograms();
  const fleet = await openFleet({ programs: first, isChecked: false });
  const id = await fleet.begin(main, 'Go.');
  (await first.wait()).emit(opened, turnBegins, begins(), works('b1'), ends(), turnEnds);
  await fleet.rest(id);
  const restarted = await crash(fleet, ({ type }) => type === 'session.status_idle', { isChecked: true });
  await restarted.until(id, ({ type }) => type === 'session.error');
  expect(await restarted.payloads(id, 'program.work_ended')).toMatchObject([
    { work_id: 'b1', outcome: 'lost', reason: expect.stringContaining('the server was restarted') },
  ]);
});
