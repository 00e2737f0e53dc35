import { check, defineChecks } from '../check.ts';
import { expectEqual, expectFound, expectRefused, expectThat } from '../expect.ts';
import { toCases } from '../script.ts';
import { ofType, saidIn, toMessage } from '../talk.ts';

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

  check(
    86,
    'C',
    'A message is sent with processed_at null, and has it once it was taken up',
    ['scripts'],
    async (t) => {
      const talk = await t.session({ turns: [[{ say: 'ok' }]] });
      await talk.watch();
      const sent = await talk.say('hello');
      expectEqual(sent.processed_at, null, 'processed_at of the answer');
      await talk.rest();
      const listed = (await talk.list()).find(({ id }) => id === sent.id);
      expectThat(typeof listed?.processed_at === 'string', 'processed_at in the list', listed);
    },
  ),

  check(87, 'C', 'The events of a plain turn stand in their order', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'hello' }]] });
    const events = await talk.turn('hi');
    expectEqual(
      events.map(({ type }) => type),
      PLAIN_TURN,
      'the list',
    );
    const stream = await talk.watch();
    // Older versions of the SDK do not know session.usage, and keep it to themselves.
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
      // Also when nothing can be interrupted any more.
      await talk.send({ type: 'user.interrupt' });
    }
    const [newest] = await talk.list({ order: 'desc', limit: 1 });
    expectEqual(newest?.type, 'session.status_idle', 'the last event after an interrupt of nothing');
  }),

  check(91, 'C', 'Messages that are sent while it runs are all processed, in order', ['scripts'], async (t) => {
    const talk = await t.session({
      system: toCases(
        [
          { match: '^first$', turn: [{ sleep_ms: 50_000 }] },
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

  check(92, 'C', 'A message of plain text, or without content, is 400', [], async (t) => {
    const { id } = await t.session();
    for (const content of ['text', [], undefined, [{ type: 'text' }], [{ type: 'text', text: 'x', extra: 1 }]]) {
      const body = { events: [{ type: 'user.message', content }] };
      expectRefused(
        await t.raw({ method: 'POST', path: `/v1/sessions/${id}/events`, body }),
        400,
        JSON.stringify(content),
        /events/,
      );
    }
    const path = `/v1/sessions/${id}/events`;
    expectRefused(await t.raw({ method: 'POST', path, body: { events: [] } }), 400, 'no events', /events/);
  }),

  check(93, 'C', 'An unknown type is 400, and one bad event refuses all', [], async (t) => {
    const talk = await t.session();
    for (const bad of [{ type: 'user.shout' }, { type: 'agent.message', content: [text('x')] }, {}]) {
      const body = { events: [toMessage('fine'), bad] };
      const answer = await t.raw({ method: 'POST', path: `/v1/sessions/${talk.id}/events`, body });
      expectRefused(answer, 400, JSON.stringify(bad), /events/);
    }
    expectEqual([(await talk.list()).length, (await talk.retrieve()).status], [0, 'idle'], 'events and status');
  }),

  check(94, 'E', 'A redacted block from a client is 400', [], async (t) => {
    const { id } = await t.session();
    const body = { events: [{ type: 'user.message', content: [{ type: 'redacted' }] }] };
    expectRefused(await t.raw({ method: 'POST', path: `/v1/sessions/${id}/events`, body }), 400, 'redacted');
  }),

  check(
    95,
    'E',
    'An image as base64 and a document as text are accepted and reach the model',
    ['scripts'],
    async (t) => {
      const talk = await t.session({ turns: [[{ expect: { contains: 'look' } }, { say: 'seen' }]] });
      const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
      const content = [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'facts' }, title: 'Facts' },
        text('look'),
      ] as const;
      const events = await talk.turn({ type: 'user.message', content });
      expectEqual(ofType(events, 'user.message')[0]?.content, content, 'the message');
      expectEqual([saidIn(events), ofType(events, 'session.error')], ['seen', []], 'the answer');
    },
  ),

  check(
    96,
    'C',
    'Events are listed oldest first, and with order=desc exactly the other way',
    ['scripts'],
    async (t) => {
      const talk = await t.session({ turns: [[{ say: 'ok' }]] });
      await talk.turn('one');
      const events = await talk.turn('two');
      expectEqual(await talk.list({ order: 'desc' }), events.toReversed(), 'order=desc');
      expectEqual(await talk.list({ order: 'desc', limit: 3 }), events.toReversed(), 'order=desc in pages of 3');
    },
  ),

  check(97, 'C', 'types[] gives only those', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    const events = await talk.turn('one');
    const types: ('agent.message' | 'user.message')[] = ['agent.message', 'user.message'];
    const wanted = events.filter(({ type }) => types.some((each) => each === type));
    expectEqual(await talk.list({ types }), wanted, 'the list');
    expectRefused(
      await t.raw({ path: `/v1/sessions/${talk.id}/events?types[]=nonsense` }),
      400,
      'an unknown type',
      /types/,
    );
  }),

  check(98, 'C', 'limit=1000 is accepted, and limit=1 gives everything once', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    const events = await talk.turn('one');
    expectEqual(await talk.list({ limit: 1_000 }), events, 'limit=1000');
    expectEqual(await talk.list({ limit: 1 }), events, 'limit=1');
    const exact = await t.raw({ path: `/v1/sessions/${talk.id}/events?limit=${events.length}` });
    expectEqual(exact.json.next_page, null, 'next_page of a page that holds all');
    expectRefused(await t.raw({ path: `/v1/sessions/${talk.id}/events?limit=0` }), 400, 'limit=0', /limit/);
  }),

  check(99, 'E', 'What a session has used is the sum of its model requests', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [[{ call: 'no_such_tool', input: {} }], [{ say: 'done' }]],
      usage: { input_tokens: 1_000, output_tokens: 50 },
    });
    await talk.turn('one');
    const events = await talk.turn('two');
    const spans = ofType(events, 'span.model_request_end').map(({ model_usage }) => model_usage);
    const sum = (pick: (usage: (typeof spans)[number]) => number) =>
      spans.reduce((total, usage) => total + pick(usage), 0);
    const { usage } = await talk.retrieve();
    expectEqual(spans.length, 3, 'requests');
    expectEqual(
      [usage.input_tokens, usage.output_tokens],
      [sum((each) => each.input_tokens), sum((each) => each.output_tokens)],
      'tokens',
    );
    expectEqual([usage.input_tokens, usage.output_tokens], [3_000, 150], 'tokens that the script claims');
    const last = expectFound(ofType(events, 'session.usage').at(-1), 'session.usage', events);
    expectEqual([last.usage.input_tokens, last.usage.output_tokens], [3_000, 150], 'session.usage');
  }),
]);

function text(words: string) {
  return { type: 'text', text: words } as const;
}
