import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../../test/support/seed.ts';
import { SseDecoder } from '../../sse/index.ts';
import { isRepeat } from './cursor.ts';
import { encodeFleetEvent } from './encode-fleet-event.ts';
import type { FleetEvent, KnownFleetEvent } from './events.ts';
import { isFleetEvent, parseFleetEvent } from './parse-fleet-event.ts';

const base = { seq: 7, ts: 1_700_000_000_000 };
const stream = { ...base, stream_id: 1, depth: 1, agent: 'scout', thread_id: 'sthr_1' };
const toolUse = { ...stream, tool: 'Bash', tool_use_id: 'toolu_1' };
const usage = { input_tokens: 10, output_tokens: 2 };

/** One of each, as our server sends it. */
const samples: Record<KnownFleetEvent['type'], object> = {
  request_received: { ...base, request_id: 'req_1', session_id: 'sesn_1', agent: 'index', message: 'go' },
  stream_start: { ...stream, parent_stream_id: 0, child_index: 0, task: 'look', model: 'm' },
  agent_start: { ...stream, model: 'm', iteration: 1 },
  request_queued: { ...stream, reason: 'paused', ahead: 3, until: 1_700_000_005_000 },
  request_admitted: stream,
  request_retrying: {
    ...stream,
    code: 'model_rate_limited_error',
    reason: 'rate_limited',
    message: '429 slow down',
    attempt: 2,
    attempts_max: 6,
    retry_at: 1_700_000_012_000,
  },
  context_compacted: stream,
  settings_loaded: {
    ...stream,
    settings: 'project',
    instructions: ['/w/CLAUDE.md'],
    hooks: ['PreToolUse: ./check'],
    agents: [],
    skills: ['pdf'],
    rules: ['allow Bash'],
  },
  plan: { ...stream, items: [{ text: 'Look', status: 'pending' }] },
  text: { ...stream, delta: 'Hällo\n"' },
  text_retract: { ...stream, from: 3 },
  thinking: { ...stream, delta: '' },
  thinking_retract: { ...stream, from: 0 },
  tool_start: { ...toolUse, input: { command: 'ls' } },
  tool_output: { ...toolUse, delta: 'one\n' },
  tool_call: { ...toolUse, ok: false, duration_ms: 1.5, error: 'no' },
  file: { ...stream, path: 'a', size: 1, encoding: 'utf8', content: 'x' },
  approval_required: { ...toolUse, input: null },
  approval_resolved: { ...toolUse, input: null, result: 'allow', by: 'ann', rule: 'Bash(x)', input_sha256: '74234e98' },
  sub_agent_response: { ...stream, content: 'all' },
  token_usage: {
    ...stream,
    ...usage,
    model: 'm',
    cache_read_tokens: 1,
    cache_create_tokens: 0,
    cost_usd: 0.01,
    context_tokens: 13,
    context_window: 200_000,
  },
  stream_end: { ...stream, ok: true, stop_reason: 'end_turn' },
  error: { ...stream, message: 'broken', code: 'x' },
  done: {
    ...base,
    ...usage,
    ok: true,
    request_id: 'req_1',
    session_id: 'sesn_1',
    content: 'c',
    files_bytes: 0,
    duration_ms: 5,
  },
  session_error: { ...base, message: 'lost', code: 'unknown_error', reason: 'program_work_lost' },
  workspace_changed: {
    ...base,
    thread_id: 'sthr_1',
    turn: 3,
    tool_use_id: 'sevt_1',
    files: [{ path: 'a.txt', status: 'modified', added: 1, removed: null }],
    files_count: 1,
    lines_added: 1,
    lines_removed: 0,
    tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  },
  workspace_applied: { ...base, by: 'admin', onto: 'branch', paths_count: 2, branch: 'fix', commit: 'a1b2c3' },
  workspace_discarded: { ...base, by: 'admin' },
  files_rewound: {
    ...base,
    message_id: 'sevt_1',
    by: 'admin',
    files: ['a.ts'],
    files_count: 1,
    lines_added: 2,
    lines_removed: 0,
  },
  gap: { ...base, after: '1', until: '5', reason: 'pruned' },
  over: { ...base, reason: 'deleted' },
  sessions_changed: { ...base, sessions: [{ id: 'sesn_1' }], counts: { done: 1 } },
};
const names = Object.keys(samples) as KnownFleetEvent['type'][];

