import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import { announceWaitMs, isQuiet, Notices, parseSettings } from './notices.ts';

const at = (hours: number, minutes = 0) => new Date(2026, 0, 1, hours, minutes);

it('[Z47] quiet hours start and end at their minute, also over midnight; without both times there are none', () => {
  const night = { isOn: true, quietFrom: '22:00', quietTo: '07:30' };
  expect([at(21, 59), at(22), at(0), at(7, 29), at(7, 30)].map((time) => isQuiet(night, time))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  const noon = { isOn: true, quietFrom: '12:00', quietTo: '13:00' };
  expect([at(11, 59), at(12), at(12, 59), at(13)].map((time) => isQuiet(noon, time))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(isQuiet({ isOn: true, quietFrom: '12:00', quietTo: '' }, at(12))).toBe(false);
});

it('[Z47] each pending item is notified once, but not those older than the page, nor while the page has focus or in quiet hours', () => {
  const notices = new Notices();
  notices.settings = { isOn: true, quietFrom: '22:00', quietTo: '07:00' };
  const [a, b, c] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  expect(notices.take([a], at(12), false)).toEqual([]);
  expect(notices.take([a, b], at(12), false)).toEqual(['b']);
  expect(notices.take([a, b], at(12), false)).toEqual([]);
  expect(notices.take([a, b, c], at(12), true)).toEqual([]);
  expect(notices.take([a, b, c], at(12), false)).toEqual([]);
  expect(notices.take([a, b, c, { id: 'd' }], at(23), false)).toEqual([]);
  notices.settings = { ...notices.settings, isOn: false };
  expect(notices.take([{ id: 'e' }], at(12), false)).toEqual([]);
});

it('[Z47] notifications are off until the user turns them on, whatever the storage contains', () => {
  const off = { isOn: false, quietFrom: '', quietTo: '' };
  for (const text of [null, '', 'nonsense', '[]', '{"isOn":"yes","quietFrom":7,"quietTo":"soon"}']) {
    expect(parseSettings(text)).toEqual(off);
  }
  const on = { isOn: true, quietFrom: '22:00', quietTo: '07:00' };
  expect(parseSettings(JSON.stringify(on))).toEqual(on);
});

it('[Z27] pending items are announced at once, and then not before the interval has passed', () => {
  expect(announceWaitMs(0, 1_000_000)).toBe(0);
  expect(announceWaitMs(1_000_000, 1_000_001)).toBe(storeLimits.announceMs - 1);
  expect(announceWaitMs(1_000_000, 1_000_000 + storeLimits.announceMs)).toBe(0);
});
