import type { Context } from './context.ts';
import type { EventOf } from '../forms/event-of.ts';
import { toCases } from './script.ts';
import { saidIn, type Talk, toMessage } from './talk.ts';

/** Ways in which clients send to a session and stream it. Each returns its outcome. */
export const clientPatterns: Readonly<Record<string, (t: Context) => Promise<string>>> = {
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
    const sentAt = performance.now();
    await talk.say('go');
    await openLate(t, talk, sentAt);
    return 'idle';
  },
  'create with a message, then stream': async (t) => {
    const agentId = await quickAgent(t);
    const sentAt = performance.now();
    // Each text is different: a request retried by the SDK must not be mistaken for one of an earlier round.
    const create = { title: crypto.randomUUID(), initial_events: [toMessage('go') as never] };
    const talk = await t.session({ agentId, create });
    await openLate(t, talk, sentAt);
    return 'idle';
  },
  'a tool loop that opens a stream after each idle': async (t) => {
    const talk = await quick(t);
    let sentAt = performance.now();
    await talk.say('use the tool');
    for (let round = 0; round < 3; round += 1) {
      const { stop_reason: stop } = await openLate(t, talk, sentAt);
      if (stop.type !== 'requires_action') return saidIn(await talk.list()) === 'used' ? 'idle' : stop.type;
      const content = [{ type: 'text', text: '42' }] as const;
      sentAt = performance.now();
      await talk.send(
        ...stop.event_ids.map((id) => ({ type: 'user.custom_tool_result', custom_tool_use_id: id, content }) as const),
      );
    }
    return 'it asks again and again';
  },
};

/** Inconclusive: too much time passed between the send and the opening of the stream. */
export class TooSlow extends Error {}

/** Opens a stream after a send and reads it to the end of the turn. */
async function openLate(t: Context, talk: Talk, sentAt: number): Promise<EventOf<'session.status_idle'>> {
  const stream = await t.watch(talk.id);
  const isSoon = performance.now() - sentAt < SOON_MS;
  const idle = stream.until('session.status_idle');
  try {
    return isSoon ? await idle : await Promise.race([idle, tooSlow()]);
  } finally {
    stream.close();
  }
}

/** Time that a client needs to open its stream at once. Servers need not replay a send for longer. */
const SOON_MS = 2_000;
const WAIT_MS = 5_000;

function tooSlow(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new TooSlow()), WAIT_MS).unref());
}

const agents = new WeakMap<Context, Promise<string>>();

/** A session that responds immediately. */
async function quick(t: Context): Promise<Talk> {
  return t.session({ agentId: await quickAgent(t) });
}

function quickAgent(t: Context): Promise<string> {
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
  return made;
}
