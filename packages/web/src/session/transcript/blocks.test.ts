import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { toBlocks } from './blocks.ts';

let number = 0;

function event(fields: object): SessionEvent {
  number += 1;
  const at = new Date(1_000_000 + number * 1_000).toISOString();
  // A literal of the wire; the code under test does not read the missing fields.
  return { id: `e${number}`, processed_at: at, ...fields } as unknown as SessionEvent;
}

const text = (said: string) => [{ type: 'text', text: said }];
const usage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 };

it('[Z23] events become blocks by model request: thinking, text, calls with decision and result, messages between threads', () => {
  const blocks = toBlocks([
    event({ type: 'user.message', content: text('go') }),
    event({ id: 'r1', type: 'span.model_request_start' }),
    event({ type: 'agent.thinking' }),
    event({ type: 'agent.message', content: text('I look') }),
    event({ id: 'c1', type: 'agent.tool_use', name: 'bash', input: { command: 'ls' }, evaluated_permission: 'ask' }),
    event({ type: 'span.model_request_end', model_request_start_id: 'r1', is_error: false, model_usage: usage }),
    event({ type: 'user.tool_confirmation', tool_use_id: 'c1', result: 'deny', deny_message: 'not now' }),
    event({ type: 'agent.tool_result', tool_use_id: 'c1', content: text('denied'), is_error: true }),
    event({
      type: 'agent.thread_message_sent',
      to_session_thread_id: 't2',
      to_agent_name: 'helper',
      content: text('do'),
    }),
    event({ type: 'session.error', error: { type: 'x', message: 'overloaded', retry_status: { type: 'retrying' } } }),
    event({ type: 'session.status_idle', stop_reason: { type: 'requires_action', event_ids: [] } }),
    event({ type: 'session.status_idle', stop_reason: { type: 'end_turn' } }),
  ]);
  expect(blocks.map(({ type }) => type)).toEqual([
    'said',
    'request',
    'thinking',
    'text',
    'call',
    'thread',
    'note',
    'note',
  ]);
  expect(blocks[1]).toMatchObject({
    number: 0,
    ms: 4_000,
    tokens: { input: 1, output: 2, cacheRead: 3, cacheCreate: 4 },
  });
  expect(blocks[2]).toMatchObject({ request: 0 });
  expect(blocks[4]).toMatchObject({
    tool: 'bash',
    asked: true,
    verdict: { result: 'deny', message: 'not now' },
    result: { text: 'denied', isError: true, ms: 3_000 },
  });
  expect(blocks[4]!.events).toHaveLength(3);
  expect(blocks[5]).toMatchObject({ direction: 'to', threadId: 't2', agent: 'helper' });
});

it('[Z23] events that a coordinator relays for other threads are left out, and so is a result without its call', () => {
  const blocks = toBlocks([
    event({ type: 'agent.tool_use', name: 'bash', input: {}, evaluated_permission: 'ask', session_thread_id: 't2' }),
    event({ type: 'agent.tool_result', tool_use_id: 'gone', content: [], is_error: false }),
    event({ type: 'agent.mcp_tool_use', mcp_server_name: 'm', name: 'x', input: {}, evaluated_permission: 'allow' }),
  ]);
  expect(blocks.map((block) => block.type === 'call' && block.tool)).toEqual(['m: x']);
});

it('[Z355] an answer that comes after the result of its call changes neither the result nor the decision', () => {
  const [asked, called] = toBlocks([
    event({ id: 'c1', type: 'agent.tool_use', name: 'bash', input: {}, evaluated_permission: 'ask' }),
    event({ type: 'agent.tool_result', tool_use_id: 'c1', content: text('did not run'), is_error: true }),
    event({ type: 'user.tool_confirmation', tool_use_id: 'c1', result: 'allow' }),
    event({ id: 'c2', type: 'agent.custom_tool_use', name: 'form', input: {} }),
    event({ type: 'agent.tool_result', tool_use_id: 'c2', content: text('interrupted'), is_error: true }),
    event({ type: 'user.custom_tool_result', custom_tool_use_id: 'c2', content: text('late') }),
  ]);
  expect(asked).toMatchObject({ verdict: null, result: { text: 'did not run' } });
  expect(called).toMatchObject({ result: { text: 'interrupted', isError: true } });
  expect([asked!.events.length, called!.events.length]).toEqual([3, 3]);
});

it('[Z524] images of messages and results are shown if they are base64 of a known format; others are named and not loaded', () => {
  const base64 = (media_type: string, data = 'iVBORw0KGgo=') => ({
    type: 'image',
    source: { type: 'base64', media_type, data },
  });
  const [said, call] = toBlocks([
    event({
      type: 'user.message',
      content: [
        ...text('look'),
        base64('image/png'),
        base64('image/svg+xml'),
        base64('image/png', 'x" onerror="'),
        { type: 'image', source: { type: 'url', url: 'https://tracker.example/a.png' } },
        { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      ],
    }),
    event({ id: 'c1', type: 'agent.tool_use', name: 'read', input: {}, evaluated_permission: 'allow' }),
    event({ type: 'agent.tool_result', tool_use_id: 'c1', content: [base64('image/webp')] }),
  ]);
  expect(said).toMatchObject({
    images: ['data:image/png;base64,iVBORw0KGgo='],
    text: 'look\n[image]\n[image: image/svg+xml]\n[image: image/png]\n[image: https://tracker.example/a.png]\n[image: file file_1]',
  });
  expect(call).toMatchObject({ result: { images: ['data:image/webp;base64,iVBORw0KGgo='] } });
});

it('[Z525] the attempts of a model request have one number, and what waited for the user is in the past once the thread went on', () => {
  const request = (id: string) => event({ id, type: 'span.model_request_start' });
  const end = (id: string, is_error: boolean) =>
    event({ type: 'span.model_request_end', model_request_start_id: id, is_error, model_usage: usage });
  const waits = () => event({ type: 'session.status_idle', stop_reason: { type: 'requires_action', event_ids: [] } });
  const before = [request('r1'), end('r1', true), request('r2'), end('r2', true), request('r3'), end('r3', false)];
  const blocks = toBlocks([...before, waits(), waits(), request('r4'), waits()]);
  expect(
    blocks.map((block) =>
      block.type === 'request' ? [block.shownNumber, block.attempt, block.number] : block.type === 'note' && block.text,
    ),
  ).toEqual([[1, 1, 0], [1, 2, 1], [1, 3, 2], 'waited for you', [2, 1, 3], 'waiting for you']);
});
