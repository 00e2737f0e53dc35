import { createSlots, foldSlots, parseFleetEvent, type Slot } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { states } from './states.ts';
import { stallReason } from './stall-reason.ts';
import { toThreadState } from './thread-state.ts';

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
    ['error', slotAfter(start, ['stream_end', { ok: false, stop_reason: 'error' }])],
  ])('[Z11] %s', (word, slot) => {
    expect(toThreadState(slot, 1_500).word).toBe(word);
  });

  it('[Z11] a model that says nothing for a minute is stalled with a reason; a tool, a wait and an ask are not', () => {
    const late = 1_000 + limits.stalledMs;
    const writing = slotAfter(start, ['text', { delta: 'x' }]);
    expect(toThreadState(writing, late - 1).id).toBe('writing');
    expect(toThreadState(writing, late).id).toBe('stalled');
    expect(stallReason(writing, late, true, undefined)).toBe('no event for 1 m 00 s · last: writing');
    expect(stallReason(writing, late, false, undefined)).toBe('no event for 1 m 00 s · last: writing · not connected');
    for (const event of [
      ['tool_start', tool],
      ['approval_required', tool],
    ] as const) {
      expect(toThreadState(slotAfter(start, event), late * 9).id).not.toBe('stalled');
    }
  });

  it('[Z11] who runs a tool whose result somebody outside has to give needs them', () => {
    expect(toThreadState(slotAfter(start, ['tool_start', tool]), 1_500, new Set(['bash'])).id).toBe('needs');
  });

  it('[Z11] a retry shows its number, and no two states share glyph and word', () => {
    const slot = slotAfter(start, ['request_retrying', { code: 'c', message: '429', attempt: 3, retry_at: 9_000 }]);
    expect(toThreadState(slot, 1_500).glyph).toBe('↻3');
    const looks = Object.values(states);
    expect(new Set(looks.map(({ glyph }) => glyph)).size).toBe(looks.length);
    expect(new Set(looks.map(({ word }) => word)).size).toBe(looks.length);
  });
});
