import type { AccumulatedEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';
import type { BetaManagedAgentsStreamSessionEvents } from '@anthropic-ai/sdk/resources/beta/sessions/events';
import { decodeSse } from '@fleetloom/protocol/sse';
import { check, defineChecks } from '../check.ts';
import type { Context } from '../context.ts';
import { expectEqual, expectFound, expectRefusal, expectRefused, expectThat, Mismatch } from '../expect.ts';
import { toCases } from '../script.ts';
import { ofType, saidIn, type Talk, toMessage } from '../talk.ts';

const PREVIEWS = { event_deltas: ['agent.message', 'agent.thinking'] } as never;

export const streamChecks = defineChecks('Streams', [
  check(100, 'C', 'The headers of a stream arrive at once, also of an idle session', [], async (t) => {
    const talk = await t.session();
    const began = performance.now();
    const response = await t.fetch(`/v1/sessions/${talk.id}/events/stream`);
    const ms = performance.now() - began;
    expectEqual(response.status, 200, 'status');
    expectThat(ms < 5_000, 'headers within 5 seconds', `${Math.round(ms)} ms`);
    await response.body?.cancel();
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

  check(105, 'C', 'Previews: one start, deltas in order, then the message with the same id', ['scripts'], async (t) => {
    const words = 'one two three four five six';
    const talk = await t.session({ turns: [[{ say: words, chunks: 6, every_ms: 20 }]] });
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
    // As the official SDK puts them together.
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

  check(
    108,
    'C',
    'A stream that is opened in the middle of a request has no previews of it',
    ['scripts'],
    async (t) => {
      const words = Array.from({ length: 40 }, (_, at) => at).join(' ');
      const talk = await t.session({
        system: toCases(
          [{ match: 'again', turn: [{ say: 'k l m', every_ms: 10 }] }],
          [{ say: words, every_ms: 1_000 }],
        ),
      });
      const first = await t.watch(talk.id, PREVIEWS);
      await talk.say('go');
      // The first stream after a send may be given what it has missed, so the one that comes late is not the first.
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
    },
  ),

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

  check(110, 'C', 'Two streams of a session both get everything', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ call: 'no_such_tool', input: {} }], [{ say: 'ok' }]] });
    const [one, two] = [await talk.watch(), await t.watch(talk.id)];
    await talk.turn('go');
    await two.until('session.status_idle');
    expectEqual(two.events, one.events, 'the second stream');
  }),

  check(
    111,
    'C',
    'Open, list, dedupe loses nothing of 1,000 events with random disconnects',
    ['scripts'],
    async (t) => {
      const calls = Array.from({ length: 8 }, () => ({ call: 'no_such_tool', input: {} }));
      const requests = Array.from({ length: 60 }, () => [...calls, { sleep_ms: 5 }]);
      const talk = await t.session({ turns: [...requests, [{ say: 'over' }]] });
      const random = seeded(20_261_116);
      await talk.say('go');
      const seen = new Map<string, string>();
      let connections = 0;
      for (let isOver = false; !isOver; connections += 1)
        isOver = await readForAWhile(t, talk, seen, 5 + random() * 150);
      const listed = await talk.list();
      // What is told of a turn after its end (its usage) came when nobody was reading any more.
      const end = listed.findIndex(({ type }) => type === 'session.status_idle');
      const [upToEnd, later] = [listed.slice(0, end + 1), listed.slice(end + 1)];
      expectThat(upToEnd.length >= 1_000, 'at least 1,000 events', upToEnd.length);
      expectThat(connections > 5, 'several connections', connections);
      const missing = upToEnd.filter(({ id }) => !seen.has(id));
      expectEqual(missing, [], 'events that were never seen');
      const seenLater = later.filter(({ id }) => seen.has(id));
      expectEqual(seen.size, upToEnd.length + seenLater.length, 'events that were seen');
    },
  ),

  check(
    112,
    'C',
    'Whatever the order in which a client sends and opens its stream, it sees the end of its turn',
    ['scripts'],
    async (t) => {
      const rounds = t.isThorough ? 200 : 8;
      const repeat = async ([name, pattern]: [string, (t: Context) => Promise<string>]) => {
        for (let round = 0; round < rounds; round += 1) {
          const outcome = await pattern(t).catch((error: unknown) => String(error));
          if (outcome !== 'idle')
            throw new Mismatch(`${name}: the idle event in round ${round + 1} of ${rounds}`, outcome);
        }
      };
      await Promise.all(Object.entries(patterns).map(repeat));
    },
  ),

  check(113, 'C', 'A reader that never reads delays nobody', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'not delayed' }]] });
    const stuck = await t.fetch(`/v1/sessions/${talk.id}/events/stream`);
    const stream = await talk.watch();
    // Each update is an event with the whole agent in it: more in all than sockets and servers hold for one reader.
    for (let round = 0; round < 12; round += 1) {
      const input_schema = { type: 'object', description: `${round} ${'abcdefghi '.repeat(100_000)}` };
      const tools = [{ type: 'custom', name: 'large', description: 'x', input_schema }] as never;
      await t.client.beta.sessions.update(talk.id, { agent: { tools } });
    }
    await talk.say('go');
    await stream.until('session.status_idle');
    expectEqual(ofType(stream.events, 'session.updated').length, 12, 'updates on the other stream');
    expectEqual(saidIn(stream.events), 'not delayed', 'what was said');
    await stuck.body?.cancel();
  }),

  check(114, 'C', 'After a restart a stream and a list give the same history', ['scripts', 'restart'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'ok' }]] });
    const before = await talk.turn('one');
    const { agent } = await talk.retrieve();
    await t.target.restart!();
    const stream = await t.watch(talk.id);
    expectEqual(await talk.list(), before, 'the list');
    expectEqual((await talk.retrieve()).agent, agent, 'the agent');
    await talk.say('two');
    await stream.until('session.status_idle');
    expectEqual((await talk.list()).slice(0, before.length), before, 'the list after another turn');
  }),

  check(115, 'C', '/threads/{t}/events/stream is 404', [], async (t) => {
    const talk = await t.session();
    const [primary] = await talk.threads();
    const path = `/v1/sessions/${talk.id}/threads/${primary?.id}/events/stream`;
    expectRefused(await t.raw({ path }), 404, path);
    await expectRefusal(t.watchThread(talk.id, 'sthr_01AAAAAAAAAAAAAAAAAAAAAA'), 404, 'an unknown thread');
  }),
]);

