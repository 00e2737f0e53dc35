import { describe, expect, it } from 'vitest';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { toShownRows } from '../model/summary.ts';
import { laneText } from './lane-text.ts';
import { toReplaySpan, toTicks, toTime, toTimeSpan, toX, zoom } from './lane-view.ts';
import { CalmOrder } from '../model/attention.ts';
import { limits } from '../limits.ts';
import { toRowCells } from './row-cells.ts';
import { toTableRows } from './table-rows.ts';
import { totalsOf, unionOf } from './window-totals.ts';

const MINUTE = 60_000;

function openSample() {
  const session = new SessionModel('sesn_1');
  for (const event of sampleLog({ isOpen: true })) session.fold(event);
  const now = session.slots.lastAt!;
  return { session, now, rows: toShownRows(session, session.slots, now) };
}

describe('the time that lanes show', () => {
  it('[Z28] five minutes up to now; a run that has just begun fills the width; everything on demand', () => {
    const ui = { windowMs: 5 * MINUTE, windowEnd: undefined };
    expect(toTimeSpan(ui, 10 * MINUTE, 0)).toEqual({ from: 5 * MINUTE, to: 10 * MINUTE });
    expect(toTimeSpan(ui, 10 * MINUTE, 9 * MINUTE)).toEqual({ from: 9 * MINUTE - 1_000, to: 10 * MINUTE });
    expect(toTimeSpan(ui, 10 * MINUTE, 10 * MINUTE)).toEqual({ from: 9.8 * MINUTE, to: 10 * MINUTE });
    expect(toTimeSpan({ windowMs: 'all', windowEnd: undefined }, 10 * MINUTE, MINUTE)).toEqual({
      from: MINUTE,
      to: 10 * MINUTE,
    });
    expect(toTimeSpan({ windowMs: MINUTE, windowEnd: 3 * MINUTE }, 10 * MINUTE, 0)).toEqual({
      from: 2 * MINUTE,
      to: 3 * MINUTE,
    });
    expect(toReplaySpan({ windowMs: 5 * MINUTE }, 30_000, { from: 0, to: MINUTE })).toEqual({
      from: -500,
      to: MINUTE + 500,
    });
    expect(toReplaySpan({ windowMs: MINUTE }, 5 * MINUTE, { from: 0, to: 9 * MINUTE })).toEqual({
      from: 4.5 * MINUTE,
      to: 5.5 * MINUTE,
    });
  });

  it('[Z28] a place and its time belong to each other, and zooming keeps the time under the pointer', () => {
    const span = { from: 1_000, to: 5_000 };
    expect(toTime(toX(2_345, span, 400), span, 400)).toBeCloseTo(2_345, 6);
    const near = zoom(span, 2_000, 0.5);
    expect(near.to - near.from).toBe(2_000);
    expect(toX(2_000, near, 100)).toBeCloseTo(toX(2_000, span, 100), 6);
    expect(zoom(span, 2_000, 0.0001).to - zoom(span, 2_000, 0.0001).from).toBe(2_000);
    const { step, times } = toTicks({ from: 0, to: 5 * MINUTE }, 6);
    expect([step, times.length]).toEqual([MINUTE, 5]);
  });

  it('[Z28] a lane can be read as text: how long in which state', () => {
    const { session, now } = openSample();
    const text = laneText(session.tracks.get('sthr_sesn_1_1'), { from: 0, to: now }, now);
    expect(text).toMatch(/needs you \d+ s/);
    expect(laneText(undefined, { from: 0, to: 1 }, 1)).toBe('nothing in this time');
  });
});

it('[Z28] the totals of a time: cost, requests, calls, failures, and how long somebody was waited for, each moment once', () => {
  const { rows, now } = openSample();
  const totals = totalsOf(rows, { from: 0, to: now });
  expect(totals).toMatchObject({ requests: 6, errors: 0 });
  expect(totals.costUsd).toBeCloseTo(0.005, 10);
  expect(totals.waitedMs).toBeGreaterThan(0);
  expect(totalsOf(rows, { from: now + 1, to: now + 2 })).toMatchObject({ requests: 0, tools: 0, costUsd: 0 });
  expect(
    unionOf([
      [0, 10],
      [5, 12],
      [20, 21],
      [6, 7],
    ]),
  ).toBe(13);
});

it('[Z29] a row says in one line what is asked for, how full the window is, what it took, and what it took with all below', () => {
  const { rows, now } = openSample();
  const [lead, asks] = rows.map((row) => toRowCells(row, now + 65_000, true));
  expect(asks).toMatchObject({
    state: 'needs',
    word: 'needs you',
    doing: 'bash: ls 1',
    agent: 'worker1',
    ordinal: 1,
    costBelow: '',
  });
  expect(lead).toMatchObject({
    state: 'waits',
    doing: 'waiting for 1',
    context: 50,
    tokens: '110',
    cost: '$0.0010',
    costBelow: '$0.0050',
  });
  expect(asks!.age).toMatch(/^1m$/);
});

it('[Z17] the table moves its rows when the order was another one for so long, and not a millisecond before', () => {
  const { session, rows, now } = openSample();
  const shown = { session, slots: session.slots, rows, isLoading: false };
  const ui = { query: '', group: undefined, sort: 'attention', collapsed: new Set<string>() } as const;
  const order = new CalmOrder();
  const first = (time: number, changed: typeof rows) => {
    const lines = toTableRows({ sessions: [{ ...shown, rows: changed }], ui, now: time, order, isHeld: false });
    return lines[0]?.type === 'thread' ? lines[0].row.state : undefined;
  };
  expect(first(now, rows)).toBe('needs');
  // The one that needed somebody is done, and another one failed.
  const later = rows.map((row, index) => ({
    ...row,
    state: index === rows.length - 1 ? ('error' as const) : ('done' as const),
  }));
  expect(first(now + 1, later)).toBe('done');
  expect(first(now + limits.reorderMs, later)).toBe('done');
  expect(first(now + 1 + limits.reorderMs, later)).toBe('error');
});

it('[Z29] of one that is done it says what it came to, of one that writes its last words from a whole word on', () => {
  const { rows, now } = openSample();
  const says = (state: 'done' | 'writing', tail: string) => {
    const row = rows[0]!;
    const slot = {
      ...row.slot,
      state: state === 'done' ? ('ok' as const) : ('running' as const),
      phase: 'writing' as const,
    };
    const text = { ...slot.text, tail };
    return toRowCells({ ...row, state, slot: { ...slot, text, error: null, waits: null } }, now, true).doing;
  };
  expect(says('done', 'I read it.\n\n- **Nothing** stops us.\n\n```\ncode\n```')).toBe('Nothing stops us.');
  expect(says('writing', `${'many words '.repeat(20)}are said`)).toMatch(/^…(?:many|words) .* are said$/);
  expect(says('writing', 'short')).toBe('short');
});
