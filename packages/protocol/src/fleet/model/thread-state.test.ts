import { describe, expect, it } from 'vitest';
import type { Slot } from '../slots/slot.ts';
import { createSlots, foldSlots } from '../slots/slots.ts';
import { parseFleetEvent } from '../wire/parse-fleet-event.ts';
import { describeSilence, describeStall } from './describe-silence.ts';
import { limits } from './limits.ts';
import { states, toThreadState } from './thread-state.ts';

const of = { stream_id: 0, depth: 0, agent: 'a', thread_id: 't', ts: 1_000 };
let cursor = 0;

/** The slot of a turn to which all of this has happened. */
function slotAfter(...events: readonly (readonly [string, object])[]): Slot {
  const all = [
    ['request_received', { request_id: 'r', session_id: 's', agent: 'a', message: 'm', ts: 1_000 }],
    ['stream_start', { ...of, parent_stream_id: null, child_index: null, task: 't', model: 'm' }],
    ...events.map(([name, fields]) => [name, { ...of, ...fields }] as const),
  ] as const;
  const slots = all.reduce(
    (state, [event, fields]) =>
      foldSlots(state, parseFleetEvent({ event, id: String(++cursor), data: JSON.stringify(fields) })),
    createSlots(),
  );
  return slots.runs[0]!.slots[0]!;
}

const tool = { tool: 'bash', tool_use_id: 'u', input: { command: 'ls' } };
const done = {
  ok: true,
  request_id: 'r',
  session_id: 's',
  content: '',
  input_tokens: 0,
  output_tokens: 0,
  files_bytes: 0,
  duration_ms: 1,
};
const start = ['agent_start', { model: 'm', iteration: 1 }] as const;

describe('the state of a thread', () => {
  it.each([
    ['working', slotAfter(start)],
    ['thinking', slotAfter(start, ['thinking', { delta: 'x' }])],
    ['writing', slotAfter(start, ['text', { delta: 'x' }])],
    ['tool', slotAfter(start, ['tool_start', tool])],
    ['needs you', slotAfter(start, ['approval_required', tool])],
    [
      'waits',
      slotAfter(
        start,
        ['tool_start', tool],
        ['stream_start', { stream_id: 1, parent_stream_id: 0, child_index: 0, task: '', model: 'm' }],
      ),
    ],
    ['queued', slotAfter(start, ['request_queued', { reason: 'concurrency', ahead: 2 }])],
    ['retry', slotAfter(start, ['request_retrying', { code: 'c', message: '429', attempt: 2, retry_at: 9_000 }])],
    ['done', slotAfter(start, ['stream_end', { ok: true, stop_reason: 'end_turn' }])],
    ['cancelled', slotAfter(start, ['stream_end', { ok: false, stop_reason: 'cancelled' }])],
    ['limit', slotAfter(start, ['stream_end', { ok: false, stop_reason: 'limit' }])],
    ['failed', slotAfter(start, ['stream_end', { ok: false, stop_reason: 'error' }])],
    ['lost', slotAfter(start, ['done', done])],
  ])('[F81] %s', (word, slot) => {
    expect(toThreadState(slot, 1_500).word).toBe(word);
  });

  it('[F81] a retry has its attempt, and no two states share a glyph or a word', () => {
    const slot = slotAfter(start, ['request_retrying', { code: 'c', message: '429', attempt: 3, retry_at: 9_000 }]);
    expect(toThreadState(slot, 1_500)).toEqual({ id: 'retry', word: 'retry', attempt: 3 });
    const looks = Object.values(states);
    expect(new Set(looks.map(({ glyph }) => glyph)).size).toBe(looks.length);
    expect(new Set(looks.map(({ word }) => word)).size).toBe(looks.length);
  });

  it('[F81] a thread that writes while its delegates run is shown as writing', () => {
    const child = [
      'stream_start',
      { stream_id: 1, parent_stream_id: 0, child_index: 0, task: '', model: 'm' },
    ] as const;
    expect(toThreadState(slotAfter(start, child, ['text', { delta: 'x' }]), 1_500).id).toBe('writing');
  });

  it('[F81] a thread that runs a tool whose result a client provides needs a person', () => {
    expect(toThreadState(slotAfter(start, ['tool_start', tool]), 1_500, new Set(['bash'])).id).toBe('needs');
    const awaited = slotAfter(start, ['tool_start', { ...tool, awaits_result: true }]);
    expect(toThreadState(awaited, 1_500 + limits.stalledMs).id).toBe('needs');
  });

  it('[F82] a model that emits nothing for 60 s is stalled; a tool, a queue, a retry and an approval are not', () => {
    expect(limits.stalledMs).toBe(60_000);
    const late = 1_000 + limits.stalledMs;
    const writing = slotAfter(start, ['text', { delta: 'x' }]);
    expect(toThreadState(writing, late - 1).id).toBe('writing');
    expect(toThreadState(writing, late).id).toBe('stalled');
    expect(toThreadState(slotAfter(start), late).id).toBe('stalled');
    for (const event of [
      ['tool_start', tool],
      ['approval_required', tool],
      ['request_queued', { reason: 'concurrency', ahead: 2 }],
      ['request_retrying', { code: 'c', message: '429', attempt: 2, retry_at: 9_000 }],
    ] as const) {
      expect(toThreadState(slotAfter(start, event), late * 9).id).not.toBe('stalled');
    }
  });

  it('[F82] a stall has a reason, and a wait has its cause and counts down', () => {
    const late = 1_000 + limits.stalledMs;
    const writing = slotAfter(start, ['text', { delta: 'x' }]);
    expect(describeSilence(writing, late - 1)).toBeUndefined();
    expect(describeSilence(writing, late)).toBe('no event for 1 min 00 s · last: writing');
    expect(describeStall(writing, late, { isLive: false })).toBe(
      'no event for 1 min 00 s · last: writing · not connected',
    );
    expect(describeSilence(slotAfter(start), late)).toBe('no event for 1 min 00 s · the model has not responded');
    const retry = { code: 'model_error', message: '429 slow down', attempt: 2, retry_at: 9_000 };
    expect(describeSilence(slotAfter(start, ['request_retrying', retry]), 5_500)).toBe('429, next try in 4 s');
    expect(describeSilence(slotAfter(start, ['request_retrying', retry]), 99_000)).toBe('429, trying again');
    expect(describeSilence(slotAfter(start, ['request_retrying', { ...retry, message: '' }]), 5_500)).toBe(
      'model_error, next try in 4 s',
    );
    const queued = { reason: 'concurrency', ahead: 2 };
    expect(describeSilence(slotAfter(start, ['request_queued', queued]), 5_500)).toBe('2 ahead in the queue');
    expect(
      describeSilence(slotAfter(start, ['request_queued', { ...queued, reason: 'paused', until: 9_000 }]), 5_500),
    ).toBe('the endpoint asked for a pause, 4 s left');
    const ended = slotAfter(start, ['stream_end', { ok: true, stop_reason: 'end_turn' }]);
    expect(describeSilence(ended, late)).toBeUndefined();
  });
});
