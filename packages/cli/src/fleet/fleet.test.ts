import {
  createSlots,
  fleetLimits,
  foldSlots,
  isFleetEvent,
  type SessionSlots,
  toThreadRows,
} from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../test-support/fleet-events.ts';
import { chooseGlyphs } from '../terminal/glyphs.ts';
import { createPaint } from '../terminal/palette.ts';
import { paintRow } from '../terminal/row.ts';
import { loadTextWidth, textWidth } from '../terminal/text-width.ts';
import { drawSummary, drawThread } from './draw-threads.ts';
import { LineLog } from './log-line.ts';
import { toSlotState } from './slot-state.ts';

const look = (unicode = true) => ({ live: false, unicode, glyphs: chooseGlyphs(unicode), paint: createPaint('none') });

function fold(events: FleetEvents): SessionSlots {
  expect(events.list.every(isFleetEvent)).toBe(true);
  return events.list.reduce(foldSlots, createSlots());
}

function statesOf(events: FleetEvents): string[] {
  return toThreadRows(fold(events).runs).map(({ agent, slot }) => `${agent} ${toSlotState(slot, events.nowMs).word}`);
}

describe('threads as rows', () => {
  it('[Y21] each thread is one row, below who started it, in the order of the block', () => {
    const events = new FleetEvents()
      .start()
      .open(0, 'lead')
      .open(1, 'b', 0, 't1', 1)
      .open(2, 'a', 0, 't2', 0)
      .open(3, 'c', 1, 't3');
    const rows = toThreadRows(fold(events).runs);
    expect(rows.map(({ agent, branches }) => [agent, branches])).toEqual([
      ['lead', []],
      ['a', [true]],
      ['b', [false]],
      ['c', [false, false]],
    ]);
  });

  it('[Y21] a thread that works in several runs stays one row, with its newest turn and all that it took', () => {
    const events = new FleetEvents()
      .start()
      .open(0, 'lead', null, 'L')
      .open(1, 'w', 0, 'W')
      .usage(1, 10, 0.1)
      .close(1)
      .close(0)
      .done(true, 10);
    events.start().open(0, 'lead', null, 'L').usage(0, 5, 0.2).text(0, 'now');
    const rows = toThreadRows(fold(events).runs);
    expect(rows.map(({ key, turns, usage }) => [key, turns, usage.inputTokens])).toEqual([
      ['L', 2, 5],
      ['W', 1, 10],
    ]);
    expect(rows[0]?.slot.phase).toBe('writing');
    expect(rows[0]?.usageBelow.costUsd).toBeCloseTo(0.3);
  });

  it('[Y21] a turn without a known parent is placed below the coordinator', () => {
    const events = new FleetEvents().start().open(0, 'lead', null, 'L');
    events.on(7, {
      type: 'stream_start',
      depth: 1,
      agent: 'w',
      thread_id: 'W',
      parent_stream_id: null,
      child_index: null,
      task: '',
      model: 'm',
    });
    expect(toThreadRows(fold(events).runs).map(({ agent, branches }) => [agent, branches])).toEqual([
      ['lead', []],
      ['w', [false]],
    ]);
  });

  it('[Y20] every state has a sign, a word and a style, and no two different states the same word', () => {
    const events = () => new FleetEvents().start().open(0, 'a');
    const cases: [FleetEvents, string][] = [
      [events(), 'working'],
      [events().on(0, { type: 'thinking', delta: '' }), 'thinking'],
      [events().text(0, 'x'), 'writing'],
      [events().on(0, { type: 'tool_start', tool: 'grep', tool_use_id: 't', input: {} }), 'grep'],
      [events().ask(0, 'ls'), 'needs you'],
      [events().on(0, { type: 'request_queued', reason: 'concurrency', ahead: 1 }), 'queued'],
      [events().on(0, { type: 'request_retrying', code: 'c', message: '', attempt: 2, retry_at: 0 }), 'retry'],
      [events().close(0), 'done'],
      [events().close(0, 'error'), 'failed'],
      [events().close(0, 'limit'), 'limit'],
      [events().close(0, 'cancelled'), 'cancelled'],
      [events().done(true), 'lost'],
    ];
    const seen = cases.map(([given, word]) => {
      expect(statesOf(given)).toEqual([`a ${word}`]);
      const state = toSlotState(toThreadRows(fold(given).runs)[0]!.slot, given.nowMs);
      return state.sign;
    });
    expect(new Set(seen).size).toBe(9);
    expect(statesOf(events().open(1, 'b', 0))).toEqual(['a waits', 'b working']);
  });

  it('[Y20] a turn that waits for its model is stalled after 60 silent seconds; tools may be silent', () => {
    const waiting = new FleetEvents()
      .start()
      .open(0, 'a')
      .later(fleetLimits.stalledMs - 1);
    expect(statesOf(waiting)).toEqual(['a working']);
    expect(statesOf(waiting.later(1))).toEqual(['a stalled']);
    expect(fleetLimits.stalledMs).toBe(60_000);
    const tool = new FleetEvents()
      .start()
      .open(0, 'a')
      .on(0, { type: 'tool_start', tool: 'bash', tool_use_id: 't', input: {} });
    expect(statesOf(tool.later(10 * fleetLimits.stalledMs))).toEqual(['a bash']);
  });

  it('[Y20] a line has sign, name, activity, state, tokens, cost and age, and fits any width in any alphabet', async () => {
    await loadTextWidth();
    const events = new FleetEvents()
      .start()
      .open(0, 'lead')
      .open(1, 'wörker 漢字漢字', 0)
      .usage(1, 1234, 0.05)
      .text(1, '漢字'.repeat(40))
      .later(4200);
    const rows = toThreadRows(fold(events).runs);
    for (const unicode of [true, false]) {
      for (const width of [20, 40, 60, 79, 110]) {
        const drawing = { width, glyphs: look(unicode).glyphs, nowMs: events.nowMs };
        for (const row of rows)
          expect(textWidth(paintRow(drawThread(row, drawing), width, look(unicode)))).toBeLessThanOrEqual(width);
      }
    }
    const line = paintRow(drawThread(rows[1]!, { width: 79, glyphs: look().glyphs, nowMs: events.nowMs }), 79, look());
    expect(line).toMatch(/^▸ ╰─wörker 漢字漢字 {2}…漢字.*漢字 {3}writing {6}1\.2k {4}\$0\.05 {7}4\.2 s$/);
  });

  it('[Y20] a price that is not known is not nothing', () => {
    const rows = (events: FleetEvents) => toThreadRows(fold(events).runs);
    const draw = (events: FleetEvents) =>
      paintRow(drawThread(rows(events)[0]!, { width: 79, glyphs: look().glyphs, nowMs: events.nowMs }), 79, look());
    const base = () => new FleetEvents().start().open(0, 'a');
    expect(draw(base().usage(0, 1))).toMatch(/ –\s+0\.0 s$/);
    expect(draw(base().usage(0, 1).usage(0, 1, 0.5))).toMatch(/ \$0\.50\+\s+0\.0 s$/);
    const summary = drawSummary(rows(base().usage(0, 1)), fold(base().usage(0, 1)).totals.usage, {
      width: 79,
      glyphs: look().glyphs,
      nowMs: 0,
    });
    expect(summary.map(({ text }) => text).join('')).toBe('1 thread ◐1 · 1 tokens · –');
  });
});

