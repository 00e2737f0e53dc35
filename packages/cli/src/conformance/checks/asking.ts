import { check, defineChecks } from '../check.ts';
import type { Context } from '../context.ts';
import { expectEqual, expectFound, expectRefusal, expectThat } from '../expect.ts';
import type { Step } from '../script.ts';
import { ofType, saidIn, type Talk } from '../talk.ts';

const custom = { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } } as const;

export const askingChecks = defineChecks('Asking the client', [
  check(116, 'C', 'A bash call that must be asked for does not run before the answer', ['scripts'], async (t) => {
    const talk = await asking(t, [[{ call: 'bash', input: { command: 'echo ran' } }], [{ say: 'done' }]]);
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
    const allowed = await asking(t, [[write], [read], [{ say: 'it says {{last_result}}' }]]);
    await answer(allowed, 'allow', 'go');
    const events = await answer(allowed, 'allow');
    expectThat(/it says [^]*written/.test(saidIn(events)), 'the file to be written and read', saidIn(events));

    const denied = await asking(t, [
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
    const talk = await asking(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [tool_use_id] = await openAsks(talk);
    const confirmation = { type: 'user.tool_confirmation', tool_use_id: tool_use_id!, result: 'allow' } as const;
    await expectRefusal(talk.send({ ...confirmation, deny_message: 'no' }), 400, 'deny_message', /deny_message/);
    const path = `/v1/sessions/${talk.id}/events`;
    const wrong = { events: [{ type: 'user.tool_confirmation', tool_use_id, result: 'deny', message: 'no' }] };
    expectEqual(
      (await t.raw({ method: 'POST', path, body: wrong })).status,
      400,
      'status with message instead of deny_message',
    );
    expectEqual(await openAsks(talk), [tool_use_id], 'what still waits');
  }),

  check(119, 'C', 'An answer to an unknown call is 400, and a second answer is too', ['scripts'], async (t) => {
    const talk = await asking(t, [[{ call: 'write', input: { file_path: 'a', content: 'b' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [tool_use_id] = await openAsks(talk);
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
    const [first, second] = await openAsks(talk);
    await talk.turn({ type: 'user.tool_confirmation', tool_use_id: first!, result: 'allow' });
    expectEqual(await openAsks(talk), [second], 'what still waits');
    const events = await talk.turn({ type: 'user.tool_confirmation', tool_use_id: second!, result: 'allow' });
    expectEqual(saidIn(events), 'both done', 'the answer');
  }),

  check(121, 'C', 'Both answered in one request, it runs once', ['scripts'], async (t) => {
    const talk = await twoAsks(t);
    const before = await talk.turn('go');
    const asks = await openAsks(talk);
    const events = await talk.turn(
      ...asks.map((id) => ({ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' }) as const),
    );
    const after = events.slice(before.length);
    expectEqual(ofType(after, 'session.status_running').length, 1, 'session.status_running');
    expectEqual(ofType(after, 'session.status_idle').length, 1, 'session.status_idle');
    expectEqual(saidIn(after), 'both done', 'the answer');
  }),

  check(
    122,
    'C',
    'The result of a custom tool is taken also before the idle event was sent',
    ['scripts'],
    async (t) => {
      const talk = await t.session({
        turns: [
          [
            { call: 'lookup', input: { q: 1 } },
            { call: 'write', input: { file_path: 'a', content: 'b' } },
          ],
          [{ say: 'found {{results}}' }],
        ],
        tools: [custom, { type: 'agent_toolset_20260401' }] as never,
      });
      const stream = await talk.watch();
      await talk.say('go');
      const use = await stream.until('agent.custom_tool_use');
      expectEqual([use.name, use.input], ['lookup', { q: 1 }], 'the call');
      const content = [{ type: 'text', text: 'it is 42' }] as const;
      const [echo] = await talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: use.id, content });
      expectThat(typeof echo?.processed_at === 'string', 'processed_at at once', echo);
      await stream.until('session.status_idle', { where: ({ stop_reason }) => stop_reason.type === 'end_turn' });
      expectThat(
        saidIn(await talk.list()).includes('it is 42'),
        'the result to reach the model',
        saidIn(await talk.list()),
      );
    },
  ),

  check(123, 'C', 'A result with is_error reaches the model as an error', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [
        [{ call: 'lookup', input: {} }],
        [{ expect: { tool_result: 'broken', is_error: true } }, { say: 'I see' }],
      ],
      tools: [custom],
    });
    await talk.turn('go');
    const [custom_tool_use_id] = await openAsks(talk);
    const content = [{ type: 'text', text: 'broken' }] as const;
    const events = await talk.turn({
      type: 'user.custom_tool_result',
      custom_tool_use_id: custom_tool_use_id!,
      content,
      is_error: true,
    });
    expectEqual(saidIn(events), 'I see', 'the answer');
  }),

  check(124, 'E', 'user.tool_result on a cloud environment is 400', ['scripts'], async (t) => {
    const talk = await asking(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [tool_use_id] = await openAsks(talk);
    await expectRefusal(talk.send({ type: 'user.tool_result', tool_use_id: tool_use_id! }), 400, 'user.tool_result');
  }),

  check(125, 'C', 'user.custom_tool_result for a built-in call is 400', ['scripts'], async (t) => {
    const talk = await asking(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [id] = await openAsks(talk);
    await expectRefusal(
      talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: id! }),
      400,
      'the wrong answer',
    );
    expectEqual(await openAsks(talk), [id], 'what still waits');
  }),

  check(126, 'C', 'What is asked survives a restart and can be answered', ['scripts', 'restart'], async (t) => {
    const talk = await asking(t, [[{ call: 'write', input: { file_path: 'a', content: 'b' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [id] = await openAsks(talk);
    await t.target.restart!();
    expectEqual(await openAsks(talk), [id], 'what waits after the restart');
    const stream = await t.watch(talk.id);
    await talk.send({ type: 'user.tool_confirmation', tool_use_id: id!, result: 'allow' });
    await stream.until('session.status_idle');
    expectEqual(saidIn(await talk.list()), 'done', 'the answer');
  }),

  check(127, 'E', 'A call of a tool that is switched off is denied, with an error result', ['scripts'], async (t) => {
    const configs = [{ name: 'bash', enabled: false }];
    const talk = await t.session({
      turns: [[{ call: 'bash', input: { command: 'echo ran' } }], [{ expect: { is_error: true } }, { say: 'no' }]],
      tools: [{ type: 'agent_toolset_20260401', configs }] as never,
    });
    const events = await talk.turn('go');
    const [use] = ofType(events, 'agent.tool_use');
    expectEqual([use?.evaluated_permission, use?.evaluation], ['deny', undefined], 'the permission');
    expectEqual(
      ofType(events, 'agent.tool_result').map(({ is_error }) => is_error),
      [true],
      'the result',
    );
    expectEqual(saidIn(events), 'no', 'the answer');
  }),

  check(
    128,
    'C',
    'An interrupt while it asks closes the call with an error, and it is idle',
    ['scripts'],
    async (t) => {
      const talk = await asking(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'never' }]]);
      const before = await talk.turn('go');
      const [id] = await openAsks(talk);
      const events = (await talk.turn({ type: 'user.interrupt' })).slice(before.length);
      const [result] = ofType(events, 'agent.tool_result');
      const text = 'Tool execution was interrupted before completion. Please retry.';
      expectEqual(
        [result?.tool_use_id, result?.is_error, result?.content],
        [id, true, [{ type: 'text', text }]],
        'the result',
      );
      expectEqual(ofType(events, 'session.status_idle')[0]?.stop_reason, { type: 'end_turn' }, 'why it stopped');
      expectEqual(ofType(events, 'span.model_request_start'), [], 'model requests');
      const late = { type: 'user.tool_confirmation', tool_use_id: id!, result: 'allow' } as const;
      await expectRefusal(talk.send(late), 400, 'an answer afterwards');
    },
  ),
]);

/** Every built-in tool has to be asked for. */
function asking(t: Context, turns: readonly (readonly Step[])[]): Promise<Talk> {
  const default_config = { permission_policy: { type: 'always_ask' } };
  return t.session({ turns, tools: [{ type: 'agent_toolset_20260401', default_config }] as never });
}

function twoAsks(t: Context): Promise<Talk> {
  const write = (file_path: string): Step => ({ call: 'write', input: { file_path, content: 'x' } });
  return asking(t, [[write('a'), write('b')], [{ say: 'both done' }]]);
}

/** What the last idle event says that it waits for. */
async function openAsks(talk: Talk): Promise<readonly string[]> {
  const events = await talk.list();
  const { stop_reason: stop } = expectFound(
    ofType(events, 'session.status_idle').at(-1),
    'session.status_idle',
    events,
  );
  return stop.type === 'requires_action' ? stop.event_ids : [];
}

/** Answers everything that is asked, after saying something if it has to be got going. */
async function answer(talk: Talk, result: 'allow' | 'deny', say?: string, deny_message?: string) {
  if (say !== undefined) await talk.turn(say);
  const asks = await openAsks(talk);
  const more = deny_message === undefined ? {} : { deny_message };
  return talk.turn(
    ...asks.map((id) => ({ type: 'user.tool_confirmation', tool_use_id: id, result, ...more }) as const),
  );
}
