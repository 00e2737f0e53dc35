import { expect, it } from 'vitest';
import { createIds } from '../base/ids.ts';
import { decide } from './core/decide.ts';
import { confirm, customResult, interruption, openFleet, solo, workspaceId } from './suite/fleet.suite.ts';

const tools = { bash: { kind: 'builtin', permission: 'ask' }, form: { kind: 'custom' } } as const;

it('[R337] answers that were accepted before the call was interrupted are logged as not applied, and the status is announced again', async () => {
  const fleet = await openFleet({ tools });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }, { call: 'form' }], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [bash, form] = await fleet.asks(id);
  const sent = await fleet.send(id, interruption(), confirm(bash!), customResult(form!, 'late'));
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([
    { id: sent[1]!.id, not_applied: 'call_ended' },
  ]);
  expect(await fleet.payloads(id, 'user.custom_tool_result')).toMatchObject([
    { id: sent[2]!.id, not_applied: 'call_ended' },
  ]);
  expect(await fleet.payloads(id, 'tool.started')).toEqual([]);
  expect((await fleet.frames(id)).at(-1)?.type).toBe('session.status_idle');
});

it('[R337] an answer that is taken up after the session has ended is logged as that', async () => {
  const fleet = await openFleet({ tools });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }]] });
  await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.sessions.archive(workspaceId, id);
  const state = await fleet.state(id);
  const inputs = [{ id: 'sevt_late', event: confirm(ask!), threadId: state.created.primary_thread_id }];
  const clock = { now: () => state.updatedAt };
  const sources = { clock, ids: createIds({ now: clock.now, random: () => 0 }), models: { windowTokens: () => 1 } };
  expect(decide(state, { type: 'inputs', inputs }, sources).frames).toMatchObject([
    { type: 'user.tool_confirmation', payload: { id: 'sevt_late', tool_use_id: ask, not_applied: 'session_ended' } },
  ]);
});

it('[R338] of two decisions at the same time one is accepted, and a decision about a call that does not wait is refused with the reason', async () => {
  const fleet = await openFleet({ tools });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ call: 'bash' }], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [first] = await fleet.asks(id);
  const both = await Promise.allSettled([fleet.send(id, confirm(first!)), fleet.send(id, confirm(first!, 'deny'))]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'already_answered' } });
  const second = await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toHaveLength(1);
  const [open] = await fleet.asks(id);
  await fleet.send(id, interruption());
  await fleet.rest(id, second.seq);
  await expect(fleet.send(id, confirm(open!))).rejects.toMatchObject({
    code: 'approval_withdrawn',
    message: expect.stringContaining(`${open} was withdrawn because the call was interrupted`),
  });
});
