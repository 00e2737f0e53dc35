import { decodeSse } from '@fleetloom/protocol/sse';
import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectThat, Mismatch } from '../harness/expect.ts';

export const streamChecks = defineChecks('Streams', [
  check(100, 'C', 'The headers of a stream arrive at once, also of an idle session', [], async (t) => {
    const talk = await t.session();
    const plainMs = await timed(() => talk.retrieve());
    let response: Response | undefined;
    const ms = await timed(async () => (response = await t.fetch(`/v1/sessions/${talk.id}/events/stream`)));
    expectEqual(response?.status, 200, 'status');
    // As fast as any other response, with a margin for a busy machine.
    expectThat(ms < 3_000 + 10 * plainMs, 'headers within 3 seconds', `${Math.round(ms)} ms`);
    await response?.body?.cancel();
  }),

  check(101, 'C', 'Every frame has event: like its type, and ends with a blank line', ['scripts'], async (t) => {
    for (const frame of await rawFrames(t)) {
      const [name, ...others] = frame.split('\n').filter((line) => line.startsWith('event:'));
      const { type } = JSON.parse(dataOf(frame)) as { type: string };
      expectEqual([name?.slice(6).trim(), others], [type, []], 'event:');
    }
  }),

  check(102, 'C', 'A silent stream gives a sign of life at least every 30 seconds', [], async (t) => {
    const talk = await t.session();
    const response = await t.fetch(`/v1/sessions/${talk.id}/events/stream`);
    const began = performance.now();
    for await (const item of decodeSse(response.body!)) {
      if (item.type === 'comment' || (item.type === 'event' && item.event === 'ping')) return;
      throw new Mismatch('a ping or a comment', item);
    }
    throw new Mismatch('a ping within 30 seconds', `the end after ${Math.round(performance.now() - began)} ms`);
  }),

  check(103, 'C', 'All data is JSON, and there is no [DONE]', ['scripts'], async (t) => {
    for (const frame of await rawFrames(t)) JSON.parse(dataOf(frame));
  }),

  check(104, 'C', 'A stream without event_deltas has no previews', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ think: 'hm' }, { say: 'one two three' }]] });
    await talk.turn('go');
    const { types } = await talk.watch();
    expectThat(!types.includes('event_start') && !types.includes('event_delta'), 'no previews', types);
  }),
]);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The SSE frames of a whole turn, as they arrive. */
async function rawFrames(t: Context): Promise<string[]> {
  const talk = await t.session({ turns: [[{ think: 'hm' }, { say: 'one two three' }]] });
  const response = await t.fetch(`/v1/sessions/${talk.id}/events/stream?event_deltas[]=agent.message`);
  await talk.say('go');
  let text = '';
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  while (!/event: session\.status_idle\n[^]*\n\n$/.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Mismatch('session.status_idle', text);
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  expectThat(text.endsWith('\n\n'), 'a blank line at the end', text.slice(-100));
  const frames = text.split('\n\n').filter((frame) => frame.includes('data:'));
  expectThat(frames.length > 5, 'several frames', text);
  return frames;
}

function dataOf(frame: string): string {
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .join('\n');
}
