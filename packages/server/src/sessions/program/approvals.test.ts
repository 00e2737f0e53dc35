import { createHash } from 'node:crypto';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import type { ProgramEvent } from '../../engines/program/program.ts';
import { beginState } from '../core/state/begin-state.ts';
import { evolve } from '../core/state/evolve.ts';
import { agent, confirm, customResult, openFleet, snapshot } from '../suite/fleet.suite.ts';
import { openCallsOf, primaryOf } from '../core/state/state.ts';
import {
  asks,
  begins,
  calls,
  callsAgent,
  createTestPrograms,
  ends,
  gives,
  opens,
  proposes,
  says,
  turnBegins,
  turnEnds,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', [snapshot('worker')]), model };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function begin() {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  return { fleet, id, program: await programs.wait() };
}

const refuses = (callId: string, key = 'main'): ProgramEvent => ({
  type: 'result',
  key,
  callId,
  content: [{ type: 'text', text: 'Permission to use Bash has been denied.' }],
  isError: true,
});

it('[J221] a call that the program refuses on its own is a call with an error result: no thread ever waits for an approval', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), proposes('t1'), ends(), refuses('t1'), begins(), says('Well.'), ends(), turnEnds);
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'approval.requested')).toEqual([]);
  expect((await fleet.story(id)).filter((line) => line.includes('requires_action'))).toEqual([]);
  const [use] = await fleet.payloads(id, 'agent.tool_use');
  expect(use).toMatchObject({ evaluated_permission: 'ask', approval: 'on_request' });
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([
    { tool_use_id: use!.id, is_error: true, closes_ask: use!.id, closed_by: 'not_requested' },
  ]);
  await expect(fleet.send(id, confirm(use!.id))).rejects.toMatchObject({ code: 'already_answered' });
});

it('[J222] the thread waits when the program requests approval, and not before', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), callsAgent('a1'), opens('k1', 'a1'), ends());
  program.emit(begins('k1'), proposes('b1', 'k1'), ends('k1'));
  await fleet.until(id, ({ type, threadId }) => type === 'span.model_request_end' && threadId !== null);
  await fleet.until(id, ({ type, payload }) => type === 'agent.tool_use' && payload.name === 'Bash');
  expect((await fleet.state(id)).status).toBe('running');
  program.emit(asks('b1', 'k1', { reason: 'Writes outside of the workspace', input: { command: 'ls' } }));
  const { seq } = await fleet.rest(id);
  const [, use] = await fleet.payloads(id, 'agent.tool_use');
  expect(await fleet.asks(id)).toEqual([use!.id]);
  expect(await fleet.payloads(id, 'approval.requested')).toEqual([
    { tool_use_id: use!.id, kind: 'tool', reason: 'Writes outside of the workspace', input: { command: 'ls' } },
  ]);
  await fleet.send(id, confirm(use!.id));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['allow b1']), 20_000);
  program.emit(gives('b1', 'k1'), { type: 'thread_ended', key: 'k1', status: 'completed', error: null });
  program.emit(gives('a1'), turnEnds);
  await fleet.rest(id, seq);
  // What was shown is what was decided about.
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([
    { input_sha256: sha256('{"command":"ls"}') },
  ]);
});

it('[J223] a decision before the request of the program is kept for it, and logged at once', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), proposes('t1'), proposes('t2'), ends());
  await fleet.until(id, ({ type }) => type === 'span.model_request_end');
  const [one, two] = await fleet.payloads(id, 'agent.tool_use');
  await fleet.send(id, confirm(one!.id), confirm(two!.id, 'deny', 'No.'));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['allow t1', 'deny t2']), 20_000);
  await expect(fleet.send(id, confirm(one!.id))).rejects.toMatchObject({ code: 'already_answered' });
  // The engine has applied the decision, and this one comes from an engine that asks all the same.
  program.emit(asks('t1'), gives('t1'), refuses('t2'), turnEnds);
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'approval.requested')).toEqual([]);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([{ result: 'allow' }, { result: 'deny' }]);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ closes_ask: null }, { closes_ask: null }]);
});

it('[J222] a question waits for its result when the program asks it, and can be answered earlier', async () => {
  const { fleet, id, program } = await begin();
  const question = (callId: string): ProgramEvent => ({
    type: 'call',
    key: 'main',
    callId,
    name: 'AskUserQuestion',
    input: {},
    tool: { kind: 'custom', toolName: 'AskUserQuestion', isQuestion: true },
  });
  program.emit(turnBegins, begins(), question('q1'), question('q2'), question('q3'), ends());
  program.emit(refuses('q3'), asks('q1', 'main', { kind: 'question' }));
  await fleet.until(id, ({ type }) => type === 'approval.requested');
  const [one, two, three] = await fleet.payloads(id, 'agent.custom_tool_use');
  await fleet.rest(id);
  expect(await fleet.asks(id)).toEqual([one!.id]);
  await fleet.send(id, customResult(two!.id, 'Early.'));
  const { seq } = await fleet.rest(id);
  expect(await fleet.asks(id)).toEqual([one!.id]);
  await fleet.send(id, customResult(one!.id, 'Late.'));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['result q2', 'result q1']), 20_000);
  await expect(fleet.send(id, customResult(three!.id, 'No.'))).rejects.toMatchObject({ code: 'already_answered' });
  program.emit(turnEnds);
  await fleet.rest(id, seq);
});

it('[J222] a call announced as allowed also waits when the program requests approval for it', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), calls('t1', 'allow'), ends(), asks('t1'));
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.send(id, confirm(ask!));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['allow t1']), 20_000);
  program.emit(gives('t1'), turnEnds);
  await fleet.rest(id, seq);
});

it('[J224] a call of an older log without this information waits from the beginning', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), proposes('t1'), ends());
  await fleet.until(id, ({ type }) => type === 'span.model_request_end');
  const frames = await fleet.frames(id);
  const fold = (isOlder: boolean) => {
    const state = beginState(id, frames[0]!);
    for (const frame of frames.slice(1)) {
      if (!isOlder || frame.type !== 'agent.tool_use') evolve(state, frame);
      else {
        const { approval: _, ...payload } = frame.payload;
        evolve(state, { ...frame, payload });
      }
    }
    return openCallsOf(primaryOf(state)).map(({ progress }) => progress.type);
  };
  expect([fold(false), fold(true)]).toEqual([['proposed'], ['asking']]);
  program.emit(turnEnds);
  await fleet.rest(id);
});

it('[J227, J228] the program gets the changed input of an allowed call, and the interrupt of a denied one', async () => {
  const { fleet, id, program } = await begin();
  program.emit(turnBegins, begins(), proposes('t1'), proposes('t2'), ends(), asks('t1'), asks('t2'));
  const { seq } = await fleet.rest(id);
  const [one, two] = await fleet.asks(id);
  await fleet.send(
    id,
    { ...confirm(one!), updated_input: { command: 'ls' } },
    { ...confirm(two!, 'deny', 'Stop.'), interrupt: true },
  );
  const heard = ['allow t1 with {"command":"ls"}', 'deny t2 and interrupt'];
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(heard), 20_000);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([
    {
      input_sha256: sha256('{}'),
      updated_input: { command: 'ls' },
      updated_input_sha256: sha256('{"command":"ls"}'),
    },
    { deny_message: 'Stop.', interrupt: true },
  ]);
  program.emit(gives('t1'), refuses('t2'));
  program.emit({ type: 'turn_ended', key: 'main', outcome: { type: 'stopped' }, isMoreToCome: false });
  await fleet.rest(id, seq);
});
