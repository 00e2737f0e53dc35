import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectThat } from '../harness/expect.ts';
import { ofType, saidIn } from '../harness/talk.ts';
import { sessionWithApprovals, pendingIds } from '../harness/approvals.ts';

const custom = { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } } as const;

/** Custom tools, whose results the client sends. */
export const clientToolChecks = defineChecks('Asking the client', [
  check(
    122,
    'C',
    'The result of a custom tool is accepted even before the idle event was sent',
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
    const [custom_tool_use_id] = await pendingIds(talk);
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
    const talk = await sessionWithApprovals(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [tool_use_id] = await pendingIds(talk);
    await expectRefusal(talk.send({ type: 'user.tool_result', tool_use_id: tool_use_id! }), 400, 'user.tool_result');
  }),

  check(125, 'C', 'user.custom_tool_result for a built-in call is 400', ['scripts'], async (t) => {
    const talk = await sessionWithApprovals(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]);
    await talk.turn('go');
    const [id] = await pendingIds(talk);
    await expectRefusal(
      talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: id! }),
      400,
      'the wrong answer',
    );
    expectEqual(await pendingIds(talk), [id], 'what still waits');
  }),

  check(126, 'C', 'What is asked survives a restart and can be answered', ['scripts', 'restart'], async (t) => {
    const talk = await sessionWithApprovals(t, [
      [{ call: 'write', input: { file_path: 'a', content: 'b' } }],
      [{ say: 'done' }],
    ]);
    await talk.turn('go');
    const [id] = await pendingIds(talk);
    await t.target.restart!();
    expectEqual(await pendingIds(talk), [id], 'what waits after the restart');
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
    'An interrupt during a pending approval ends the call with an error, and the session is idle',
    ['scripts'],
    async (t) => {
      const talk = await sessionWithApprovals(t, [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'never' }]]);
      const before = await talk.turn('go');
      const [id] = await pendingIds(talk);
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
