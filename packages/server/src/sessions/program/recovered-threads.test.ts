import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { MAIN, type ProgramEvent } from '../../engines/program/program.ts';
import { agent, crash, openFleet, snapshot, workspaceId } from '../suite/fleet.suite.ts';
import {
  begins,
  callsAgent,
  createTestPrograms,
  ends,
  gives,
  leaves,
  opens,
  turnBegins,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };
const opened: ProgramEvent = { type: 'opened', key: MAIN, conversation: 'c1', version: null };

it('[J423, J420] the engine that recovers a conversation is given archived threads, without an open turn, and the inputs of open calls', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(opened, turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), ends(), leaves('k1'), gives('a1'));
  program.emit(begins(), callsAgent('a2'), ends());
  await fleet.until(
    id,
    ({ type, payload }) => type === 'agent.tool_use' && 'call_id' in payload && payload.call_id === 'a2',
  );
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await fleet.sessions.archiveThread(workspaceId, id, child);
  await fleet.until(id, ({ type }) => type === 'session.thread_status_terminated');
  const next = createTestPrograms();
  const restarted = await crash(fleet, ({ type }) => type === 'session.thread_status_terminated', { programs: next });
  await restarted.until(id, ({ type }) => type === 'session.error');
  const [ended] = next.recoveries;
  expect(ended?.threads.get('k1')).toMatchObject({ callId: 'a1', open: null });
  const { open } = ended!.threads.get(MAIN)!;
  expect([[...open!.calls], [...open!.inputs]]).toEqual([['a1', 'a2'], [['a2', expect.anything()]]]);
});

it('[J541] the prompt of a sub-agent that is opened after the turn of its parent has ended is in the log of the sub-agent', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  program.emit(opened, turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), ends());
  program.emit(begins('k1'), ends('k1'), leaves('k1'), { ...opens('k2', 'a2'), parentKey: 'k1' } as ProgramEvent);
  await fleet.until(
    id,
    ({ type, payload }) => type === 'turn.started' && 'task' in payload && payload.task === 'Do k2.',
  );
  const frames = await fleet.frames(id);
  const threadIds = frames.flatMap((frame) =>
    frame.type === 'session.thread_created' ? [frame.payload.session_thread_id] : [],
  );
  const received = frames.filter(
    (frame) => frame.type === 'agent.thread_message_received' && frame.threadId === threadIds[1],
  );
  expect(received.map(({ payload }) => payload)).toMatchObject([
    { from_session_thread_id: threadIds[0], content: [{ text: 'Do k2.' }], answers_call: null },
  ]);
});
