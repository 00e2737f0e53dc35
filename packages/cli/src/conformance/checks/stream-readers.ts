import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat, Mismatch } from '../harness/expect.ts';
import { ofType, saidIn, type Talk } from '../harness/talk.ts';
import { clientPatterns, TooSlow } from '../harness/client-patterns.ts';

/** Several, stopped and reconnecting readers of one session. */
export const streamReaderChecks = defineChecks('Streams', [
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
      const talk = await longTurn(t);
      const random = seeded(20_261_116);
      await talk.say('go');
      const seen = new Map<string, SessionEvent>();
      let connections = 0;
      for (let isOver = false; !isOver; connections += 1) {
        await readForAWhile(t, talk, seen, 20 + random() * 300);
        isOver = await answerGate(talk, seen);
      }
      const listed = await talk.list();
      expectThat(listed.length >= 1_000, 'at least 1,000 events', listed.length);
      expectThat(connections > GATES, 'a connection for each gate', connections);
      // Older versions of the SDK drop session.usage on streams; the list has it.
      const missing = listed.filter(({ id, type }) => !seen.has(id) && type !== 'session.usage');
      expectEqual(missing, [], 'events that were never seen');
      const ids = new Set(listed.map(({ id }) => id));
      const invented = [...seen.values()].filter(({ id }) => !ids.has(id));
      expectEqual(invented, [], 'events that were seen and are not listed');
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
        let slow = 0;
        for (let round = 0; round < rounds + slow; round += 1) {
          const outcome = await pattern(t).catch((error: unknown) => error);
          // On a machine too busy to send the request in time, it is repeated.
          if (outcome instanceof TooSlow && slow < rounds * 4) slow += 1;
          else if (outcome !== 'idle')
            throw new Mismatch(`${name}: the idle event in round ${round - slow + 1} of ${rounds}`, String(outcome));
        }
      };
      await Promise.all(Object.entries(clientPatterns).map(repeat));
    },
  ),

  check(113, 'C', 'A reader that never reads does not delay other readers', ['scripts'], async (t) => {
    const talk = await t.session({ turns: [[{ say: 'not delayed' }]] });
    const stuck = await t.fetch(`/v1/sessions/${talk.id}/events/stream`);
    const stream = await talk.watch();
    // Each update is an event with the whole agent in it: together more than sockets and servers buffer for one reader.
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

const GATES = 6;

/**
 * A turn that waits at several gates until the client opens each: the number of connections does not depend on the speed of
 * the server or of the reader.
 */
function longTurn(t: Context): Promise<Talk> {
  const calls = Array.from({ length: 8 }, () => ({ call: 'no_such_tool', input: {} }));
  const requests = Array.from({ length: 10 }, () => [...calls, { sleep_ms: 5 }]);
  const parts = Array.from({ length: GATES }, () => [...requests, [{ call: 'gate', input: {} }]]);
  const tools = [{ type: 'custom', name: 'gate', description: 'Waits.', input_schema: { type: 'object' } }] as never;
  return t.session({ turns: [...parts.flat(), [{ say: 'over' }]], tools });
}

/** Opens a stream, lists, dedupes, follows for a while. */
async function readForAWhile(t: Context, talk: Talk, seen: Map<string, SessionEvent>, forMs: number): Promise<void> {
  const stream = await t.watch(talk.id);
  for (const event of await talk.list()) seen.set(event.id, event);
  await Promise.race([stream.until('session.status_idle').catch(() => {}), late(forMs)]);
  // Without previews everything on a stream has an id.
  for (const event of stream.events as SessionEvent[]) seen.set(event.id, event);
  stream.close();
}

/** Answers the pending gate, if one is open. Returns whether the turn has ended. */
async function answerGate(talk: Talk, seen: Map<string, SessionEvent>): Promise<boolean> {
  const events = [...seen.values()];
  const answered = new Set(ofType(events, 'user.custom_tool_result').map((event) => event.custom_tool_use_id));
  const gate = ofType(events, 'agent.custom_tool_use').find(({ id }) => !answered.has(id));
  if (gate !== undefined) {
    const [echo] = await talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: gate.id });
    if (echo !== undefined) seen.set(echo.id, echo);
  }
  return ofType(events, 'session.status_idle').some(({ stop_reason: stop }) => stop.type === 'end_turn');
}

function late(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A random number generator that returns the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
