import { expect, it } from 'vitest';
import { watchLoop } from '../../../base/watch-loop.suite.ts';
import { createScriptedModel } from './model.ts';

/** 50 ms on a machine that has nothing else to do, and what other tests and collecting garbage on all cores add to that. */
const TURN_MS = 120;

const base = { model: 'scripted/x', max_tokens: 100, stream: true };

it('[K38] 16 conversations of 3 MB each are planned at once without holding the event loop', async () => {
  const turns = Array.from({ length: 290 }, () => [
    { say: '{{last_user}}'.repeat(19), chunks: 1 },
    { call: 'glob', input: { pattern: 'x' } },
  ]);
  const answers = Array.from({ length: 60 }, (_, at) => [
    { role: 'assistant', content: [{ type: 'text', text: 'm'.repeat(50_000) }, toCall(at)] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: 'nothing' }] },
  ]);
  const first = { role: 'user', content: 'm'.repeat(50_000) };
  const body = { ...base, system: toScript(turns), messages: [first, ...answers.flat()] };
  const { types, turnMs } = await planAtOnce(Array.from({ length: 16 }, () => body));
  expect(types).toEqual(['message_stop']);
  expect(turnMs).toBeLessThan(TURN_MS);
});

it.each<[string, () => object]>([
  ['16,000 messages', () => ({ messages: toMessages(16_001) })],
  ['a tool input of 45,000 values', () => ({ messages: toCallMessages(Array.from({ length: 45_000 }, () => 1)) })],
  ['a tool input of 45,000 fields', () => ({ messages: toCallMessages(toFields(45_000)) })],
  ['25 MB of text', () => ({ messages: [say([]), assistant('x'), user('"é'.repeat(8_000_000))] })],
  ['a script of 60,000 steps', () => ({ messages: [say(...Array.from({ length: 60 }, () => says(1_000, 'y')))] })],
  [
    'a call of 200,000 values',
    () => ({ messages: [say([{ call: 'x', input: { a: Array.from({ length: 200_000 }, () => 1) } }])] }),
  ],
  ['900,000 characters in words', () => ({ messages: [say([{ say: 'a '.repeat(450_000) }])] })],
  [
    '450,000 characters outside the basic plane',
    () => ({ messages: [say([{ say: '👩'.repeat(450_000), chunks: 9 }])] }),
  ],
  ['900,000 beginnings of a placeholder', () => ({ messages: [say([{ say: '{'.repeat(900_000) }])] })],
  ['90,000 events', () => ({ messages: [say(says(9, 'y'.repeat(100_000), 10_000))] })],
])('[K38] an answer is planned without holding the event loop: %s', async (_name, toBody) => {
  const { types, turnMs } = await planAtOnce([{ ...base, model: 'claude-x', ...toBody() }]);
  expect(types).toEqual(['message_stop']);
  expect(turnMs).toBeLessThan(TURN_MS);
});

async function planAtOnce(bodies: readonly object[]) {
  const model = createScriptedModel();
  // What is compiled first takes longer, and the garbage of making the bodies is not what is measured.
  await model.plan({ ...base, messages: [user('Hello')] });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const endWatch = watchLoop();
  const plans = await Promise.all(bodies.map((body) => model.plan(body)));
  const turnMs = endWatch();
  const last = plans.map(({ items }) => items.at(-1)!);
  return { types: [...new Set(last.map((item) => (item.type === 'event' ? item.event.type : item.type)))], turnMs };
}

function toScript(turns: readonly object[]): string {
  return `<script>${JSON.stringify({ turns })}</script>`;
}

function say(...turns: readonly object[]): object {
  return user(toScript(turns));
}

function says(count: number, text: string, chunks?: number): object[] {
  return Array.from({ length: count }, () => ({ say: text, ...(chunks === undefined ? {} : { chunks }) }));
}

function user(content: string): object {
  return { role: 'user', content };
}

function assistant(content: string): object {
  return { role: 'assistant', content };
}

function toMessages(count: number): object[] {
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? user('x') : assistant('y')));
}

function toFields(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`field ${(at * 7_919) % 1_000_003}`, at]));
}

function toCall(at: number): object {
  return { type: 'tool_use', id: `toolu_${at}`, name: 'glob', input: { pattern: 'x' } };
}

function toCallMessages(a: object): object[] {
  const call = { type: 'tool_use', id: 't', name: 'n', input: { a } };
  const result = { type: 'tool_result', tool_use_id: 't', content: 'x' };
  return [user('x'), { role: 'assistant', content: [call] }, { role: 'user', content: [result] }];
}
