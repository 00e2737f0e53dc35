import type { ClientEventParams, SessionEvent, SessionThread } from '@fleetloom/protocol/managed-agents';
import { check, defineChecks } from '../check.ts';
import type { AgentParams, Context } from '../context.ts';
import type { EventOf } from '../event-of.ts';
import { expectEqual, expectFound, expectRefusal, expectThat } from '../expect.ts';
import { type Step, toCases } from '../script.ts';
import { ofType, saidIn, type Talk } from '../talk.ts';

const ask = { permission_policy: { type: 'always_ask' } } as const;
const askingTools = [{ type: 'agent_toolset_20260401', default_config: ask }] as never;
const customTools = [
  { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } },
] as never;
const write: Step = { call: 'write', input: { file_path: 'a.txt', content: 'shared' } };

export const threadChecks = defineChecks('Threads', [
  check(129, 'C', 'A plain session has exactly one thread, without a parent', [], async (t) => {
    const talk = await t.session({ name: 'alone' });
    const threads = await talk.threads();
    expectEqual(
      threads.map(({ session_id, parent_thread_id, status, agent, stats, usage }) => [
        session_id,
        parent_thread_id,
        status,
        agent.name,
        stats,
        usage,
      ]),
      [[talk.id, null, 'idle', 'alone', null, null]],
      'threads',
    );
    const { id } = threads[0]!;
    const read = await t.client.beta.sessions.threads.retrieve(id, { session_id: talk.id });
    expectEqual(read.id, id, 'the thread');
  }),

  check(130, 'C', 'Every session shows how its primary thread runs and rests', ['scripts'], async (t) => {
    const talk = await t.session({ name: 'alone', turns: [[{ say: 'ok' }]] });
    const events = await talk.turn('go');
    const [primary] = await talk.threads();
    const who = { session_thread_id: primary?.id, agent_name: 'alone' };
    const shown = [...ofType(events, 'session.thread_status_running'), ...ofType(events, 'session.thread_status_idle')];
    expectEqual(
      shown.map(({ session_thread_id, agent_name }) => ({ session_thread_id, agent_name })),
      [who, who],
      'of whom',
    );
    expectThat(primary?.stats !== null && primary?.usage !== null, 'stats and usage once it has run', primary);
    expectEqual(await talk.threadEvents(primary!.id), events, 'the events of the primary thread');
  }),

  check(
    131,
    'C',
    'Delegation: thread_created with the name, and a thread below the primary one',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper']);
      const events = await talk.turn('go');
      const [created] = ofType(events, 'session.thread_created');
      const [primary, child] = await talk.threads();
      expectEqual([created?.agent_name, created?.session_thread_id], ['helper', child?.id], 'session.thread_created');
      expectEqual(
        [child?.parent_thread_id, child?.agent.name, child?.status],
        [primary?.id, 'helper', 'idle'],
        'the child',
      );
      const order = [
        'agent.tool_use',
        'session.thread_created',
        'session.thread_status_running',
        'agent.thread_message_sent',
        'agent.tool_result',
      ];
      const of = events.filter((event) => order.includes(event.type) && !isPrimaryStatus(event, primary!.id));
      expectEqual(
        of.map(({ type }) => type),
        order,
        'the order',
      );
    },
  ),

  check(132, 'C', "A child's messages, tools and spans are on its own thread only", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: { turns: [[write], [{ say: 'wrote it' }]], tools: [{ type: 'agent_toolset_20260401' }] as never },
    });
    const events = await talk.turn('go');
    const own = await talk.threadEvents((await onlyChild(talk)).id);
    const types = own.map(({ type }) => type);
    for (const type of [
      'agent.message',
      'agent.tool_use',
      'agent.tool_result',
      'span.model_request_start',
      'span.model_request_end',
    ] as const) {
      expectThat(types.includes(type), `${type} on the thread`, types);
      const ids = new Set(ofType(own, type).map(({ id }) => id));
      expectEqual(
        events.filter(({ id }) => ids.has(id)),
        [],
        `${type} on the session`,
      );
    }
    expectEqual(types[0], 'session.thread_status_running', 'the first event of the thread');
    expectEqual(types.at(-1), 'session.thread_status_idle', 'the last event of the thread');
  }),

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
    'Three children run at the same time, and the session until all of them rest',
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
      expectEqual(types, [running, running, running, idle, idle, idle], 'all of them running before one rests');
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
    'While a child runs and the primary thread rests, the session is not idle',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper'], { helper: { turns: [[{ sleep_ms: 50_000 }]] } });
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

  check(139, 'C', "A child's ask is on the session stream with its thread, and the same id", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
    const events = await talk.turn('go');
    const child = await onlyChild(talk);
    const use = onlyAsk(events, 'agent.tool_use');
    expectEqual([use.session_thread_id, use.evaluated_permission], [child.id, 'ask'], 'the cross-post');
    const [own] = ofType(await talk.threadEvents(child.id), 'agent.tool_use');
    const { session_thread_id: _, ...rest } = use;
    expectEqual(own, rest, 'the copy of the thread');
  }),

  check(
    140,
    'C',
    'A confirmation finds the child by the id alone, and its echo names the thread',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
      const before = await talk.turn('go');
      const child = await onlyChild(talk);
      const tool_use_id = onlyAsk(before, 'agent.tool_use').id;
      const stream = await talk.watch();
      const from = stream.events.length;
      const [echo] = await talk.send({ type: 'user.tool_confirmation', tool_use_id, result: 'allow' });
      expectEqual('session_thread_id' in echo! && echo.session_thread_id, child.id, 'session_thread_id of the echo');
      await stream.until('session.status_idle', { from });
      const events = await talk.list();
      const [shown] = ofType(events, 'user.tool_confirmation');
      expectEqual([shown?.id, shown?.session_thread_id], [echo?.id, child.id], 'the confirmation on the session');
      const own = await talk.threadEvents(child.id);
      const [confirmed] = ofType(own, 'user.tool_confirmation');
      expectEqual(confirmed?.id, echo?.id, 'the confirmation on the thread');
      expectEqual(
        ofType(own, 'agent.tool_result').map(({ is_error }) => is_error),
        [false],
        'the result',
      );
      expectThat(saidIn(events).includes('wrote'), 'the report', saidIn(events));
    },
  ),

  check(141, 'E', 'A confirmation may name the thread; the wrong one is 400', ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
    const before = await talk.turn('go');
    const [primary, child] = await talk.threads();
    const tool_use_id = onlyAsk(before, 'agent.tool_use').id;
    const confirm = (session_thread_id: string): ClientEventParams => ({
      type: 'user.tool_confirmation',
      tool_use_id,
      result: 'allow',
      session_thread_id,
    });
    await expectRefusal(talk.send(confirm(primary!.id)), 400, 'another thread', /thread/);
    const events = await talk.turn(confirm(child!.id));
    expectThat(saidIn(events).includes('wrote'), 'the report', saidIn(events));
  }),

  check(142, 'C', "A child's custom tool works the same way", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: { turns: [[{ call: 'lookup', input: {} }], [{ say: 'found {{last_result}}' }]], tools: customTools },
    });
    const before = await talk.turn('go');
    const child = await onlyChild(talk);
    const use = onlyAsk(before, 'agent.custom_tool_use');
    expectEqual(use.session_thread_id, child.id, 'session_thread_id');
    const content = [{ type: 'text', text: 'gold' }] as const;
    const stream = await talk.watch();
    const from = stream.events.length;
    const [echo] = await talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: use.id, content });
    expectEqual('session_thread_id' in echo! && echo.session_thread_id, child.id, 'session_thread_id of the echo');
    await stream.until('session.status_idle', { from });
    expectThat(saidIn(await talk.list()).includes('found gold'), 'the report', saidIn(await talk.list()));
  }),

  check(143, 'C', 'A session that is idle lists what all of its threads ask for', ['scripts'], async (t) => {
    const talk = await lead(t, ['one', 'two'], {
      one: { turns: [[write], [{ say: 'ok' }]], tools: askingTools },
      two: { turns: [[{ call: 'lookup', input: {} }], [{ say: 'ok' }]], tools: customTools },
    });
    const events = await talk.turn('go');
    const asks = [onlyAsk(events, 'agent.tool_use').id, onlyAsk(events, 'agent.custom_tool_use').id];
    const { stop_reason: stop } = ofType(events, 'session.status_idle').at(-1)!;
    expectEqual(stop.type === 'requires_action' && stop.event_ids.toSorted(), asks.toSorted(), 'event_ids');
  }),

  check(144, 'C', 'One child asks while another runs: the session runs, the child is idle', ['scripts'], async (t) => {
    const talk = await lead(t, ['asks', 'works'], {
      asks: { turns: [[write], [{ say: 'ok' }]], tools: askingTools },
      works: { turns: [[{ sleep_ms: 50_000 }]] },
    });
    const stream = await talk.watch();
    await talk.say('go');
    const idle = await stream.until('session.thread_status_idle', { where: ({ agent_name }) => agent_name === 'asks' });
    const use = await stream.until('agent.tool_use', {
      where: ({ evaluated_permission }) => evaluated_permission === 'ask',
    });
    expectEqual(idle.stop_reason, { type: 'requires_action', event_ids: [use.id] }, 'why the child stopped');
    expectEqual((await talk.retrieve()).status, 'running', 'status of the session');
    const works = (await talk.children()).find(({ agent }) => agent.name === 'works');
    await talk.send({ type: 'user.interrupt', session_thread_id: works!.id });
    const { stop_reason: stop } = await stream.until('session.status_idle');
    expectEqual(stop, { type: 'requires_action', event_ids: [use.id] }, 'why the session stopped');
  }),

  check(
    145,
    'C',
    'An interrupt of a thread stops only that one, without a thread all of them',
    ['scripts'],
    async (t) => {
      const sleep = { turns: [[{ sleep_ms: 50_000 }, { say: 'slept' }]] };
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
    const talk = await lead(t, ['quick', 'slow'], { slow: { turns: [[{ sleep_ms: 50_000 }]] } });
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

  check(149, 'E', 'A child that fails for good is terminated, and the coordinator is told', ['scripts'], async (t) => {
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
  }),

  check(150, 'C', "A child's previews are only on the stream of the child", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: {
        turns: [[{ call: 'lookup', input: {} }], [{ say: 'one two three four five', every_ms: 20 }]],
        tools: customTools,
      },
    });
    const session = await t.watch(talk.id, { event_deltas: ['agent.message'] } as never);
    await talk.say('go');
    const use = await session.until('agent.custom_tool_use');
    const child = await onlyChild(talk);
    // The child waits for its tool: its next request begins before the eyes of both.
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
    const talk = await lead(t, ['quick', 'slow'], { slow: { turns: [[{ sleep_ms: 50_000 }]] } });
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

/** A coordinator that gives each of these members a task at once, and tells what they report. */
async function lead(
  t: Context,
  names: readonly string[],
  members: Readonly<Record<string, AgentParams>> = {},
): Promise<Talk> {
  const ids: string[] = [];
  for (const name of new Set(names)) {
    ids.push((await t.agent({ name, turns: [[{ say: `report of ${name}` }]], ...members[name] })).id);
  }
  const tasks = names.map((agent): Step => ({ call: 'send_to_agent', input: { agent, message: `task for ${agent}` } }));
  return t.session({
    name: 'lead',
    system: toCases([{ match: '^go$', turn: tasks }], [{ say: 'heard {{last_user}}' }]),
    multiagent: { type: 'coordinator', agents: ids } as never,
  });
}

async function onlyChild(talk: Talk): Promise<SessionThread> {
  const children = await talk.children();
  expectEqual(children.length, 1, 'children');
  return children[0]!;
}

async function untilChildren(talk: Talk, count: number): Promise<void> {
  const stream = await talk.watch();
  let from = 0;
  for (let seen = 0; seen < count; seen += 1) {
    const created = await stream.until('session.thread_created', { from });
    from = stream.events.indexOf(created) + 1;
  }
}

/** The one call of this kind that a child asks for. */
function onlyAsk<Type extends 'agent.tool_use' | 'agent.custom_tool_use'>(
  events: readonly SessionEvent[],
  type: Type,
): EventOf<Type> {
  const asks = ofType(events, type).filter((event) => 'session_thread_id' in event);
  expectEqual(asks.length, 1, `${type} with a thread`);
  return expectFound(asks[0], type, events);
}

function isPrimaryStatus(event: SessionEvent, primaryId: string): boolean {
  return event.type === 'session.thread_status_running' && event.session_thread_id === primaryId;
}
