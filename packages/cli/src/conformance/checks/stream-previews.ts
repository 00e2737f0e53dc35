import type { AccumulatedEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';
import type { BetaManagedAgentsStreamSessionEvents } from '@anthropic-ai/sdk/resources/beta/sessions/events';
import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectFound, expectRefused, expectThat } from '../harness/expect.ts';
import { toCases } from '../harness/script.ts';
import { ofType } from '../harness/talk.ts';

const PREVIEWS = { event_deltas: ['agent.message', 'agent.thinking'] } as never;

/** Previews of unfinished events with `event_deltas`. */
export const streamPreviewChecks = defineChecks('Streams', [
  check(105, 'C', 'Previews: one start, deltas in order, then the message with the same id', ['scripts'], async (t) => {
    const words = 'one two three four five six';
    const talk = await t.session({ turns: [[{ say: words, chunks: 6, every_ms: 50 }]] });
    const stream = await t.watch(talk.id, PREVIEWS);
    await talk.say('go');
    await stream.until('session.status_idle');
    const message = expectFound(ofType(stream.events, 'agent.message')[0], 'a message', stream.types);
    const previews = stream.events.filter(({ type }) => type.startsWith('event_'));
    const starts = previews.filter(({ type }) => type === 'event_start');
    expectEqual(starts, [{ type: 'event_start', event: { type: 'agent.message', id: message.id } }], 'starts');
    expectEqual(previews[0]?.type, 'event_start', 'the first preview');
    expectThat(previews.length > 2, 'several deltas', previews);
    expectThat(
      stream.events.indexOf(message) > stream.events.indexOf(previews.at(-1)!),
      'the message last',
      stream.types,
    );
    // Assembled as in the official SDK.
    let grown: AccumulatedEvent | undefined;
    for (const event of previews) grown = t.sdk.accumulate(grown, toSdkEvent(event));
    const shown = grown?.content.map((block) => ('text' in block ? block.text : '')).join('') ?? '';
    expectThat(shown !== '' && words.startsWith(shown), `a beginning of "${words}"`, shown);
    grown = t.sdk.accumulate(grown, toSdkEvent(message));
    expectEqual(grown?.content, message.content, 'the end of the accumulation');
    const listed = await talk.list();
    expectThat(!listed.some(({ type }) => (type as string).startsWith('event_')), 'no previews in the list', listed);
  }),

  check(106, 'E', 'The preview of a thought is only its start', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ think: 'deep in thought' }, { say: 'done' }]] });
    const stream = await t.watch(talk.id, { event_deltas: ['agent.thinking'] } as never);
    await talk.say('go');
    await stream.until('session.status_idle');
    const thought = expectFound(ofType(stream.events, 'agent.thinking')[0], 'a thought', stream.types);
    const previews = stream.events.filter(({ type }) => type.startsWith('event_'));
    expectEqual(previews, [{ type: 'event_start', event: { type: 'agent.thinking', id: thought.id } }], 'previews');
  }),

  check(107, 'C', 'A wrong value of event_deltas is 400 and named', [], async (t) => {
    const { id } = await t.session();
    const path = `/v1/sessions/${id}/events/stream?event_deltas[]=agent.tool_use`;
    expectRefused(await t.raw({ path }), 400, 'agent.tool_use', /event_deltas/);
    const many = Array.from({ length: 101 }, () => 'event_deltas[]=agent.message').join('&');
    expectRefused(await t.raw({ path: `/v1/sessions/${id}/events/stream?${many}` }), 400, '101 values', /event_deltas/);
  }),

  check(108, 'C', 'A stream opened during a model request has no previews of that request', ['scripts'], async (t) => {
    const words = Array.from({ length: 40 }, (_, at) => at).join(' ');
    const talk = await t.session({
      system: toCases([{ match: 'again', turn: [{ say: 'k l m', every_ms: 10 }] }], [{ say: words, every_ms: 1_000 }]),
    });
    const first = await t.watch(talk.id, PREVIEWS);
    await talk.say('go');
    // The first stream after a send may replay missed events, so the late stream must not be the first.
    const second = await t.watch(talk.id);
    await first.until('event_delta');
    const late = await t.watch(talk.id, PREVIEWS);
    const from = first.events.length;
    await first.until('event_delta', { from });
    await talk.send({ type: 'user.interrupt' });
    await late.until('session.status_idle');
    second.close();
    const isPreview = (type: string) => type.startsWith('event_');
    expectThat(!late.types.some(isPreview), 'no previews', late.types);
    expectThat(late.types.includes('span.model_request_end'), 'the end of the request', late.types);
    const before = late.events.length;
    await talk.say('again');
    await late.until('session.status_idle', { from: before });
    expectThat(late.types.slice(before).some(isPreview), 'previews of the next request', late.types.slice(before));
  }),

  check(109, 'C', 'A request that is interrupted gives no message, and its span ends', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'a b c d e f g h i j k l m n o p', every_ms: 1_000 }]] });
    const stream = await t.watch(talk.id, PREVIEWS);
    await talk.say('go');
    await stream.until('event_delta');
    await talk.send({ type: 'user.interrupt' });
    const idle = await stream.until('session.status_idle');
    expectEqual(idle.stop_reason, { type: 'end_turn' }, 'why it stopped');
    const { types } = stream;
    expectThat(!types.includes('agent.message'), 'no message', types);
    expectThat(
      types.lastIndexOf('span.model_request_end') > types.lastIndexOf('event_delta'),
      'the end of the span',
      types,
    );
  }),
]);

/** The cast is safe: the value comes from the SDK, whose type has another name than the type of the contract. */
function toSdkEvent(event: object): BetaManagedAgentsStreamSessionEvents {
  return event as BetaManagedAgentsStreamSessionEvents;
}
