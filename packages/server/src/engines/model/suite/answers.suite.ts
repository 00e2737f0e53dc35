import { setImmediate as breathe } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { noUsage } from '../usage.ts';
import {
  ask,
  asking,
  askingScript,
  type CreateEngine,
  findDisorder,
  finishedOf,
  never,
  said,
  useEngine,
} from './send-request.suite.ts';

export function answersSuite(createEngine: CreateEngine): void {
  const tested = useEngine(createEngine);

  it('[N1] a text is emitted in deltas and then as a whole', async () => {
    const events = await ask(tested.engine, asking([{ say: 'Three areas to check.', chunks: 4 }]));
    expect(events.map(({ type }) => type)).toEqual(['block_started', 'delta', 'delta', 'delta', 'delta', 'finished']);
    expect(events[0]).toEqual({ type: 'block_started', index: 0, block: 'text' });
    expect(findDisorder(events)).toBeUndefined();
    expect(finishedOf(events)).toMatchObject({
      content: [{ type: 'text', text: 'Three areas to check.' }],
      stop: { reason: 'end_turn', category: null, explanation: null },
      model: 'scripted/echo',
    });
  });

  it('[N1] a thought keeps its signature', async () => {
    const events = await ask(tested.engine, asking([{ think: 'Let me look.' }, { say: 'Done.' }]));
    expect(findDisorder(events)).toBeUndefined();
    expect(finishedOf(events).content).toEqual([
      { type: 'thinking', thinking: 'Let me look.', signature: expect.stringMatching(/.{40}/) },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('[N2] a call comes as a whole, without pieces', async () => {
    const input = { command: 'ls -l "/tmp"', deep: [1, null, { ä: '👩‍🚀' }] };
    const events = await ask(tested.engine, asking([{ call: 'bash', input }]));
    expect(events.map(({ type }) => type)).toEqual(['block_started', 'finished']);
    expect(events[0]).toEqual({ type: 'block_started', index: 0, block: 'tool_use' });
    expect(finishedOf(events)).toMatchObject({
      content: [{ type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'bash', input }],
      stop: { reason: 'tool_use' },
    });
    expect(Object.keys(finishedOf(events).content[0] ?? {})).toEqual(['type', 'id', 'name', 'input']);
  });

  it('[N2] several calls keep their order, and one without input has an empty one', async () => {
    const steps = [{ say: 'Both.' }, { call: 'read', input: { file_path: 'a' } }, { call: 'list', input: {} }];
    const events = await ask(tested.engine, asking(steps));
    expect(findDisorder(events)).toBeUndefined();
    const { content } = finishedOf(events);
    expect(content).toMatchObject([
      { type: 'text' },
      { name: 'read', input: { file_path: 'a' } },
      { name: 'list', input: {} },
    ]);
    const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['pause_turn', 'pause_turn'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_window_exceeded'],
  ])('[N3] the response has its stop reason: %s', async (stop, reason) => {
    const events = await ask(tested.engine, asking([{ say: 'So far.' }, { stop }]));
    expect(findDisorder(events)).toBeUndefined();
    expect(finishedOf(events)).toMatchObject({ content: [{ text: 'So far.' }], stop: { reason } });
  });

  it('[N3] a response that stops for tool calls without one ends the turn', async () => {
    const events = await ask(tested.engine, asking([{ say: 'I would.' }, { stop: 'tool_use' }]));
    expect(finishedOf(events).stop.reason).toBe('end_turn');
  });

  it('[N1] an empty answer is an answer', async () => {
    const events = await ask(tested.engine, asking([{ stop: 'end_turn' }]));
    expect(events).toHaveLength(1);
    expect(finishedOf(events)).toMatchObject({ content: [], stop: { reason: 'end_turn' } });
  });

  it('[N4] the response has its token usage', async () => {
    const usage = {
      input_tokens: 1000,
      output_tokens: 50,
      cache_read_input_tokens: 700,
      cache_creation_input_tokens: 30,
    };
    const events = await ask(tested.engine, askingScript({ turns: [[{ say: 'Hi' }]], usage }));
    expect(finishedOf(events).usage).toEqual({
      ...noUsage,
      inputTokens: 1000,
      outputTokens: 50,
      cacheReadTokens: 700,
      cacheWrite5mTokens: 30,
    });
  });

  it('[N5] the model receives the system prompt, the tools, all messages and all results', async () => {
    const first = asking([{ call: 'bash', input: { command: 'ls' } }]);
    const { content } = finishedOf(await ask(tested.engine, first));
    const [call] = content;
    if (call?.type !== 'tool_use') throw new Error('no call');
    const expectation = {
      contains: ['Be brief.', 'by the way'],
      tool_result: 'a.txt',
      is_error: false,
      tools: ['bash'],
    };
    const script = {
      turns: [[{ call: 'bash', input: { command: 'ls' } }], [{ expect: expectation }, { say: 'Seen.' }]],
    };
    const second = askingScript(script, {
      system: 'Be brief.',
      tools: [{ name: 'bash', description: 'Runs a command.', inputSchema: { type: 'object', properties: {} } }],
    });
    const result = { type: 'tool_result', tool_use_id: call.id, is_error: false } as const;
    const events = await ask(tested.engine, {
      ...second,
      messages: [
        ...second.messages,
        { role: 'assistant', content },
        // A message arrived before the tool result.
        said('by the way'),
        { role: 'user', content: [{ ...result, content: [{ type: 'text', text: 'a.txt' }] }] },
      ],
    });
    expect(finishedOf(events).content).toEqual([{ type: 'text', text: 'Seen.' }]);
  });

  it('[N5] the endpoint receives the name of the client', async () => {
    const script = { turns: [[{ fail: { status: 500, times: 1 } }, { say: 'Second.' }]] };
    const request = askingScript(script);
    const other = { ...request, thread: { ...request.thread, id: 'sthr_other' } };
    expect((await ask(tested.engine, request)).at(-1)?.type).toBe('failed');
    // Attempts are counted for each thread, even if threads send the same request.
    expect((await ask(tested.engine, other)).at(-1)?.type).toBe('failed');
    expect((await ask(tested.engine, request)).at(-1)?.type).toBe('finished');
  });

  it('[N1] characters of any kind survive, wherever the pieces are cut', async () => {
    const text = 'Grüße 👩‍🚀👨‍👩‍👧 \u0000 \u2028 日本語 \ud83d\ude00\n\r\n\t"\\ '.repeat(40);
    const events = await ask(tested.engine, asking([{ say: text, chunks: 500 }]));
    expect(findDisorder(events)).toBeUndefined();
    expect(finishedOf(events).content).toEqual([{ type: 'text', text }]);
  });

  it('[N6] a long answer waits for a slow reader, and arrives whole', async () => {
    const text = 'word '.repeat(150_000);
    let deltas = 0;
    let length = 0;
    for await (const event of tested.engine.request(asking([{ say: text, chunks: 9_000 }]), never)) {
      if (event.type === 'delta') deltas += 1;
      if (event.type === 'delta') length += event.text.length;
      if (event.type === 'finished') expect(event.content).toEqual([{ type: 'text', text }]);
      if (deltas % 100 === 0) await breathe();
    }
    expect(deltas).toBe(9_000);
    expect(length).toBe(text.length);
  });

  it('[N6] many requests at once do not mix', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => ask(tested.engine, asking([{ say: `answer ${at} `.repeat(50) }]))),
    );
    for (const [at, events] of answers.entries()) {
      expect(findDisorder(events)).toBeUndefined();
      expect(finishedOf(events).content).toEqual([{ type: 'text', text: `answer ${at} `.repeat(50) }]);
    }
  });
}
