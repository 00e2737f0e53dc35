import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ModelRequest } from '../engines/model/engine.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { SESSION_BYTES_MAX } from './core/content-size.ts';
import { sessionLimits } from './core/limits.ts';
import { message, openFleet, result, solo } from './suite/fleet.suite.ts';
import { createPlainEngine, someUsage } from './suite/plain-engine.suite.ts';

const longTest = 60_000;
const longText = 'word '.repeat(sessionLimits.smallSessionBytes / 4);

/** Counts the requests with a long history that are answered at the same time. Each takes a while. */
function createCountingEngine() {
  const counts = { open: 0, most: 0, answered: 0 };
  const engine = createPlainEngine((request) => answer(request));
  return { engine, counts };

  async function* answer(request: ModelRequest) {
    const isLong = JSON.stringify(request.messages).length > longText.length;
    if (isLong) counts.most = Math.max(counts.most, ++counts.open);
    await sleep(isLong ? 30 : 0);
    if (isLong) counts.open--;
    if (isLong) counts.answered++;
    const stop = { reason: 'end_turn' as const, category: null, explanation: null };
    yield {
      type: 'finished' as const,
      content: [{ type: 'text' as const, text: 'Ok.' }],
      stop,
      usage: someUsage,
      model: 'x',
    };
  }
}

it(
  '[X40] large idle sessions that are woken together are opened one after the other, also by the next process, and small ones at once',
  async () => {
    const store = createMemoryStore();
    const shared = { tickMs: 10 };
    const first = await openFleet({ store, shared, engine: createCountingEngine().engine });
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await first.begin(solo, longText));
    const small = await first.begin(solo, 'Hi.');
    for (const id of [...ids, small]) await first.rest(id);
    await first.close();

    const { engine, counts } = createCountingEngine();
    const openBytesMax = longText.length * 2;
    const second = await openFleet({ store, shared, engine, openBytesMax, owner: 'second' });
    const smallHead = await second.head(small);
    const heads = await Promise.all(ids.map((id) => second.head(id)));
    const sent = Promise.all(ids.map((id) => second.send(id, message('Go on.'))));
    await second.send(small, message('And you.'));
    await second.rest(small, smallHead);
    await sent;
    for (const [index, id] of ids.entries()) await second.rest(id, heads[index]);
    expect(counts).toMatchObject({ most: 1, answered: 5 });

    // Inputs that wait when a process ends are applied by the next one, in the same way.
    await second.close();
    for (const id of ids) {
      const changes = [{ type: 'enqueue_input' as const, input: toInput(id) }];
      await store.commit([{ type: 'submit', sessionId: id, changes }]);
    }
    const after = createCountingEngine();
    const later = await Promise.all(ids.map(async (id) => (await store.heads([id])).get(id)!));
    const third = await openFleet({ store, shared, engine: after.engine, openBytesMax, owner: 'third' });
    for (const [index, id] of ids.entries()) await third.rest(id, later[index]);
    expect(after.counts).toMatchObject({ most: 1, answered: 5 });
  },
  longTest,
);

function toInput(sessionId: string) {
  return { id: `sevt_later_${sessionId}`, threadId: null, time: 0, data: { event: message('Again.') } };
}

it(
  '[X41] events with which a session would have too much content are refused as `session_too_large`, pending ones included',
  async () => {
    const fleet = await openFleet({ engine: createPlainEngine(() => ({ content: [{ type: 'text', text: 'Ok.' }] })) });
    const id = await fleet.begin(solo, 'Hi.');
    const text = 'x'.repeat(Math.min(sessionLimits.contentBytesMax - 1_000, Math.floor(SESSION_BYTES_MAX / 2)));
    const most = Math.floor(SESSION_BYTES_MAX / text.length);
    const codes: string[] = [];
    // One after the other, without waiting until they are applied.
    for (let at = 0; at < most + 2; at++) codes.push(await codeOf(fleet.send(id, message(text))));
    expect(codes).toEqual([...Array<string>(most).fill('ok'), 'session_too_large', 'session_too_large']);
    expect(await codeOf(fleet.send(id, message('Short.')))).toBe('ok');
    expect(sessionLimits.sessionBytesMax).toBe(128 * 1024 * 1024);
    expect(sessionLimits.sessionHeapShare).toBe(1 / 12);
  },
  longTest,
);

it(
  '[X41] a tool result that does not fit into its session becomes an error, and the agent continues',
  async () => {
    const chars = Math.floor(sessionLimits.contentBytesMax * 0.9);
    const rounds = Math.ceil(SESSION_BYTES_MAX / chars);
    const tools = { bash: { kind: 'builtin' as const, run: () => result('x'.repeat(chars)) } };
    const fleet = await openFleet({ tools, windowTokens: 1_000_000_000 });
    const turns = [...Array.from({ length: rounds + 1 }, () => [{ call: 'bash' }]), [{ say: 'Done.' }]];
    const id = await fleet.begin(solo, { turns });
    await fleet.rest(id);
    const results = await fleet.payloads(id, 'agent.tool_result');
    expect(results.slice(0, rounds - 1).map(({ is_error }) => is_error)).toEqual(Array(rounds - 1).fill(false));
    expect(results.slice(rounds - 1)).toMatchObject(
      Array.from({ length: 2 }, () => ({
        is_error: true,
        content: [{ text: expect.stringContaining(`${SESSION_BYTES_MAX} are allowed`) }],
      })),
    );
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  },
  longTest,
);

it('[X43] a running session is not released while the heap is short', async () => {
  let requests = 0;
  const engine = createPlainEngine(() => {
    requests++;
    return answerLate();
  });
  const fleet = await openFleet({ engine, shared: { tickMs: 5 }, isHeapShort: () => true });
  const id = await fleet.begin(solo, 'Take your time.');
  await fleet.rest(id);
  expect(requests).toBe(1);
});

async function* answerLate() {
  await sleep(100);
  const stop = { reason: 'end_turn' as const, category: null, explanation: null };
  yield { type: 'finished' as const, content: [], stop, usage: someUsage, model: 'x' };
}
