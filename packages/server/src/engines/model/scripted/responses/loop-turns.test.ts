import { expect, it } from 'vitest';
import { watchLoop } from '../../../../base/watch-loop.suite.ts';
import { createScriptedModel } from '../model.ts';
import { ResponsesEncoder } from './encoder.ts';

/** 50 ms on a machine that has nothing else to do, and what other tests and collecting garbage on all cores add to that. */
const TURN_MS = 120;

it.each<[string, () => object]>([
  [
    '12,000 items',
    () => ({ input: Array.from({ length: 12_000 }, (_, at) => said(at % 2 === 0 ? 'user' : 'assistant')) }),
  ],
  [
    'a message of 20,000 parts',
    () => ({ input: [{ role: 'user', content: repeat(20_000, { type: 'input_text', text: 'x' }) }] }),
  ],
  ['20,000 tools', () => ({ input: 'Hello', tools: repeat(20_000, { type: 'custom', name: 'x' }) })],
  [
    '25 MB of text',
    () => ({ input: [said('user'), { role: 'user', content: '"é'.repeat(8_000_000) }, ...toScript([])] }),
  ],
  ['900,000 characters in words', () => ({ input: toScript([{ say: 'a '.repeat(450_000) }]) })],
  [
    'a text of 900,000 characters for a tool',
    () => ({
      input: toScript([{ call: 'x', input: 'é '.repeat(450_000) }]),
      tools: [{ type: 'custom', name: 'x' }],
    }),
  ],
  ['90,000 events', () => ({ input: toScript(repeat(9, { say: 'y'.repeat(100_000), chunks: 10_000 })) })],
])('[K76] a response is planned and encoded without holding the event loop: %s', async (_, toBody) => {
  const body = { model: 'gpt-x', stream: true, ...toBody() };
  // What is compiled first takes longer, and the garbage of making the bodies is not what is measured.
  await answer({ model: 'gpt-x', input: 'Hello' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const endWatch = watchLoop();
  const last = await answer(body);
  const turnMs = endWatch();
  expect(last).toBe('response.completed');
  expect(turnMs).toBeLessThan(TURN_MS);
});

/** Plans, plays and encodes, and returns the type of the last event. */
async function answer(body: object): Promise<string | undefined> {
  const model = createScriptedModel();
  const plan = await model.plan(body, { api: 'responses' });
  const encoder = new ResponsesEncoder(plan);
  let last: string | undefined;
  for await (const due of model.play(plan)) {
    for (const event of encoder.add(due)) {
      JSON.stringify(event);
      last = event.type;
    }
  }
  return last;
}

function said(role: string): object {
  return { role, content: 'x' };
}

function toScript(turn: readonly object[]): object[] {
  return [{ role: 'user', content: `<script>${JSON.stringify({ turns: [turn] })}</script>` }];
}

function repeat(length: number, value: object): object[] {
  return Array.from({ length }, () => value);
}