describe('events from the wire', () => {
  it.each(names)('[F1] %s is read with all its fields', (name) => {
    const event = read(name, samples[name]);
    expect(event).toEqual({ ...samples[name], type: name, cursor: '42' });
    expect(isFleetEvent(event)).toBe(true);
  });

  it('[F1] an error without stream_id is one of the run', () => {
    const event = read('error', { ...base, message: 'no', code: 'x', stream_id: null });
    expect(event).toEqual({ ...base, type: 'error', cursor: '42', message: 'no', code: 'x' });
    expect('stream_id' in event).toBe(false);
    expect(isFleetEvent(event)).toBe(true);
  });

  it('[F1] optional fields are absent, null or zero, and a date is a time', () => {
    const { thread_id: _, seq: __, ts: ___, ...rest } = stream;
    expect(read('text', { ...rest, delta: '' })).toMatchObject({ thread_id: null, seq: null, ts: null });
    expect(read('stream_start', { ...rest, task: '', model: '' })).toMatchObject({
      type: 'stream_start',
      parent_stream_id: null,
      child_index: null,
    });
    const event = read('token_usage', { ...rest, ...usage, model: 'm', cost_usd: null, ts: '2023-11-14T22:13:20Z' });
    expect(event).toMatchObject({ cache_read_tokens: 0, cache_create_tokens: 0, ts: 1_700_000_000_000 });
    expect('cost_usd' in event).toBe(false);
  });

  it('[F2] fields that are not known stay', () => {
    const event = read('text', { ...stream, delta: 'x', mood: { good: true } });
    expect(event).toMatchObject({ type: 'text', mood: { good: true } });
  });

  it('[F2] an event that is not known comes out whole', () => {
    const value = { stream_id: 3, session_id: 'sesn_1', seq: 9, novelty: [1] };
    const event = read('novelty', value);
    expect(event).toEqual({
      type: 'unknown',
      name: 'novelty',
      value,
      session_id: 'sesn_1',
      seq: 9,
      ts: null,
      cursor: '42',
    });
    expect(isFleetEvent(event)).toBe(false);
  });

  it.each([
    ['text', { ...stream }, 'delta is missing'],
    ['text', { ...stream, delta: null }, 'delta is missing'],
    ['text', { ...stream, delta: 4 }, 'delta is not text'],
    ['text', { ...stream, delta: '', stream_id: -1 }, 'stream_id is not a whole number from 0'],
    ['text', { ...stream, delta: '', stream_id: 1.5 }, 'stream_id is not a whole number from 0'],
    ['text', { ...stream, delta: '', session_id: 4 }, 'session_id is not text'],
    ['stream_end', { ...stream, ok: 'true', stop_reason: '' }, 'ok is not true or false'],
    ['token_usage', { ...samples.token_usage, cost_usd: '1' }, 'cost_usd is not a number'],
    ['error', { message: 'm', code: 'c', stream_id: 0 }, 'depth is missing'],
  ])('[F2] an invalid %s is an unknown event, with the reason', (name, value, problem) => {
    expect(read(name, value)).toMatchObject({ type: 'unknown', name, value, problem });
  });

  it.each(['', 'null', '[]', '"text"', '7', '{'])('[F2] the data %j is kept as text', (data) => {
    const event = parseFleetEvent({ event: 'text', id: '1', data });
    expect(event).toMatchObject({
      type: 'unknown',
      name: 'text',
      value: data,
      problem: 'the data is not a JSON object',
    });
  });

  it('[F2] no input makes it throw, and every event it returns as known is valid', { timeout }, () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.tuple(fc.constantFrom(...names), fc.dictionary(fc.string(), fc.jsonValue())).map(([name, noise]) => ({
        ...samples[name],
        ...noise,
      })),
      fc.dictionary(fc.constantFrom(...names.flatMap((name) => Object.keys(samples[name]))), fc.jsonValue()),
    );
    const name = fc.oneof(
      fc.constantFrom(...names),
      fc.constantFrom('__proto__', 'constructor', 'message'),
      fc.string(),
    );
    assertProperty(
      fc.property(name, value, (event, data) => {
        const read = parseFleetEvent({ event, id: '1', data: JSON.stringify(data) });
        expect(isFleetEvent(read)).toBe(read.type !== 'unknown');
        expect(() => isFleetEvent(data)).not.toThrow();
      }),
      isLong ? 200_000 : 2_000,
    );
  });

  it.each([
    ['no object', null],
    ['no cursor', { ...stream, type: 'text', delta: '' }],
    ['another type', { ...stream, type: 'texts', cursor: '1', delta: '' }],
    ['a field that is missing', { ...stream, type: 'text', cursor: '1' }],
    ['a time that is a date', { ...stream, type: 'text', cursor: '1', delta: '', ts: '2023-11-14' }],
  ])('[F2] %s is not an event', (_, value) => {
    expect(isFleetEvent(value)).toBe(false);
  });
});

describe('events to the wire', () => {
  it.each(names)('[F3] %s is parsed as it was sent, in one line of data', (name) => {
    const event = read(name, samples[name]);
    const text = encodeFleetEvent(event);
    expect(text.split('\n').filter((line) => line.startsWith('data:'))).toHaveLength(1);
    expect(text).toContain(`event: ${name}\nid: 42\n`);
    expect(decode(text)).toEqual([event]);
  });

  it('[F3] unknown events survive a round trip, also without JSON data', () => {
    const events = [read('novelty', { a: [1] }), parseFleetEvent({ event: 'text', id: '43', data: '{"half' })];
    expect(decode(events.map(encodeFleetEvent).join(''))).toEqual(events);
  });

  it('[F3] without a cursor there is no id', () => {
    expect(encodeFleetEvent({ ...read('over', samples.over), cursor: '' })).not.toContain('id:');
  });
});

describe('cursors', () => {
  it.each([
    ['1', null, false],
    ['', '5', false],
    ['5', '', false],
    ['5', '5', true],
    ['4', '5', true],
    ['6', '5', false],
    ['9', '10', true],
    ['10', '9', false],
    ['7', '7.1', true],
    ['7.1', '7', false],
    ['7.10', '7.9', false],
    ['7.9', '7.10', true],
    ['8', '7.9', false],
    ['007', '7', true],
    ['9007199254740993', '9007199254740992', false],
    ['9007199254740992', '9007199254740993', true],
    ['a5', 'a5', true],
    ['a4', 'a5', false],
    ['4', 'a5', false],
  ])('[F4] %j after %j is a repeat: %j', (cursor, last, expected) => {
    expect(isRepeat(cursor, last)).toBe(expected);
  });
});

function read(event: string, value: object): FleetEvent {
  return parseFleetEvent({ event, id: '42', data: JSON.stringify(value) });
}

function decode(text: string): FleetEvent[] {
  const items = new SseDecoder().push(new TextEncoder().encode(text));
  return items.flatMap((item) => (item.type === 'event' ? [parseFleetEvent(item)] : []));
}
