import { expect, it } from 'vitest';
import { listBuiltIns, readBuiltIn } from './built-in-scripts.ts';
import { createScriptedModel } from '../model.ts';
import type { Sleep } from '../play.ts';

it('[K21] every built-in script is well formed', () => {
  expect(listBuiltIns()).toEqual(['echo', 'flaky', 'research', 'slow', 'tools', 'worker']);
  for (const name of listBuiltIns()) expect(readBuiltIn(name)).toBe(readBuiltIn(name));
});

it('[K21] echo answers with the last user text, and states it when there is none', async () => {
  const { content } = await play('echo', [{ role: 'user', content: '  Hello\nthere ' }]);
  expect(content).toEqual([{ type: 'text', text: '  Hello\nthere ', citations: null }]);
  const image = [{ role: 'user', content: [{ type: 'image', source: {} }] }];
  expect(await play('echo', image)).toMatchObject({ content: [{ text: '(nothing was said)' }] });
});

it('[K21] research lists agents, delegates to three workers and reports their results', async () => {
  const { calls, last } = await loop('research', 'the new parser', (name) => {
    return name === 'delegate' ? 'facts\nquestions\nrisks' : 'worker';
  });
  expect(calls.map(({ name }) => name)).toEqual(['list_agents', 'delegate']);
  expect(calls[1]?.input).toEqual({
    tasks: [
      { agent: 'worker', message: 'Collect the facts about: the new parser' },
      { agent: 'worker', message: 'Collect the open questions about: the new parser' },
      { agent: 'worker', message: 'Collect the risks of: the new parser' },
    ],
  });
  expect(last).toContain('facts\nquestions\nrisks');
});

it('[K21] a worker thinks and reports on its task', async () => {
  const { content, stop_reason } = await play('worker', [{ role: 'user', content: 'Count the stars' }]);
  expect(content).toMatchObject([{ type: 'thinking' }, { text: expect.stringContaining('"Count the stars"') }]);
  expect(stop_reason).toBe('end_turn');
});

it('[K21] tools writes, runs and reads a file, and repeats its content', async () => {
  const { calls, last } = await loop('tools', 'Go', (name) => `result of ${name}`);
  expect(calls.map(({ name }) => name)).toEqual(['write', 'bash', 'read']);
  expect(last).toBe('The note says: result of read');
});

it('[K21] flaky is overloaded twice, loses the connection once, and then answers', async () => {
  const model = createScriptedModel();
  const outcomes: string[] = [];
  for (let at = 0; at < 4; at++) {
    const asked = { model: 'scripted/flaky', max_tokens: 100, messages: [{ role: 'user', content: 'Go' }] };
    outcomes.push(await model.create(asked).then(textOf, (error: Error) => error.message));
  }
  expect(outcomes).toEqual([
    '529 Overloaded',
    '529 Overloaded',
    'the script cut the connection',
    'This time it worked.',
  ]);
});

it('[K21] slow takes about twenty seconds', async () => {
  let sleptMs = 0;
  await play('slow', [{ role: 'user', content: 'Go' }], async (ms) => void (sleptMs += ms));
  expect(sleptMs).toBeGreaterThan(15_000);
  expect(sleptMs).toBeLessThan(25_000);
});

async function play(name: string, messages: object[], sleep: Sleep = async () => {}) {
  return await createScriptedModel({ sleep }).create({ model: `scripted/${name}`, max_tokens: 100, messages });
}

/** Answers calls until the model makes none. */
async function loop(script: string, task: string, answer: (name: string) => string) {
  const messages: object[] = [{ role: 'user', content: task }];
  const calls: { name: string; input: unknown }[] = [];
  for (;;) {
    const message = await play(script, messages);
    const uses = message.content.filter((block) => block.type === 'tool_use');
    calls.push(...uses);
    if (message.stop_reason !== 'tool_use') return { calls, last: textOf(message) };
    const results = uses.map(({ id, name }) => ({ type: 'tool_result', tool_use_id: id, content: answer(name) }));
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  }
}

function textOf({ content }: Awaited<ReturnType<typeof play>>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
