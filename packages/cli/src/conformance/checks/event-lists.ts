import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectFound, expectRefused } from '../harness/expect.ts';
import { ofType } from '../harness/talk.ts';

export const eventListChecks = defineChecks('Events: a plain turn', [
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
