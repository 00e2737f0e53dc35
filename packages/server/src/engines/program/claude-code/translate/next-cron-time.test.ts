import { expect, it } from 'vitest';
import { nextCronTime } from './next-cron-time.ts';

/** A Thursday. */
const start = new Date(2026, 0, 1, 12, 30, 20);
const next = (schedule: string, after = start) => {
  const time = nextCronTime(schedule, after.getTime());
  return time === undefined ? undefined : toText(new Date(time));
};
const toText = (date: Date) =>
  `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()} ${date.getHours()}:${date.getMinutes()}`;

it('[J391] the next time of a cron schedule is behind the moment that is given, in local time', () => {
  expect(next('* * * * *')).toBe('2026-1-1 12:31');
  expect(next('30 12 * * *')).toBe('2026-1-2 12:30');
  expect(next('*/20 * * * *')).toBe('2026-1-1 12:40');
  expect(next('5,50 9-17/4 * * *')).toBe('2026-1-1 13:5');
  expect(next('0 9 * * 1-5', new Date(2026, 0, 2, 10))).toBe('2026-1-5 9:0');
  expect(next('0 0 * * 7')).toBe('2026-1-4 0:0');
  expect(next('0 0 29 2 *')).toBe(undefined);
  expect(next('0 0 31 3 *')).toBe('2026-3-31 0:0');
  // With a day of the month and a day of the week either is enough.
  expect(next('0 0 15 * 0')).toBe('2026-1-4 0:0');
});

it('[J391] an invalid schedule has no next time', () => {
  for (const schedule of [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    'a * * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '1, * * * *',
  ]) {
    expect([schedule, next(schedule)]).toEqual([schedule, undefined]);
  }
});
