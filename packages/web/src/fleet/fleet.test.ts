import { describe, expect, it } from 'vitest';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { toShownRows } from '../model/summary.ts';
import type { ShownSession } from '../stores/fleet-store.ts';
import { Settling, toActiveSessions } from './active-sessions.ts';
import { parseHidden } from './column-choice.ts';
import { toEmptyColumns } from './empty-columns.ts';
import { laneText } from './lane-text.ts';
import { pieceAt, tokensOfPiece } from './lane-piece.ts';
import { toMarked, toReplaySpan, toTicks, toTime, toTimeSpan, toX, zoom } from '../ui/lanes/time-span.ts';
import { CalmOrder } from '@fleetloom/protocol/fleet';
import { limits } from '../model/limits.ts';
import { tableLimits } from './limits.ts';
import { toRowCells } from '../ui/row-cells.ts';
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

describe('the time range of the lanes', () => {
  it('[Z28] lanes show five minutes up to now; a run that has just started fills the width; all time on request', () => {
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

  it('[Z28] a position converts to a time and back, and zooming keeps the time under the pointer', () => {
    const span = { from: 1_000, to: 5_000 };
    expect(toTime(toX(2_345, span, 400), span, 400)).toBeCloseTo(2_345, 6);
    const near = zoom(span, 2_000, 0.5);
    expect(near.to - near.from).toBe(2_000);
    expect(toX(2_000, near, 100)).toBeCloseTo(toX(2_000, span, 100), 6);
    expect(zoom(span, 2_000, 0.0001).to - zoom(span, 2_000, 0.0001).from).toBe(2_000);
    const { step, times } = toTicks({ from: 0, to: 5 * MINUTE }, 6);
    expect([step, times.length]).toEqual([MINUTE, 5]);
  });

  it('[Z28] a lane is available as text: the time in each state', () => {
    const { session, now } = openSample();
    const text = laneText(session.tracks.get('sthr_sesn_1_1'), { from: 0, to: now }, now);
    expect(text).toMatch(/needs you \d+ s/);
    expect(laneText(undefined, { from: 0, to: 1 }, 1)).toBe('no activity in this time');
  });
});

it('[Z28, Z301] the totals of a time range: cost, tokens, requests, calls, failed calls, and the time that threads waited for the user, overlaps once', () => {
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
  // The totals of both halves add up to the total of the whole range.
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

it('[Z29] a row shows the pending call, the used context window, the own cost, and the cost including the threads below', () => {
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

it('[Z17] the table reorders its rows when the new order has held for `tableLimits.reorderMs`, and not a millisecond earlier', () => {
  const { session, rows, now } = openSample();
  const shown = { session, slots: session.slots, rows, isLoading: false };
  const ui = { query: '', group: undefined, sort: 'attention', collapsed: new Set<string>() } as const;
  const order = new CalmOrder();
  const first = (time: number, changed: typeof rows) => {
    const lines = toTableRows({ sessions: [{ ...shown, rows: changed }], ui, now: time, order, isHeld: false });
    return lines[0]?.type === 'thread' ? lines[0].row.state : undefined;
  };
  expect(first(now, rows)).toBe('needs');
  // The thread that needed the user is done, and another one failed.
  const later = rows.map((row, index) => ({
    ...row,
    state: index === rows.length - 1 ? ('error' as const) : ('done' as const),
  }));
  expect(first(now + 1, later)).toBe('done');
  expect(first(now + tableLimits.reorderMs, later)).toBe('done');
  expect(first(now + 1 + tableLimits.reorderMs, later)).toBe('error');
});

it('[Z29] the row of a finished thread shows its conclusion, that of a writing thread its last words without a cut word', () => {
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

it('[Z301] a time range is selected from either end and not beyond the lanes', () => {
  const span = { from: 1_000, to: 5_000 };
  expect(toMarked(100, 300, span, 400)).toEqual({ from: 2_000, to: 4_000 });
  expect(toMarked(300, 100, span, 400)).toEqual({ from: 2_000, to: 4_000 });
  expect(toMarked(-50, 900, span, 400)).toEqual(span);
});

it('[Z310] a lane segment shows the tokens of its model request, or of the thread up to then where no model writes', () => {
  const { session, now } = openSample();
  const track = session.tracks.get('sthr_sesn_1_2')!;
  const [spent] = track.spent;
  expect(track.spent).toHaveLength(1);
  const speaks = track.segments.find(({ state }) => state === 'writing')!;
  expect(tokensOfPiece(track, speaks, now)).toEqual({ tokens: 102 + 12, isRequest: true });
  // Its tokens are unknown before the request ends.
  expect(tokensOfPiece(track, speaks, spent!.at - 1)).toEqual({ tokens: 0, isRequest: false });
  const works = track.segments.find(({ state }) => state === 'tool')!;
  expect(tokensOfPiece(track, works, now)).toEqual({ tokens: 0, isRequest: false });
  expect(pieceAt(track, works.from)).toBe(works);
  expect(pieceAt(track, track.segments[0]!.from - 1)).toBeUndefined();
});

it('[Z27, Z301] a thread keeps the times of its newest requests, calls and failures, up to the limit', () => {
  const { session, now } = openSample();
  const track = session.tracks.get('sthr_sesn_1_2')!;
  const slot = session.slots.runs[0]!.slots[2]!;
  const start = sampleLog().find(({ type }) => type === 'tool_start')!;
  for (let call = 1; call <= limits.timesMax + 1; call++) track.take({ ...start, ts: now + call }, slot, new Set());
  expect(track.callTimes).toHaveLength(limits.timesMax);
  expect(track.callTimes.at(-1)).toBe(now + limits.timesMax + 1);
});

it('[Z29] the row of a thread whose request was refused shows the time until the next try, until it starts', () => {
  const { rows, now } = openSample();
  const row = rows[0]!;
  const waits = { type: 'retrying', code: 'c', reason: null, message: '429', attempt: 2, attemptsMax: 5 } as const;
  const says = (until: number) => {
    const slot = { ...row.slot, phase: 'retrying' as const, waits: { ...waits, until } };
    return toRowCells({ ...row, state: 'retry', slot }, now, true).doing;
  };
  expect(says(now + 11_500)).toBe('429, next try in 12 s');
  expect(says(now)).not.toContain('next try');
});

describe('what the fleet shows', () => {
  const shownOf = (id: string, isOpenLog: boolean, shift = 0) => {
    const session = new SessionModel(id);
    for (const event of sampleLog({ isOpen: isOpenLog }))
      session.fold(event.ts === null ? event : { ...event, ts: event.ts + shift });
    const now = session.slots.lastAt!;
    return { session, slots: session.slots, rows: toShownRows(session, session.slots, now), isLoading: false };
  };

  it('[Z250] active sessions come before finished ones, which are shown for 5 min or as long as the window', () => {
    const done = shownOf('sesn_done', false);
    const open = shownOf('sesn_open', true);
    const ids = (ui: { windowMs: number | 'all'; windowEnd: undefined }, now: number) =>
      toActiveSessions({ sessions: [done, open], ui, now, order: new CalmOrder(), isHeld: false, isSettled: true }).map(
        ({ session }) => session.id,
      );
    const end = done.slots.lastAt!;
    const short = { windowMs: MINUTE, windowEnd: undefined };
    expect(ids(short, end)).toEqual(['sesn_open', 'sesn_done']);
    expect(ids(short, end + tableLimits.finishedMs)).toEqual(['sesn_open', 'sesn_done']);
    expect(ids(short, end + tableLimits.finishedMs + 1)).toEqual(['sesn_open']);
    expect(ids({ windowMs: 'all', windowEnd: undefined }, end + 1e9)).toEqual(['sesn_open', 'sesn_done']);
  });

  it('[Z601] while a page loads its sessions, those that are active take their position at once, also under the pointer', () => {
    const [done, open] = [shownOf('sesn_done', false), shownOf('sesn_open', true)];
    const now = done.slots.lastAt!;
    const order = new CalmOrder();
    const show = (sessions: readonly ShownSession[], isSettled: boolean) =>
      toActiveSessions({
        sessions,
        ui: { windowMs: MINUTE, windowEnd: undefined },
        now,
        order,
        isHeld: true,
        isSettled,
      }).map(({ session }) => session.id);
    expect(show([done], false)).toEqual(['sesn_done']);
    expect(show([done, open], false)).toEqual(['sesn_open', 'sesn_done']);
    const later = shownOf('sesn_later', true);
    expect(show([done, open, later], true)).toEqual(['sesn_open', 'sesn_done', 'sesn_later']);

    const settling = new Settling();
    const { settledMs } = tableLimits;
    expect(settling.isSettled([], 0)).toBe(false);
    expect(settling.isSettled([{ isLoading: true }], 5_000)).toBe(false);
    expect(settling.isSettled([{ isLoading: false }], 5_000 + settledMs - 1)).toBe(false);
    expect(settling.isSettled([{ isLoading: false }], 5_000 + settledMs)).toBe(true);
    expect(settling.isSettled([{ isLoading: true }], 9_000)).toBe(true);
  });

  it('[Z527] only known columns are read from the stored choice', () => {
    expect(parseHidden(null)).toEqual([]);
    expect(parseHidden('task toString <script> age state')).toEqual(['task', 'age']);
  });

  it('[Z251] columns without a value in any row are empty', () => {
    const { rows } = openSample();
    expect(toEmptyColumns([])).toEqual(['task', 'model', 'context', 'tokens', 'cost', 'below', 'errors']);
    expect(toEmptyColumns(rows)).not.toContain('tokens');
  });
});
