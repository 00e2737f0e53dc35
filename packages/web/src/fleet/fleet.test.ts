import { describe, expect, it } from 'vitest';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { toShownRows } from '../model/summary.ts';
import { laneText } from './lane-text.ts';
import { pieceAt, tokensOfPiece } from './lane-piece.ts';
import { toMarked, toReplaySpan, toTicks, toTime, toTimeSpan, toX, zoom } from './lane-view.ts';
import { CalmOrder } from '../model/attention.ts';
import { limits } from '../limits.ts';
import { toRowCells } from './row-cells.ts';
import { toTableRows } from './table-rows.ts';
import { unionOf } from '../model/union-of.ts';
import { totalsOf } from './window-totals.ts';

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

it('[Z28, Z301] the totals of a time: cost, tokens, requests, calls, failed calls, and how long somebody was waited for, each moment once', () => {
  const { rows, now } = openSample();
  const totals = totalsOf(rows, { from: 0, to: now });
  const log = sampleLog({ isOpen: true });
  const tokens = log.reduce(
    (sum, event) => sum + (event.type === 'token_usage' ? event.input_tokens + event.output_tokens : 0),
    0,
  );
  const [tools, errors] = [
    log.filter(({ type }) => type === 'tool_start').length,
    log.filter((event) => event.type === 'tool_call' && !event.ok).length,
  ];
  expect([tools, errors]).toEqual([5, 1]);
  expect(totals).toMatchObject({ requests: 6, tokens, tools, errors });
  // Half of the time has half of it, and both halves together have all.
  const middle = (log[0]!.ts! + now) / 2;
  const halves = [totalsOf(rows, { from: 0, to: middle }), totalsOf(rows, { from: middle + 0.5, to: now })];
  expect(halves.map((half) => half.tokens).reduce((sum, part) => sum + part)).toBe(tokens);
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

it('[Z301] a time is marked from either end and not beyond the lanes', () => {
  const span = { from: 1_000, to: 5_000 };
  expect(toMarked(100, 300, span, 400)).toEqual({ from: 2_000, to: 4_000 });
  expect(toMarked(300, 100, span, 400)).toEqual({ from: 2_000, to: 4_000 });
  expect(toMarked(-50, 900, span, 400)).toEqual(span);
});

it('[Z310] a piece of a lane tells the tokens of its request where a model speaks, else of the thread up to then', () => {
  const { session, now } = openSample();
  const track = session.tracks.get('sthr_sesn_1_2')!;
  const [spent] = track.spent;
  expect(track.spent).toHaveLength(1);
  const speaks = track.segments.find(({ state }) => state === 'writing')!;
  expect(tokensOfPiece(track, speaks, now)).toEqual({ tokens: 102 + 12, isRequest: true });
  // Before the request is over, nobody knows what it takes.
  expect(tokensOfPiece(track, speaks, spent!.at - 1)).toEqual({ tokens: 0, isRequest: false });
  const works = track.segments.find(({ state }) => state === 'tool')!;
  expect(tokensOfPiece(track, works, now)).toEqual({ tokens: 0, isRequest: false });
  expect(pieceAt(track, works.from)).toBe(works);
  expect(pieceAt(track, track.segments[0]!.from - 1)).toBeUndefined();
});

it('[Z27, Z301] of the requests, calls and failures of a thread the newest are known, up to their limit', () => {
  const { session, now } = openSample();
  const track = session.tracks.get('sthr_sesn_1_2')!;
  const slot = session.slots.runs[0]!.slots[2]!;
  const start = sampleLog().find(({ type }) => type === 'tool_start')!;
  for (let call = 1; call <= limits.timesMax + 1; call++) track.take({ ...start, ts: now + call }, slot, new Set());
  expect(track.callTimes).toHaveLength(limits.timesMax);
  expect(track.callTimes.at(-1)).toBe(now + limits.timesMax + 1);
});

it('[Z29] of one whose request was refused it says when the next try begins, as long as that is to come', () => {
  const { rows, now } = openSample();
  const row = rows[0]!;
  const waits = { type: 'retrying', code: 'c', reason: null, message: '429', attempt: 2, attemptsMax: 5 } as const;
  const says = (until: number) => {
    const slot = { ...row.slot, phase: 'retrying' as const, waits: { ...waits, until } };
    return toRowCells({ ...row, state: 'retry', slot }, now, true).doing;
  };
  expect(says(now + 11_500)).toMatch(/429.* · next try in 12 s$/);
  expect(says(now)).not.toContain('next try');
});
