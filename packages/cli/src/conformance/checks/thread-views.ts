import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectThat } from '../harness/expect.ts';
import { customTools, lead, onlyChild, untilChildren, write } from '../harness/lead.ts';
import { type Step, toCases, sleeps } from '../harness/script.ts';
import { saidIn } from '../harness/talk.ts';

export const threadViewChecks = defineChecks('Threads', [
  check(150, 'C', "A child's previews are only on the stream of the child", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: {
        turns: [[{ call: 'lookup', input: {} }], [{ say: 'one two three four five', every_ms: 50 }]],
        tools: customTools,
      },
    });
    const session = await t.watch(talk.id, { event_deltas: ['agent.message'] } as never);
    await talk.say('go');
    const use = await session.until('agent.custom_tool_use');
    const child = await onlyChild(talk);
    // The child waits for its tool: both streams see its next model request start.
    const thread = await t.watchThread(talk.id, child.id, { event_deltas: ['agent.message'] } as never);
    await talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: use.id });
    const message = await thread.until('agent.message');
    await session.until('session.status_idle', { where: ({ stop_reason }) => stop_reason.type === 'end_turn' });
    const isOf = (event: object) => JSON.stringify(event).includes(message.id);
    expectEqual(session.events.filter(isOf), [], 'previews on the session');
    expectEqual(thread.events.filter(isOf).at(0)?.type, 'event_start', 'the first preview on the thread');
    expectThat(thread.events.filter(isOf).length > 3, 'previews on the thread', thread.types);
  }),

  check(151, 'E', 'statuses[] filters threads', ['scripts'], async (t) => {
    const talk = await lead(t, ['quick', 'slow'], { slow: { turns: [[sleeps]] } });
    const stream = await talk.watch();
    await talk.say('go');
    await stream.until('session.thread_status_idle', { where: ({ agent_name }) => agent_name === 'quick' });
    await untilChildren(talk, 2);
    const names = async (...statuses: ('idle' | 'running' | 'terminated')[]) =>
      (await talk.threads({ statuses })).map(({ agent }) => agent.name).filter((name) => name !== 'lead');
    expectEqual(await names('running'), ['slow'], 'running');
    expectEqual(await names('idle'), ['quick'], 'idle');
    expectEqual(await names('terminated'), [], 'terminated');
  }),

  check(152, 'C', 'A child has its own model, prompt and tools, and shares the files', ['scripts'], async (t) => {
    const read: Step = { call: 'read', input: { file_path: 'a.txt' } };
    const tools = [{ type: 'agent_toolset_20260401' }] as never;
    const { id: writer } = await t.agent({
      name: 'writer',
      model: 'scripted/worker',
      turns: [[{ expect: { tools: ['write'] } }, write], [{ say: 'wrote' }]],
      tools,
    });
    const talk = await t.session({
      name: 'lead',
      tools,
      system: toCases(
        [
          { match: '^go$', turn: [{ call: 'send_to_agent', input: { agent: 'writer', message: 'write' } }] },
          { match: 'wrote', turn: [read] },
          { match: 'shared', turn: [{ say: 'I read it' }] },
        ],
        [{ say: 'waiting' }],
      ),
      multiagent: { type: 'coordinator', agents: [writer] } as never,
    });
    const events = await talk.turn('go');
    expectThat(saidIn(events).includes('I read it'), 'the file of the child', events.slice(-12));
    const { agent } = await onlyChild(talk);
    expectEqual([agent.model.id, agent.name], ['scripted/worker', 'writer'], 'the agent of the child');
  }),

  check(153, 'C', 'The events of a thread come in pages, and stay when it is archived', ['scripts'], async (t) => {
    const talk = await lead(t, ['helper']);
    await talk.turn('go');
    const { id } = await onlyChild(talk);
    const events = await talk.threadEvents(id);
    expectThat(events.length > 5, 'several events', events.length);
    expectEqual(await talk.threadEvents(id, 2), events, 'the same in pages of 2');
    await t.client.beta.sessions.threads.archive(id, { session_id: talk.id });
    expectEqual((await talk.threadEvents(id)).slice(0, events.length), events, 'the same once archived');
  }),

  check(154, 'C', 'An unknown thread, or one of another session, is 404', [], async (t) => {
    const [talk, other] = [await t.session(), await t.session()];
    const [foreign] = await other.threads();
    for (const id of ['sthr_01AAAAAAAAAAAAAAAAAAAAAA', foreign!.id]) {
      const { threads } = t.client.beta.sessions;
      await expectRefusal(threads.retrieve(id, { session_id: talk.id }), 404, 'the thread');
      await expectRefusal(talk.threadEvents(id), 404, 'its events');
      await expectRefusal(t.watchThread(talk.id, id), 404, 'its stream');
      await expectRefusal(threads.archive(id, { session_id: talk.id }), 404, 'its archiving');
    }
  }),
]);
