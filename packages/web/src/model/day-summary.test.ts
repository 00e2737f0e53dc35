import { expect, it } from 'vitest';
import { dayLine, summarizeDay } from './day-summary.ts';
import { formatAgo } from './format.ts';
import { sampleLog } from './sample-log.suite.ts';
import { SessionModel } from './session-model.ts';
import { toShownRows } from './summary.ts';

const NOON = new Date(2026, 4, 5, 12).getTime();

function shownAt(startedAt: number, now: number, isOpen = false) {
  const session = new SessionModel('sesn_1');
  const log = sampleLog({ startedAt, isOpen });
  for (const event of log) session.fold(event);
  const { slots } = session;
  return { log, shown: { session, slots, rows: toShownRows(session, slots, now) } };
}

it('[Z302] an empty inbox shows how many threads run, the longest wait today, and the time of the last decision', () => {
  const now = NOON + 130_000;
  const { log, shown } = shownAt(NOON, now);
  const askedAt = new Map(log.flatMap((one) => (one.type === 'approval_required' ? [[one.tool_use_id, one.ts!]] : [])));
  const answers = log.flatMap((one) => (one.type === 'approval_resolved' ? [one] : []));
  const longest = Math.max(...answers.map((one) => one.ts! - askedAt.get(one.tool_use_id)!));
  const last = Math.max(...answers.map(({ ts }) => ts!));
  const day = summarizeDay([shown], now);
  expect(day).toMatchObject({ running: 0, longestMs: longest, decidedAt: last });
  expect(day.waitedMs).toBeGreaterThan(0);
  expect(dayLine(day, now)).toBe(
    `0 running, longest wait today ${Math.floor(longest / 1_000)} s, last decision 2 min ago`,
  );
});

it('[Z302] an open wait counts up to now; a wait that ended yesterday does not count today', () => {
  const { shown } = shownAt(NOON, NOON + 60_000, true);
  expect(summarizeDay([shown], NOON + 600_000).longestMs).toBeGreaterThan(590_000);
  const midnight = new Date(2026, 4, 6).getTime();
  const { shown: old } = shownAt(NOON, midnight + 1);
  expect(summarizeDay([old], midnight + 1)).toMatchObject({ longestMs: undefined, waitedMs: 0 });
  expect(dayLine(summarizeDay([old], midnight + 1), midnight + 1)).toMatch(/^0 running, last decision 11 h ago$/);
  expect(dayLine(summarizeDay([], NOON), NOON)).toBe('0 running');
  // A wait since yesterday counts today from midnight on.
  const { shown: open } = shownAt(NOON, midnight, true);
  expect(summarizeDay([open], midnight + 5_000).waitedMs).toBe(5_000);
});

it('[Z302] a time ago is short', () => {
  expect([0, 59_999, 60_000, 3_599_999, 7_200_000].map(formatAgo)).toEqual([
    '0 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '2 h ago',
  ]);
});
