import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../model.ts';
import { ScriptedModelError } from '../failure.ts';

describe('a script in the conversation', () => {
  it('[K1] the first script of the first user message wins over the system prompt and the model', async () => {
    const system = script('from the system prompt');
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'text', text: `Do this: ${script('first')} and not ${script('second')}` },
      { type: 'text', text: script('third') },
    ];
    expect(await answer({ model: 'scripted/slow', system, messages: [{ role: 'user', content }] })).toBe('first');
  });

  it('[K1] without one there, the first script of the system prompt plays', async () => {
    const system = [
      { type: 'text', text: 'You are an agent.' },
      { type: 'text', text: script('from the system prompt') },
      { type: 'text', text: script('too late') },
    ];
    expect(await answer({ model: 'claude-sonnet-5', system })).toBe('from the system prompt');
    expect(await answer({ system: script('as one text') })).toBe('as one text');
  });

  it('[K1] scripts in later messages are only text', async () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: script('later') },
    ];
    expect(await answer({ messages })).toBe(script('later'));
  });

  it('[K1] a script ends at the first end tag, and one inside another is written with its bracket escaped', async () => {
    const inner = JSON.stringify(script('inner')).replaceAll('<', '\\u003c');
    const content = `<script>{"turns":[[{"say":${inner}}]]}</script>`;
    const said = await answer({ messages: [{ role: 'user', content }] });
    expect(said).toBe(script('inner'));
    expect(await answer({ messages: [{ role: 'user', content: said }] })).toBe('inner');
    const cut = '<script>{"turns":[[{"say":"</script>"}]]}</script>';
    await expect(answer({ messages: [{ role: 'user', content: cut }] })).rejects.toThrow('is not valid JSON');
  });

  it('[K1] a script element whose text does not begin with a brace is taken for HTML', async () => {
    const html = 'What does <script>alert(1)</script> do?';
    expect(await answer({ messages: [{ role: 'user', content: html }] })).toBe(html);
    expect(await answer({ messages: [{ role: 'user', content: `${html} <script>\n ${inside('x')}</script>` }] })).toBe(
      'x',
    );
  });

  it('[K3] a malformed script is a 400 that names the script and the position', async () => {
    const wrong = (text: string) => ({ messages: [{ role: 'user', content: `<script>${text}</script>` }] });
    await expect(answer(wrong('{"turns":[[{"say":"a"},{"say":"b"},{"call":7}]]}'))).rejects.toEqual(
      refusal(400, 'the script in the first user message: turns[0][2].call: must be a string, got a number'),
    );
    await expect(answer({ system: '<script>{"turn":1}</script>' })).rejects.toEqual(
      refusal(400, 'the script in the system prompt: turn: is unknown here; known: turns, when, else, usage'),
    );
    await expect(answer({ messages: [{ role: 'user', content: '<script>{"turns":[]}' }] })).rejects.toEqual(
      refusal(400, 'the script in the first user message: does not end: write </script>'),
    );
  });
});

describe('a script by name', () => {
  it('[K2] without a script in the conversation the model names it, and other models are the echo', async () => {
    expect(await answer({ model: 'scripted/worker' })).toContain('My report on "Hello"');
    expect(await answer({ model: 'scripted/echo' })).toBe('Hello');
    expect(await answer({ model: 'claude-opus-5' })).toBe('Hello');
  });

  it('[K2] an unknown scripted model is not found, as any unknown model of the real API', async () => {
    for (const model of ['scripted/unknown', 'scripted/', 'scripted/../echo', 'scripted/constructor']) {
      await expect(answer({ model })).rejects.toEqual(refusal(404, `model: ${model}`));
    }
  });
});

async function answer(params: object): Promise<string> {
  const defaults = { model: 'scripted/echo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
  const model = createScriptedModel({ sleep: async () => {} });
  const { content } = await model.create({ ...defaults, ...params });
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function script(say: string): string {
  return `<script>${inside(say)}</script>`;
}

function inside(say: string): string {
  return JSON.stringify({ turns: [[{ say }]] });
}

function refusal(status: number, message: string) {
  const errorType = status === 400 ? 'invalid_request_error' : 'not_found_error';
  return expect.toSatisfy((error: unknown) => {
    expect(error).toBeInstanceOf(ScriptedModelError);
    expect(error).toMatchObject({ failure: { type: 'refused', status, errorType, message } });
    return true;
  });
}
