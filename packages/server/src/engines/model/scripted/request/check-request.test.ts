import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../base/in-slices.ts';
import { checkRequest } from './check-request.ts';
import { countTokens } from './count-tokens.ts';
import { limits } from '../limits.ts';
import { catchInvalidInput, InvalidInput } from '../script/invalid-input.ts';

describe('the shape of a request', () => {
  it('[K17] a missing or mistyped field is named as by the real API', () => {
    const problems: [change: object, problem: string][] = [
      [{ model: undefined }, 'model: is missing'],
      [{ max_tokens: undefined }, 'max_tokens: is missing'],
      [{ max_tokens: -1 }, 'max_tokens: must be from 0'],
      [{ messages: undefined }, 'messages: is missing'],
      [{ messages: [] }, 'messages: must have at least 1 entry'],
      [{ messages: ['hi'] }, 'messages.0: must be an object, got a string'],
      [{ messages: [{ role: 'bot', content: 'a' }] }, 'messages.0.role: must be user, assistant or system'],
      [{ messages: [{ role: 'user' }] }, 'messages.0.content: is missing, and must be a list'],
      [{ messages: [{ role: 'user', content: [{ text: 'a' }] }] }, 'messages.0.content.0.type: is missing'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.text: is missing'],
      [{ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }, 'content.0.text: must not be empty'],
      [{ messages: [{ role: 'user', content: '' }] }, 'messages.0: all messages must have non-empty content'],
      [{ stream: 'yes' }, 'stream: must be true or false, got a string'],
      [{ system: [{ type: 'text' }] }, 'system.0.text: is missing'],
      [{ tools: {} }, 'tools: must be a list, got an object'],
      [{ stop_sequences: [1] }, 'stop_sequences.0: must be a string, got a number'],
    ];
    for (const [change, problem] of problems) expect(problemOf({ ...good, ...change })).toContain(problem);
    expect(problemOf('hi')).toBe('body: must be an object, got a string');
  });

  it('[K17] fields that scripts do not use are accepted', () => {
    const content = [{ type: 'image', source: { type: 'base64', data: 'AAAA' } }, { type: 'of_tomorrow' }];
    const tools = [
      { name: 'bash', input_schema: {} },
      { type: 'mcp_toolset', mcp_server_name: 'x' },
    ];
    const request = {
      ...good,
      messages: [{ role: 'user', content }],
      tools,
      thinking: { type: 'adaptive' },
      speed: 'x',
    };
    expect(problemOf(request)).toBeUndefined();
    expect(atOnce(checkRequest(request, 'answer')).tools).toEqual(['bash']);
  });

  it('[K17] no JSON makes the check throw anything but its problem', () => {
    const block = fc.dictionary(
      fc.constantFrom('type', 'text', 'id', 'name', 'input', 'tool_use_id', 'content', 'is_error'),
      fc.oneof(fc.jsonValue(), fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking', 'x')),
    );
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant', 'system', 'x'),
      content: fc.oneof(fc.jsonValue(), fc.array(block)),
    });
    const request = fc.record({
      model: fc.oneof(fc.string(), fc.jsonValue()),
      max_tokens: fc.nat(),
      messages: fc.oneof(fc.array(message), fc.jsonValue()),
      system: fc.jsonValue(),
      tools: fc.oneof(fc.array(block), fc.jsonValue()),
      metadata: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.oneof(request, fc.jsonValue()), (value) => {
        const checked = atOnce(catchInvalidInput(checkRequest(value, 'answer')));
        expect(checked).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it('[K22] messages are counted, and bodies have their depth', () => {
    const many = (count: number) => ({ ...good, messages: Array.from({ length: count }, () => user('a')) });
    expect(problemOf(many(limits.messagesMax))).toBeUndefined();
    expect(problemOf(many(limits.messagesMax + 1))).toContain('messages: has 100001 entries');

    const around = 3; // the list of messages, the message and its content
    const nested = (depth: number) => {
      let source: object = {};
      for (let at = around + 1; at < depth; at++) source = { source };
      return { ...good, messages: [{ role: 'user', content: [{ type: 'x', source }] }] };
    };
    expect(problemOf(nested(limits.depthMax - 1))).toBeUndefined();
    expect(problemOf(nested(limits.depthMax))).toContain('is nested too deep');
  });
});

describe('calls and their results', () => {
  it('[K17] a call without a result in the next message is refused in the words of the real API', () => {
    const words =
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2. ' +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
    const calls = assistant(use('toolu_1'), use('toolu_2'));
    expect(historyProblem(user('a'), calls, user(result('toolu_1')))).toBe(words);
    expect(historyProblem(user('a'), assistant(use('toolu_2')))).toBe(words);
    expect(historyProblem(user('a'), assistant(use('toolu_2')), user('go on'))).toBe(words);
    expect(historyProblem(user('a'), assistant(use('toolu_2')), user('b'), assistant('c'))).toBe(words);
    expect(historyProblem(user('a'), calls, user(result('toolu_2'), result('toolu_1')))).toBeUndefined();
  });

  it('[K17] a result without its call in the message before is refused', () => {
    const words =
      'unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a ' +
      'corresponding `tool_use` block in the previous message.';
    const answered = [user('a'), assistant(use('toolu_1')), user(result('toolu_1'))];
    expect(historyProblem(user(result('toolu_1')))).toBe(`messages.0.content.0: ${words}`);
    expect(historyProblem(...answered, assistant('b'), user(result('toolu_1')))).toBe(`messages.4.content.0: ${words}`);
    expect(historyProblem(user('a'), assistant(use('toolu_1')), user(result('toolu_1'), result('toolu_1')))).toBe(
      `messages.2.content.1: ${words}`,
    );
  });

  it('[K17] an id is used for one call only, and results come before the text that follows them', () => {
    const answered = [user('a'), assistant(use('toolu_1')), user(result('toolu_1'))];
    expect(historyProblem(...answered, assistant(use('toolu_1')), user(result('toolu_1')))).toBe(
      'messages.3.content.0: `tool_use` ids must be unique',
    );
    expect(historyProblem(user('a'), assistant(use('toolu_1')), user('b', result('toolu_1')))).toBe(
      'messages.2.content.1: `tool_result` blocks must come first in the content',
    );
    expect(historyProblem(user('a'), assistant(use('toolu_1')), user(result('toolu_1'), 'b'))).toBeUndefined();
  });

  it('[K17] messages of one role in a row are one turn, and system messages do not count', () => {
    const system = { role: 'system', content: 'Be quick.' };
    const twice = [assistant(use('toolu_1')), assistant(use('toolu_2'))];
    expect(historyProblem(user('a'), ...twice, user(result('toolu_1'), result('toolu_2')))).toBeUndefined();
    expect(historyProblem(user('a'), ...twice, user(result('toolu_1')), user(result('toolu_2')))).toBeUndefined();
    expect(historyProblem(user('a'), assistant(use('toolu_1')), system, user(result('toolu_1')))).toBeUndefined();
    expect(historyProblem(user('a'), { role: 'assistant', content: [] })).toBeUndefined();
    expect(historyProblem(user('a'), { role: 'assistant', content: [] }, user('b'))).toContain('non-empty content');
  });
});

describe('tokens', () => {
  it('[K14] there is a token for every four characters begun, and at least one', () => {
    const count = (change: object) => countTokens(atOnce(checkRequest({ ...good, ...change }, 'count')));
    expect(['a', 'abcd', 'abcde'].map((content) => count({ messages: [{ role: 'user', content }] }))).toEqual([
      1, 1, 2,
    ]);
    expect(count({ messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] })).toBe(1);
    const messages = [
      { role: 'user', content: 'x'.repeat(40) },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'x'.repeat(40), signature: 's' }, use('toolu_1')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x'.repeat(32) }] },
    ];
    // 40 + 40 + `bash` and `{"command":"ls"}`, which are 20, + 32
    expect(count({ messages })).toBe(33);
    // 40 more of the system prompt, and `[{"name":"a"}]`
    expect(count({ messages, system: [{ type: 'text', text: 'x'.repeat(40) }], tools: [{ name: 'a' }] })).toBe(47);
  });
});

const good = { model: 'scripted/echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

function problemOf(body: unknown): string | undefined {
  const checked = atOnce(catchInvalidInput(checkRequest(body, 'answer')));
  return checked instanceof InvalidInput ? checked.message : undefined;
}

function historyProblem(...messages: object[]): string | undefined {
  return problemOf({ ...good, messages });
}

function user(...content: (string | object)[]) {
  return { role: 'user', content: content.map(toBlock) };
}

function assistant(...content: (string | object)[]) {
  return { role: 'assistant', content: content.map(toBlock) };
}

function toBlock(block: string | object): object {
  return typeof block === 'string' ? { type: 'text', text: block } : block;
}

function use(id: string) {
  return { type: 'tool_use', id, name: 'bash', input: { command: 'ls' } };
}

function result(id: string) {
  return { type: 'tool_result', tool_use_id: id, content: 'ok' };
}