describe('a line for each change', () => {
  function linesOf(events: FleetEvents): string[] {
    const log = new LineLog(look());
    let slots = createSlots();
    return events.list.flatMap((event) => {
      slots = foldSlots(slots, event);
      return log.take(slots, event, event.ts ?? 0);
    });
  }

  it('[Y24] every change of state is one line, and pieces of text are none', () => {
    const events = new FleetEvents().start('the task').open(0, 'lead').text(0, 'a').text(0, 'b').text(0, 'c');
    events.open(1, 'w', 0).text(1, 'x').ask(1, 'rm x').close(1, 'error').close(0).done(false);
    expect(linesOf(events).map((line) => line.slice(10))).toEqual([
      'run req_1 begins: the task',
      '◐ working     lead  waiting for the model',
      '▸ writing     lead',
      '⧗ waits       lead  waiting for 1',
      '◐ working       w  waiting for the model',
      '▸ writing       w',
      '! needs you     w  bash: rm x (sevt_1)',
      '◐ working     lead',
      '✗ failed        w  x',
      '✓ done        lead  abc',
      'run req_1 has failed after 5 ms, $0.00',
    ]);
  });

  it('[V163] background work that was lost is a line of its own, also behind the end of the run', () => {
    const events = new FleetEvents().start('the task').open(0, 'lead').close(0).done(true);
    events.session({ type: 'session_error', message: 'the command "x"\u001b[2J is lost', code: 'unknown_error' });
    expect(linesOf(events).at(-1)?.slice(10)).toMatch(/^✗ error {7}the command "x".* is lost$/);
    expect(linesOf(events).at(-1)).not.toContain('\u001b[2J');
  });

  it('[V167] a rewind of files is a line of its own behind the end of the run', () => {
    const events = new FleetEvents().start('the task').open(0, 'lead').close(0).done(true);
    const counts = { files_count: 1, lines_added: 3, lines_removed: 1 };
    events.session({ type: 'files_rewound', message_id: 'sevt_1', by: 'admin', ...counts, files: ['a\u001b[2J.ts'] });
    expect(linesOf(events).at(-1)?.slice(10)).toMatch(/^↻ rewind {6}files rewound by admin \(1\): a.*\.ts$/);
    expect(linesOf(events).at(-1)).not.toContain('\u001b[2J');
  });

  it('[Y83] threads of one name are distinguished: from the second one on they have a number, and keep it', () => {
    const events = new FleetEvents().start().open(0, 'lead').open(1, 'w', 0).open(2, 'w', 0).open(3, 'v', 0);
    events.text(2, 'two').close(2).close(1);
    const names = linesOf(events).map((line) => line.slice(24).trim().split(' ')[0]);
    expect(names.slice(1)).toEqual(['lead', 'lead', 'w', 'w#2', 'v', 'w#2', 'w#2', 'w']);
  });

  it('[Y24] text of agents stays on its line and cannot control the terminal', () => {
    const events = new FleetEvents().start('a\nb\u001b[2J').open(0, 'l\u001b[31mead').ask(0, 'one\ntwo\u0007');
    // oxlint-disable-next-line no-control-regex -- they are what must not be left
    for (const line of linesOf(events)) expect(line).not.toMatch(/[\n\u0007\u001b]/);
    expect(linesOf(events).at(-1)).toContain('one two');
  });

  it('[Y24] a second run of the same thread is reported again', () => {
    const events = new FleetEvents()
      .start()
      .open(0, 'lead', null, 'L')
      .close(0)
      .done()
      .start()
      .open(0, 'lead', null, 'L')
      .close(0)
      .done();
    expect(linesOf(events).filter((line) => line.includes('✓ done'))).toHaveLength(2);
    expect(linesOf(events).filter((line) => line.includes('begins'))).toHaveLength(2);
  });
});
