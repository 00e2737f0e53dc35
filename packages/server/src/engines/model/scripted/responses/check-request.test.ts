import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../base/in-slices.ts';
import { limits } from '../limits.ts';
import type { Conversation } from '../request/conversation.ts';
import { catchInvalidInput, InvalidInput } from '../script/invalid-input.ts';
import { checkResponsesRequest } from './check-request.ts';

describe('conversations', () => {
  it('[K64] a text is one user message', () => {
    expect(check({ input: 'Hello' })).toMatchObject({
      model: 'gpt-5.5',
      stream: false,
      system: [],
      messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('[K64] items in a row are one message of the client or of the model', () => {
    const input = [
      said('developer', 'Be brief.'),
      said('user', '<environment_context>here</environment_context>'),
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:' },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x' },
      said('assistant', 'I look.', 'output_text'),
      { type: 'function_call', call_id: 'a', name: 'shell', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'apply_patch', input: 'patch' },
      { type: 'function_call_output', call_id: 'a', output: 'listing' },
      said('developer', 'Still brief.'),
      { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'done' }] },
      { type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content: 'from another agent' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      said('assistant', 'All done.', 'output_text'),
      said('user', 'Thanks'),
    ];
    const { system, messages } = check({ input, instructions: 'You help.' });
    expect(system).toEqual(['You help.', 'Be brief.', 'Still brief.']);
    expect(messages).toEqual([
      {
        role: 'user',
        blocks: [
          { type: 'text', text: '<environment_context>here</environment_context>' },
          { type: 'text', text: 'Look' },
          { type: 'other' },
        ],
      },
      {
        role: 'assistant',
        blocks: [
          { type: 'thinking', text: 'Hm' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', chars: 7 },
          { type: 'tool_use', id: 'b', chars: 16 },
        ],
      },
      {
        role: 'user',
        blocks: [
          { type: 'tool_result', id: 'a', text: 'listing', isError: false },
          { type: 'tool_result', id: 'b', text: 'done', isError: false },
          { type: 'text', text: 'from another agent' },
        ],
      },
      { role: 'assistant', blocks: [{ type: 'text', text: 'All done.' }] },
      { role: 'user', blocks: [{ type: 'text', text: 'Thanks' }] },
    ]);
  });

  it('[K70] finished items of a cut answer at the end are another attempt of the same request', () => {
    const input = [said('user', 'Look')];
    const thought = { type: 'reasoning', summary: [] };
    const half = said('assistant', 'half', 'output_text');
    expect(check({ input: [...input, thought, half] })).toEqual(check({ input }));
    expect(check({ input: [...input, half, said('user', 'Go on')] }).messages).toHaveLength(3);
    expect(check({ input: [half] }).messages).toHaveLength(1);
  });

  it('[K64] null is the same as an absent field', () => {
    const nulls = {
      instructions: null,
      tools: null,
      stream: null,
      max_output_tokens: null,
      previous_response_id: null,
    };
    expect(check({ input: 'Hello', ...nulls })).toEqual(check({ input: 'Hello' }));
  });

  it('[K64] the caller is prompt_cache_key, else safety_identifier, else user', () => {
    const asked = { input: 'Hello', prompt_cache_key: 'a', safety_identifier: 'b', user: 'c' };
    expect(check(asked).userId).toBe('a');
    expect(check({ ...asked, prompt_cache_key: null }).userId).toBe('b');
    expect(check({ input: 'Hello', user: 'c' }).userId).toBe('c');
    expect(check({ input: 'Hello', user: 3 }).userId).toBe('');
  });
});

describe('requests that are refused', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'shell', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'a', output: '' };
  const stored = 'is not supported: the scripted model stores nothing;';
  const cases: [what: string, body: object, path: string, problem: string][] = [
    ['no input', {}, 'input', 'is missing, and must be a list'],
    ['an empty input', { input: [] }, 'input', 'must have at least 1 entry'],
    ['an input of another type', { input: 3 }, 'input', 'must be a list, got a number'],
    ['an item that is not an object', { input: ['a'] }, 'input[0]', 'must be an object, got a string'],
    [
      'an unknown role',
      { input: [said('tool', 'a')] },
      'input[0].role',
      'must be user, assistant, system or developer',
    ],
    ['no content', { input: [{ role: 'user' }] }, 'input[0].content', 'is missing, and must be a list'],
    [
      'a text that is not one',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 3 }] }] },
      'input[0].content[0].text',
      'must be a string, got a number',
    ],
    ['a call without an output', { input: [call] }, 'input', 'No tool output found for function call a.'],
    [
      'an output without a call',
      { input: [output, call, output] },
      'input[0].call_id',
      'No tool call found for function call output with call_id a.',
    ],
    [
      'a stored response',
      { input: 'a', previous_response_id: 'r' },
      'previous_response_id',
      `${stored} send all items in \`input\``,
    ],
    [
      'a stored conversation',
      { input: 'a', conversation: 'c' },
      'conversation',
      `${stored} send all items in \`input\``,
    ],
    ['a stored prompt', { input: 'a', prompt: { id: 'p' } }, 'prompt', `${stored} send all items in \`input\``],
    ['a stored item', { input: [{ type: 'item_reference', id: 'i' }] }, 'input[0]', `${stored} send the item itself`],
    ['a request in the background', { input: 'a', background: true }, 'background', 'is not supported; use `stream`'],
    ['tools of another type', { input: 'a', tools: {} }, 'tools', 'must be a list, got an object'],
    ['a tool of another type', { input: 'a', tools: ['x'] }, 'tools[0]', 'must be an object, got a string'],
    [
      'no room for an answer',
      { input: 'a', max_output_tokens: 0 },
      'max_output_tokens',
      expect.stringContaining('must be from 1'),
    ],
  ];

  it.each(cases)('[K65] %s is refused with its position', (_, body, path, problem) => {
    const refused = atOnce(catchInvalidInput(checkResponsesRequest({ model: 'gpt-5.5', ...body })));
    expect(refused).toBeInstanceOf(InvalidInput);
    expect(refused).toMatchObject({ path, problem });
  });

  it('[K65] no JSON makes the check throw anything but its problem', () => {
    const hostile = fc.constantFrom({ toString: 1 }, { constructor: null }, [[]], null);
    const anything = fc.oneof(fc.jsonValue(), hostile);
    const types = [
      'message',
      'reasoning',
      'function_call',
      'custom_tool_call',
      'function_call_output',
      'agent_message',
    ];
    const item = fc.dictionary(
      fc.constantFrom('type', 'role', 'content', 'text', 'call_id', 'name', 'arguments', 'input', 'output', 'tools'),
      fc.oneof(
        anything,
        fc.constantFrom(...types, 'additional_tools', 'namespace', 'custom', 'input_text', 'user', 'a'),
      ),
    );
    const request = fc.record({
      model: fc.oneof(fc.string(), anything),
      input: fc.oneof(fc.constant('a'), fc.array(item), anything),
      tools: fc.oneof(fc.array(item), fc.array(fc.record({ type: fc.constant('namespace'), tools: fc.array(item) }))),
      instructions: anything,
      prompt_cache_key: anything,
    });
    fc.assert(
      fc.property(fc.oneof({ arbitrary: request, weight: 9 }, anything), (value) => {
        expect(atOnce(catchInvalidInput(checkResponsesRequest(value)))).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it('[K72] an input has at most as many items as a request to the Messages API has messages', () => {
    const input = Array.from({ length: limits.messagesMax }, () => ({ type: 'web_search_call' }));
    expect(check({ input }).messages).toEqual([]);
    const more = atOnce(catchInvalidInput(checkResponsesRequest({ model: 'a', input: [...input, {}] })));
    expect(more).toMatchObject({ path: 'input', problem: `has 100001 entries, and 100000 are allowed` });
  });
});

function check(body: object): Conversation {
  return atOnce(checkResponsesRequest({ model: 'gpt-5.5', ...body }));
}

function said(role: string, text: string, type = 'input_text'): object {
  return { type: 'message', role, content: [{ type, text }] };
}
