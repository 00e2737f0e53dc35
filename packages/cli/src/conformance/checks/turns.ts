import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectThat } from '../harness/expect.ts';
import { toCases, sleeps } from '../harness/script.ts';
import { ofType, saidIn, toMessage } from '../harness/talk.ts';

const TOOLSET = [{ type: 'agent_toolset_20260401' }] as never;

const PLAIN_TURN = [
  'session.status_running',
  'session.thread_status_running',
  'user.message',
  'span.model_request_start',
  'agent.message',
  'span.model_request_end',
  'session.thread_status_idle',
  'session.usage',
  'session.status_idle',
];

/** The events of a turn and their order. */
export const turnChecks = defineChecks('Events: a plain turn', [
  check(85, 'C', 'A send answers with each event, in order and with an id', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    const sent = await talk.send(toMessage('one'), toMessage('two'), {
      type: 'system.message',
      content: [{ type: 'text', text: 'be kind' }],
    });
    expectEqual(
      sent.map(({ type }) => type),
      ['user.message', 'user.message', 'system.message'],
      'types',
    );
    expectEqual(
      sent.map((event) => ('content' in event ? event.content : null)),
      [[text('one')], [text('two')], [text('be kind')]],
      'contents',
    );
    expectEqual(new Set(sent.map(({ id }) => id)).size, 3, 'ids');
  }),

  check(86, 'C', 'A sent message has processed_at null until its turn starts', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    await talk.watch();
    const sent = await talk.say('hello');
    expectEqual(sent.processed_at, null, 'processed_at of the answer');
    await talk.rest();
    const listed = (await talk.list()).find(({ id }) => id === sent.id);
    expectThat(typeof listed?.processed_at === 'string', 'processed_at in the list', listed);
  }),

  check(87, 'C', 'The events of a plain turn stand in their order', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'hello' }]] });
    const events = await talk.turn('hi');
    expectEqual(
      events.map(({ type }) => type),
      PLAIN_TURN,
      'the list',
    );
    const stream = await talk.watch();
    // Older versions of the SDK do not know session.usage and drop it.
    const known = (event: { type: string; processed_at?: string | null }) =>
      event.type !== 'session.usage' && event.processed_at !== null;
    expectEqual(stream.settled.filter(known), events.filter(known), 'the stream');
    const times = events.map(({ processed_at }) => Date.parse(processed_at ?? ''));
    expectEqual(
      times,
      times.toSorted((a, b) => a - b),
      'times that never go back',
    );
    const [idle] = ofType(events, 'session.status_idle');
    expectEqual([idle?.stop_reason, idle?.stop_details], [{ type: 'end_turn' }, null], 'why it stopped');
  }),

  check(88, 'C', 'span.model_request_end names its start', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ call: 'no_such_tool', input: {} }], [{ say: 'done' }]] });
    const events = await talk.turn('hi');
    const starts = ofType(events, 'span.model_request_start').map(({ id }) => id);
    const ends = ofType(events, 'span.model_request_end');
    expectEqual(
      ends.map((end) => end.model_request_start_id),
      starts,
      'starts',
    );
    expectEqual(
      ends.map(({ is_error }) => is_error),
      [false, false],
      'is_error',
    );
  }),

  check(
    89,
    'C',
    'A tool use precedes the end of its request; the result follows and names it',
    ['scripts'],
    async (t) => {
      const talk = await t.session({
        turns: [[{ call: 'write', input: { file_path: 'a.txt', content: 'x' } }], [{ say: '{{last_result}}' }]],
        tools: TOOLSET,
      });
      const events = await talk.turn('hi');
      const types = events.map(({ type }) => type);
      const order = [
        'span.model_request_start',
        'agent.tool_use',
        'span.model_request_end',
        'agent.tool_result',
        'span.model_request_start',
      ];
      expectEqual(types.slice(3, 8), order, 'the order');
      const [use] = ofType(events, 'agent.tool_use');
      const [result] = ofType(events, 'agent.tool_result');
      expectEqual([result?.tool_use_id, result?.is_error], [use?.id, false], 'the result');
      expectEqual(
        [use?.name, use?.input, use?.evaluated_permission, use?.evaluation],
        ['write', { file_path: 'a.txt', content: 'x' }, 'allow', { type: 'always_allow' }],
        'the tool use',
      );
    },
  ),

  check(90, 'C', 'session.status_idle is the last event after a turn', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    for (const text of ['one', 'two', 'three']) {
      expectEqual((await talk.turn(text)).at(-1)?.type, 'session.status_idle', 'the last event');
      // The turn has ended: session.status_idle must stay the last event.
      await talk.send({ type: 'user.interrupt' });
    }
    const [newest] = await talk.list({ order: 'desc', limit: 1 });
    expectEqual(newest?.type, 'session.status_idle', 'the last event after an interrupt of nothing');
  }),

  check(91, 'C', 'Messages that are sent while it runs are all processed, in order', ['scripts'], async (t) => {
    const talk = await t.session({
      system: toCases(
        [
          { match: '^first$', turn: [sleeps] },
          { match: '^all\\?$', turn: [{ expect: { contains: ['second', 'third', 'fourth'] } }, { say: 'all there' }] },
        ],
        [{ say: 'ok' }],
      ),
    });
    const stream = await talk.watch();
    await talk.say('first');
    await stream.until('span.model_request_start');
    const texts = ['second', 'third', 'fourth'];
    for (const each of texts) await talk.say(each);
    const waiting = (await talk.list()).filter(({ processed_at }) => processed_at === null);
    expectEqual(
      waiting.map(({ type }) => type),
      ['user.message', 'user.message', 'user.message'],
      'what waits',
    );
    const from = stream.events.length;
    await talk.send({ type: 'user.interrupt' });
    const answer = await stream.until('agent.message', { from });
    await stream.until('session.status_idle', { from: stream.events.indexOf(answer as never) });
    const events = await talk.turn('all?');
    const said = ofType(events, 'user.message').map(({ content: [block], processed_at }) => [
      block,
      processed_at !== null,
    ]);
    expectEqual(
      said,
      ['first', ...texts, 'all?'].map((each) => [text(each), true]),
      'messages',
    );
    expectThat(saidIn(events).endsWith('all there'), 'the model to have seen them', saidIn(events));
  }),
]);

function text(words: string) {
  return { type: 'text', text: words } as const;
}
