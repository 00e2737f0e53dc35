import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefused } from '../harness/expect.ts';
import { ofType, saidIn, toMessage } from '../harness/talk.ts';

export const messageChecks = defineChecks('Events: a plain turn', [
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
]);

function text(words: string) {
  return { type: 'text', text: words } as const;
}