/** The frames of a whole turn, as they come. */
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

/** Opens a stream, lists, dedupes, follows for a while. Whether the end was seen. */
async function readForAWhile(t: Context, talk: Talk, seen: Map<string, string>, forMs: number): Promise<boolean> {
  const stream = await t.watch(talk.id);
  for (const { id, type } of await talk.list()) seen.set(id, type);
  await Promise.race([stream.until('session.status_idle').catch(() => {}), late(forMs)]);
  for (const event of stream.events) if ('id' in event) seen.set(event.id, event.type);
  stream.close();
  return [...seen.values()].includes('session.status_idle');
}

/** How programs talk to a session. Each says how it ended. */
const patterns: Readonly<Record<string, (t: Context) => Promise<string>>> = {
  'stream, then send': async (t) => {
    const talk = await quick(t);
    const stream = await t.watch(talk.id);
    await talk.say('go');
    await stream.until('session.status_idle');
    stream.close();
    return 'idle';
  },
  'stream, then send, and the same again': async (t) => {
    const talk = await quick(t);
    for (const text of ['one', 'two', 'three']) {
      const stream = await t.watch(talk.id);
      await talk.say(text);
      await stream.until('session.status_idle');
      stream.close();
      if (!stream.types.includes('agent.message')) return `the end of another turn in turn ${text}`;
    }
    return 'idle';
  },
  'send, then stream': async (t) => {
    const talk = await quick(t);
    await talk.say('go');
    const stream = await t.watch(talk.id);
    await stream.until('session.status_idle');
    stream.close();
    return 'idle';
  },
  'create with a message, then stream': async (t) => {
    const talk = await quick(t, { initial_events: [toMessage('go') as never] });
    const stream = await t.watch(talk.id);
    await stream.until('session.status_idle');
    stream.close();
    return 'idle';
  },
  'a tool loop that opens a stream after each idle': async (t) => {
    const talk = await quick(t);
    await talk.say('use the tool');
    for (let round = 0; round < 3; round += 1) {
      const stream = await t.watch(talk.id);
      const { stop_reason: stop } = await stream.until('session.status_idle');
      stream.close();
      if (stop.type !== 'requires_action') return saidIn(await talk.list()) === 'used' ? 'idle' : stop.type;
      const content = [{ type: 'text', text: '42' }] as const;
      await talk.send(
        ...stop.event_ids.map((id) => ({ type: 'user.custom_tool_result', custom_tool_use_id: id, content }) as const),
      );
    }
    return 'it asks again and again';
  },
};

const agents = new WeakMap<Context, Promise<string>>();

/** A session that answers in no time. */
async function quick(t: Context, create: { initial_events?: never[] } = {}): Promise<Talk> {
  const made =
    agents.get(t) ??
    t
      .agent({
        system: toCases(
          [
            { match: 'use the tool', turn: [{ call: 'answer', input: {} }] },
            { match: '42', turn: [{ say: 'used' }] },
          ],
          [{ say: 'ok' }],
        ),
        tools: [{ type: 'custom', name: 'answer', description: 'x', input_schema: { type: 'object' } }],
      })
      .then(({ id }) => id);
  agents.set(t, made);
  return t.session({ agentId: await made, create });
}

function late(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve(`nothing within ${ms} ms`), ms).unref());
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** It came from there; the contract has only the same type under another name. */
function toSdkEvent(event: object): BetaManagedAgentsStreamSessionEvents {
  return event as BetaManagedAgentsStreamSessionEvents;
}
