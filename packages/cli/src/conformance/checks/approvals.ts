import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectRefusal, expectThat } from '../harness/expect.ts';
import type { Step } from '../harness/script.ts';
import { ofType, saidIn, type Talk } from '../harness/talk.ts';
import { sessionWithApprovals, pendingIds, answer } from '../harness/approvals.ts';

/** Approvals: pending, allowed, denied, and several at once. */
export const approvalChecks = defineChecks('Asking the client', [
  check(116, 'C', 'A bash call that must be asked for does not run before the answer', ['scripts'], async (t) => {
    const talk = await sessionWithApprovals(t, [[{ call: 'bash', input: { command: 'echo ran' } }], [{ say: 'done' }]]);
    const events = await talk.turn('go');
    const [use] = ofType(events, 'agent.tool_use');
    expectEqual([use?.evaluated_permission, use?.evaluation], ['ask', { type: 'always_ask' }], 'the permission');
    const [idle] = ofType(events, 'session.status_idle');
    expectEqual(idle?.stop_reason, { type: 'requires_action', event_ids: [use?.id] }, 'why it stopped');
    expectEqual(ofType(events, 'agent.tool_result'), [], 'results');
    expectEqual((await talk.retrieve()).status, 'idle', 'status');
  }),

  check(117, 'C', 'Allowed, it runs; denied, it does not and the model reads why', ['scripts'], async (t) => {
    const write: Step = { call: 'write', input: { file_path: 'a.txt', content: 'written' } };
    const read: Step = { call: 'read', input: { file_path: 'a.txt' } };
    const allowed = await sessionWithApprovals(t, [[write], [read], [{ say: 'it says {{last_result}}' }]]);
    await answer(allowed, 'allow', 'go');
    const events = await answer(allowed, 'allow');
    expectThat(/it says [^]*written/.test(saidIn(events)), 'the file to be written and read', saidIn(events));

    const denied = await sessionWithApprovals(t, [
      [write],
      [{ expect: { tool_result: 'not today', is_error: true } }, { call: 'read', input: { file_path: 'a.txt' } }],
      [{ expect: { is_error: true } }, { say: 'no file' }],
    ]);
    const refused = await answer(denied, 'deny', 'go', 'not today');
    expectEqual(
      ofType(refused, 'agent.tool_result').map(({ is_error }) => is_error),
      [true],
      'the result',
    );
    expectThat(saidIn(await answer(denied, 'allow')) === 'no file', 'the file not to be there', await denied.list());
  }),

  check(118, 'C', 'deny_message with allow is 400', ['scripts'], async (t) => {
    const talk = await sessionWithApprovals(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [tool_use_id] = await pendingIds(talk);
    const confirmation = { type: 'user.tool_confirmation', tool_use_id: tool_use_id!, result: 'allow' } as const;
    await expectRefusal(talk.send({ ...confirmation, deny_message: 'no' }), 400, 'deny_message', /deny_message/);
    const path = `/v1/sessions/${talk.id}/events`;
    const wrong = { events: [{ type: 'user.tool_confirmation', tool_use_id, result: 'deny', message: 'no' }] };
    expectEqual(
      (await t.raw({ method: 'POST', path, body: wrong })).status,
      400,
      'status with message instead of deny_message',
    );
    expectEqual(await pendingIds(talk), [tool_use_id], 'what still waits');
  }),

  check(119, 'C', 'An answer to an unknown call is 400, and a second answer is too', ['scripts'], async (t) => {
    const talk = await sessionWithApprovals(t, [
      [{ call: 'write', input: { file_path: 'a', content: 'b' } }],
      [{ say: 'done' }],
    ]);
    await talk.turn('go');
    const [tool_use_id] = await pendingIds(talk);
    const confirm = (id: string) => talk.send({ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' });
    await expectRefusal(confirm('sevt_01AAAAAAAAAAAAAAAAAAAAAA'), 400, 'an unknown call');
    const stream = await talk.watch();
    const from = stream.events.length;
    await confirm(tool_use_id!);
    await expectRefusal(confirm(tool_use_id!), 400, 'a second answer');
    await stream.until('session.status_idle', { from });
    await expectRefusal(confirm(tool_use_id!), 400, 'an answer after the end');
  }),

  check(120, 'C', 'Of two asks one is answered: it is idle again, with the other one', ['scripts'], async (t) => {
    const talk = await twoAsks(t);
    await talk.turn('go');
    const [first, second] = await pendingIds(talk);
    await talk.turn({ type: 'user.tool_confirmation', tool_use_id: first!, result: 'allow' });
    expectEqual(await pendingIds(talk), [second], 'what still waits');
    const events = await talk.turn({ type: 'user.tool_confirmation', tool_use_id: second!, result: 'allow' });
    expectEqual(saidIn(events), 'both done', 'the answer');
  }),

  check(121, 'C', 'Both answered in one request, it runs once', ['scripts'], async (t) => {
    const talk = await twoAsks(t);
    const before = await talk.turn('go');
    const asks = await pendingIds(talk);
    const events = await talk.turn(
      ...asks.map((id) => ({ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' }) as const),
    );
    const after = events.slice(before.length);
    expectEqual(ofType(after, 'session.status_running').length, 1, 'session.status_running');
    expectEqual(ofType(after, 'session.status_idle').length, 1, 'session.status_idle');
    expectEqual(saidIn(after), 'both done', 'the answer');
  }),
]);

function twoAsks(t: Context): Promise<Talk> {
  const write = (file_path: string): Step => ({ call: 'write', input: { file_path, content: 'x' } });
  return sessionWithApprovals(t, [[write('a'), write('b')], [{ say: 'both done' }]]);
}
