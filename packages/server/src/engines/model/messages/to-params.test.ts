import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../base/content.ts';
import type { ModelRequest } from '../engine.ts';
import { said } from '../suite/send-request.suite.ts';
import { toParams } from './to-params.ts';

const mark = { cache_control: { type: 'ephemeral' } };
const call: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'bash', input: {} }] };
const result: Message = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'ok' }], is_error: false }],
};

describe('messages', () => {
  it('[N17] messages between two responses become one message, results first', () => {
    const { messages } = params({ messages: [said('Hi'), said('there'), call, said('wait'), result, said('now')] });
    expect(messages).toEqual([
      { role: 'user', content: [text('Hi'), text('there')] },
      call,
      { role: 'user', content: [result.content[0], text('wait'), text('now')] },
    ]);
  });

  it('[N17] answers stay apart', () => {
    const paused: Message = { role: 'assistant', content: [{ type: 'text', text: 'And' }] };
    expect(params({ messages: [said('Hi'), paused, paused] }).messages).toEqual([said('Hi'), paused, paused]);
  });

  it('[N17] pictures, documents and unknown fields pass as they are', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } } as const;
    const document = { type: 'document', source: { type: 'text', data: 'x' }, title: 'T', extra: 1 } as const;
    const user: Message = { role: 'user', content: [image, document] };
    const results: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: [image], is_error: true }],
    };
    expect(params({ messages: [user, call, results] }).messages).toEqual([user, call, results]);
  });

  it('[N17] blocks that we do not know go back as they came', () => {
    const raw = { type: 'hologram', data: [1, 2] };
    const answer: Message = { role: 'assistant', content: [{ type: 'opaque', raw }] };
    expect(params({ messages: [said('Hi'), answer] }).messages).toEqual([
      said('Hi'),
      { role: 'assistant', content: [raw] },
    ]);
  });

  it('[N17] content that the API refuses is left out', () => {
    const messages: Message[] = [
      { role: 'user', content: [text(''), text('Hi'), text(' \n')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'cut off', signature: '' },
          { type: 'thinking', thinking: '', signature: 'sealed' },
          text(''),
        ],
      },
      said('   '),
      { role: 'assistant', content: [] },
      said('Next'),
      call,
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [text('')], is_error: false }] },
    ];
    expect(params({ messages }).messages).toEqual([
      said('Hi'),
      { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'sealed' }] },
      said('Next'),
      call,
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [], is_error: false }] },
    ]);
  });
});

describe('prompt caching', () => {
  const tool = { name: 'bash', description: 'Runs.', inputSchema: { type: 'object', properties: {} } } as const;

  it('[N18] at most four places are marked: the last tool, the system prompt, the newest two things said', () => {
    const messages = [said('a'), call, result, call, result, call, result, said('b')];
    const {
      system,
      tools,
      messages: sent,
    } = cached({ system: 'Be brief.', tools: [tool, { ...tool, name: 'read' }], messages });
    expect(system).toEqual([{ type: 'text', text: 'Be brief.', ...mark }]);
    expect(tools?.map((one) => 'cache_control' in one)).toEqual([false, true]);
    expect(sent.map(({ content }) => JSON.stringify(content).split('cache_control').length - 1)).toEqual([
      0, 0, 0, 0, 1, 0, 1,
    ]);
    expect(sent.at(-1)?.content).toEqual([result.content[0], { ...text('b'), ...mark }]);
    expect(JSON.stringify(cached({ system: 'S', tools: [tool], messages })).split('cache_control')).toHaveLength(5);
  });

  it('[N18] a longer history begins as the shorter one did, marks apart', () => {
    const unmarked = (messages: readonly Message[]) => params({ messages, system: 'S', tools: [tool] });
    const before = unmarked([said('a'), call, result]);
    const after = unmarked([said('a'), call, result, call, result]);
    expect({ ...after, messages: after.messages.slice(0, 3) }).toEqual(before);
  });

  it('[N43] a blank system prompt, which the API refuses, is left out', () => {
    expect(cached({ system: ' \n' })).not.toHaveProperty('system');
  });

  it('[N18] without system prompt and tools these fields are absent', () => {
    expect(Object.keys(params({ system: '' }))).toEqual(['model', 'max_tokens', 'stream', 'metadata', 'messages']);
    expect(JSON.stringify(params({}))).not.toContain('cache_control');
  });
});

describe('the model', () => {
  it('[N17] the thread is named in the request, and an answer may be as long as the model allows', () => {
    expect(params({})).toMatchObject({
      model: 'some-model',
      max_tokens: 8_192,
      stream: true,
      metadata: { user_id: 'sthr_1' },
    });
    expect(choosing('claude-opus-5-5').max_tokens).toBe(64_000);
    expect(choosing('claude-haiku-4-5-20251001').max_tokens).toBe(32_000);
    expect(toParams(request({}), { caching: false, maxTokens: 5 })['max_tokens']).toBe(5);
  });

  it('[N17] models that decide by themselves how much to think are asked to', () => {
    expect(choosing('claude-opus-5-5').thinking).toEqual({ type: 'adaptive', display: 'summarized' });
    for (const id of ['claude-haiku-4-5', 'some-model', 'scripted/echo'])
      expect(choosing(id)).not.toHaveProperty('thinking');
  });

  it('[N17] effort is passed on to models that take it', () => {
    expect(choosing('claude-opus-5-5', 'xhigh').output_config).toEqual({ effort: 'xhigh' });
    expect(choosing('claude-opus-4-6', 'max').output_config).toEqual({ effort: 'max' });
    expect(choosing('claude-opus-4-6', 'xhigh')).not.toHaveProperty('output_config');
    expect(choosing('claude-haiku-4-5', 'low')).not.toHaveProperty('output_config');
    expect(choosing('claude-opus-5-5', 'heroic')).not.toHaveProperty('output_config');
  });

  it('[N17] fast mode is asked for only when it was chosen', () => {
    expect(params({ model: { id: 'claude-opus-5-5', effort: null, speed: 'fast' } }).speed).toBe('fast');
    expect(choosing('claude-opus-5-5')).not.toHaveProperty('speed');
  });

  it('[H74] the region of a model is sent only where the definition has one', () => {
    const model = { id: 'claude-opus-5-5', effort: null, speed: 'standard' } as const;
    expect(params({ model: { ...model, inferenceGeo: 'eu' } }).inference_geo).toBe('eu');
    expect(params({ model })).not.toHaveProperty('inference_geo');
  });
});

function request(changes: Partial<ModelRequest>): ModelRequest {
  return {
    model: { id: 'some-model', effort: null, speed: 'standard' },
    system: null,
    messages: [said('Hi')],
    tools: [],
    thread: { id: 'sthr_1', agentName: 'tester' },
    ...changes,
  };
}

function params(changes: Partial<ModelRequest>): Anthropic.MessageCreateParamsStreaming {
  return build(changes, false);
}

function cached(changes: Partial<ModelRequest>): Anthropic.MessageCreateParamsStreaming {
  return build(changes, true);
}

function build(changes: Partial<ModelRequest>, caching: boolean): Anthropic.MessageCreateParamsStreaming {
  return toParams(request(changes), { caching }) as unknown as Anthropic.MessageCreateParamsStreaming;
}

function choosing(id: string, effort: string | null = null): Anthropic.MessageCreateParamsStreaming {
  return params({ model: { id, effort, speed: 'standard' } });
}

function text(words: string) {
  return { type: 'text', text: words } as const;
}
