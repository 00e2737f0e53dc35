import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectThat } from '../harness/expect.ts';
import { lead, onlyChild } from '../harness/lead.ts';
import { toCases, sleeps } from '../harness/script.ts';
import { ofType, saidIn } from '../harness/talk.ts';

export const threadMessageChecks = defineChecks('Threads', [
  check(
    133,
    'C',
    'A task is sent on the primary thread and received on the child, without a name there',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper']);
      const events = await talk.turn('go');
      const [primary, child] = await talk.threads();
      const content = [{ type: 'text', text: 'task for helper' }];
      const [sent] = ofType(events, 'agent.thread_message_sent');
      expectEqual(
        [sent?.to_session_thread_id, sent?.to_agent_name, sent?.content],
        [child?.id, 'helper', content],
        'sent',
      );
      const [received] = ofType(await talk.threadEvents(child!.id), 'agent.thread_message_received');
      expectEqual([received?.from_session_thread_id, received?.content], [primary?.id, content], 'received');
      expectThat(received !== undefined && !('from_agent_name' in received), 'no from_agent_name', received);
      expectThat(received?.id !== sent?.id, 'two ids', received?.id);
    },
  ),

  check(
    134,
    'C',
    'A report is sent on the child and received on the primary thread, with its name',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper']);
      const events = await talk.turn('go');
      const [primary, child] = await talk.threads();
      const content = [{ type: 'text', text: 'report of helper' }];
      const [received] = ofType(events, 'agent.thread_message_received');
      expectEqual(
        [received?.from_session_thread_id, received?.from_agent_name, received?.content],
        [child?.id, 'helper', content],
        'received',
      );
      const [sent] = ofType(await talk.threadEvents(child!.id), 'agent.thread_message_sent');
      expectEqual([sent?.to_session_thread_id, sent?.content], [primary?.id, content], 'sent');
      expectThat(sent !== undefined && !('to_agent_name' in sent), 'no to_agent_name', sent);
      expectThat(saidIn(events).includes('report of helper'), 'the coordinator to read it', saidIn(events));
    },
  ),

  check(
    135,
    'C',
    'Three children run at the same time, and the session runs until all of them are idle',
    ['scripts'],
    async (t) => {
      const slow = { turns: [[{ sleep_ms: 700 }, { say: 'slept' }]] };
      const talk = await lead(t, ['a', 'b', 'c'], { a: slow, b: slow, c: slow });
      const events = await talk.turn('go');
      const children = new Set((await talk.children()).map(({ id }) => id));
      expectEqual(children.size, 3, 'children');
      const of = events.filter((event) => 'session_thread_id' in event && children.has(event.session_thread_id ?? ''));
      const types = of.map(({ type }) => type).filter((type) => type.startsWith('session.thread_status_'));
      const running = 'session.thread_status_running';
      const idle = 'session.thread_status_idle';
      expectEqual(types, [running, running, running, idle, idle, idle], 'all of them running before one is idle');
      expectEqual(ofType(events, 'session.status_running').length, 1, 'session.status_running');
      expectEqual(
        events.flatMap(({ type }, at) => (type === 'session.status_idle' ? [at] : [])),
        [events.length - 1],
        'session.status_idle',
      );
    },
  ),

  check(
    136,
    'C',
    'While a child runs and the primary thread is idle, the session is not idle',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper'], { helper: { turns: [[sleeps]] } });
      const stream = await talk.watch();
      await talk.say('go');
      const primary = (await talk.threads())[0]!;
      await stream.until('session.thread_status_idle', { where: ({ session_thread_id: id }) => id === primary.id });
      expectEqual((await talk.retrieve()).status, 'running', 'status of the session');
      const statuses = (await talk.threads()).map(({ status }) => status);
      expectEqual(statuses, ['idle', 'running'], 'statuses of the threads');
      expectThat(!stream.types.includes('session.status_idle'), 'no session.status_idle', stream.types);
      await talk.send({ type: 'user.interrupt' });
      await stream.until('session.status_idle');
    },
  ),

  check(137, 'C', 'A follow-up finds the thread of an idle child, with what it knows', ['scripts'], async (t) => {
    const { id: helper } = await t.agent({
      name: 'helper',
      turns: [[{ say: 'first' }], [{ expect: { contains: ['begin', 'more', 'first'] } }, { say: 'I remember' }]],
    });
    const talk = await t.session({
      name: 'lead',
      system: toCases(
        [
          { match: '^go$', turn: [{ call: 'send_to_agent', input: { agent: 'helper', message: 'begin' } }] },
          {
            match: '^sthr_',
            turn: [{ call: 'send_to_agent', input: { agent: 'helper', message: 'more', thread_id: '{{last_user}}' } }],
          },
        ],
        [{ say: 'heard {{last_user}}' }],
      ),
      multiagent: { type: 'coordinator', agents: [helper] } as never,
    });
    await talk.turn('go');
    const child = await onlyChild(talk);
    const events = await talk.turn(child.id);
    expectEqual((await onlyChild(talk)).id, child.id, 'the child');
    expectEqual(ofType(events, 'session.thread_created').length, 1, 'session.thread_created');
    expectThat(saidIn(events).includes('I remember'), 'the second report', saidIn(events));
  }),

  check(138, 'C', 'Two copies of a member are two threads', ['scripts'], async (t) => {
    const talk = await lead(t, ['helper', 'helper']);
    const events = await talk.turn('go');
    expectEqual(
      (await talk.children()).map(({ agent }) => agent.name),
      ['helper', 'helper'],
      'children',
    );
    const ids = ofType(events, 'session.thread_created').map(({ session_thread_id }) => session_thread_id);
    expectEqual(new Set(ids).size, 2, 'threads');
  }),
]);
