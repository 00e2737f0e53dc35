import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectThat } from '../harness/expect.ts';
import { lead, onlyChild, untilChildren } from '../harness/lead.ts';
import { type Step, toCases, sleeps } from '../harness/script.ts';
import { ofType, saidIn } from '../harness/talk.ts';

export const threadEndChecks = defineChecks('Threads', [
  check(
    145,
    'C',
    'An interrupt of a thread stops only that one, without a thread all of them',
    ['scripts'],
    async (t) => {
      const sleep = { turns: [[sleeps, { say: 'slept' }]] };
      const talk = await lead(t, ['one', 'two'], { one: sleep, two: sleep });
      const stream = await talk.watch();
      await talk.say('go');
      await untilChildren(talk, 2);
      const [one, two] = await talk.children();
      await stream.until('session.thread_status_running', { where: ({ session_thread_id: id }) => id === two!.id });
      await talk.send({ type: 'user.interrupt', session_thread_id: one!.id });
      const idle = await stream.until('session.thread_status_idle', {
        where: ({ session_thread_id: id }) => id === one!.id,
      });
      expectEqual(idle.stop_reason, { type: 'end_turn' }, 'why it stopped');
      expectEqual(
        (await talk.children()).map(({ status }) => status),
        ['idle', 'running'],
        'the children',
      );
      await talk.send({ type: 'user.interrupt' });
      await stream.until('session.status_idle');
      expectEqual(
        (await talk.children()).map(({ status }) => status),
        ['idle', 'idle'],
        'the children in the end',
      );
    },
  ),

  check(146, 'C', 'An idle child can be archived; a running one and the primary one cannot', ['scripts'], async (t) => {
    const talk = await lead(t, ['quick', 'slow'], { slow: { turns: [[sleeps]] } });
    const stream = await talk.watch();
    await talk.say('go');
    await stream.until('session.thread_status_idle', { where: ({ agent_name }) => agent_name === 'quick' });
    await untilChildren(talk, 2);
    const [primary, quick, slow] = await talk.threads();
    const archive = (id: string) => t.client.beta.sessions.threads.archive(id, { session_id: talk.id });
    await expectRefusal(archive(slow!.id), 400, 'a running child');
    await expectRefusal(archive(primary!.id), 400, 'the primary thread');
    const archived = await archive(quick!.id);
    expectEqual([archived.status, archived.archived_at !== null], ['terminated', true], 'the child');
    await stream.until('session.thread_status_terminated', { where: ({ session_thread_id: id }) => id === quick!.id });
    expectEqual((await archive(quick!.id)).archived_at, archived.archived_at, 'archived_at of a second time');
  }),

  check(147, 'C', 'Of 26 children the last is refused, and an archived one makes room', ['scripts'], async (t) => {
    const { id: helper } = await t.agent({ name: 'helper', turns: [[{ say: 'ok' }]] });
    const spawn: Step = { call: 'send_to_agent', input: { agent: 'helper', message: 'begin' } };
    const talk = await t.session({
      name: 'lead',
      system: toCases(
        [
          { match: '^go$', turn: Array.from({ length: 26 }, () => spawn) },
          { match: '^one more$', turn: [spawn] },
        ],
        [{ say: 'ok' }],
      ),
      multiagent: { type: 'coordinator', agents: [helper] } as never,
    });
    const events = await talk.turn('go');
    const results = ofType(events, 'agent.tool_result').map(({ is_error }) => is_error);
    expectEqual(results.filter((isError) => isError).length, 1, 'refused');
    const children = await talk.children();
    expectEqual(children.length, 25, 'children');
    await t.client.beta.sessions.threads.archive(children[0]!.id, { session_id: talk.id });
    await talk.turn('one more');
    expectEqual((await talk.children()).length, 26, 'children, the archived one included');
  }),

  check(148, 'C', 'A child cannot delegate, nor can a copy of the coordinator', ['scripts'], async (t) => {
    const delegate: Step = { call: 'send_to_agent', input: { agent: 'helper', message: 'again' } };
    const { id: helper } = await t.agent({
      name: 'helper',
      turns: [[delegate], [{ expect: { is_error: true } }, { say: 'could not' }]],
    });
    const talk = await t.session({
      name: 'lead',
      system: toCases(
        [
          { match: '^go$', turn: [delegate, { call: 'send_to_agent', input: { agent: 'lead', message: 'you too' } }] },
          { match: '^you too$', turn: [delegate] },
          { match: '^ERR', turn: [{ expect: { is_error: true } }, { say: 'could not either' }] },
        ],
        [{ say: 'heard {{last_user}}' }],
      ),
      multiagent: { type: 'coordinator', agents: [helper, { type: 'self' }] } as never,
    });
    const events = await talk.turn('go');
    expectEqual((await talk.children()).length, 2, 'children');
    expectThat(saidIn(events).includes('could not'), 'the report of the member', saidIn(events));
    for (const { id } of await talk.children()) {
      const results = ofType(await talk.threadEvents(id), 'agent.tool_result');
      expectEqual(
        results.map(({ is_error }) => is_error),
        [true],
        'the result of its delegation',
      );
    }
  }),

  check(
    149,
    'E',
    'A child that fails for good is terminated, and the coordinator receives an error',
    ['scripts'],
    async (t) => {
      const fail: Step = { fail: { status: 529, times: 50, retry_after_s: 0.02 } };
      const talk = await lead(t, ['helper'], { helper: { turns: [[fail, { say: 'never' }]] } });
      const events = await talk.turn('go');
      const child = await onlyChild(talk);
      expectEqual(child.status, 'terminated', 'status of the child');
      const own = await talk.threadEvents(child.id);
      const end = own.map(({ type }) => type).slice(-2);
      expectEqual(end, ['session.thread_status_idle', 'session.thread_status_terminated'], 'the end of the thread');
      expectEqual(ofType(own, 'session.thread_status_idle').at(-1)?.stop_reason, { type: 'retries_exhausted' }, 'why');
      expectEqual(ofType(own, 'session.error').at(-1)?.error.retry_status, { type: 'exhausted' }, 'the last error');
      expectEqual(ofType(events, 'agent.thread_message_received').length, 1, 'reports');
      expectEqual(
        ofType(events, 'session.status_idle').at(-1)?.stop_reason,
        { type: 'end_turn' },
        'why the session stopped',
      );
    },
  ),
]);
