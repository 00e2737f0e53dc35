import { describe, expect, it } from 'vitest';
import { ServerClock } from './server-clock.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

/** As an answer says it: without anything below the second. */
function dateOf(ms: number): string {
  return new Date(ms).toUTCString();
}

describe('what time it is on the server', () => {
  it('[Y80] it is ours as long as nothing speaks against it', () => {
    const clock = new ServerClock();
    expect(clock.toServerTime(NOW)).toBe(NOW);
    clock.sawAnswer(dateOf(NOW + 300), NOW, NOW + 700);
    clock.sawAnswer(null, NOW, NOW);
    clock.sawAnswer('no date', NOW, NOW);
    clock.sawEvent(NOW - 90_000, NOW);
    expect(clock.toServerTime(NOW)).toBe(NOW);
  });

  it('[Y80] a clock that is wrong by an hour is known to the second from one answer, whichever it is', () => {
    for (const wrongMs of [HOUR, -HOUR]) {
      const clock = new ServerClock();
      clock.sawAnswer(dateOf(NOW + wrongMs + 20), NOW, NOW + 40);
      expect(Math.abs(clock.toServerTime(NOW) - NOW - wrongMs)).toBeLessThanOrEqual(520);
    }
  });

  it('[Y80] every answer and every event narrows it down', () => {
    const clock = new ServerClock();
    for (const atMs of [0, 250, 500, 750]) {
      const sentAtMs = NOW + 10 * atMs + atMs;
      clock.sawAnswer(dateOf(sentAtMs + HOUR + 5), sentAtMs, sentAtMs + 10);
    }
    expect(Math.abs(clock.toServerTime(NOW) - NOW - HOUR)).toBeLessThanOrEqual(260);
    clock.sawEvent(NOW + HOUR, NOW + 3);
    expect(clock.toServerTime(NOW)).toBeGreaterThanOrEqual(NOW + HOUR - 3);
    expect(clock.toServerTime(NOW)).toBeLessThanOrEqual(NOW + HOUR + 300);
  });

  it('[Y80] when one of the clocks is set, what was known before counts no more', () => {
    const clock = new ServerClock();
    clock.sawAnswer(dateOf(NOW + HOUR), NOW, NOW + 10);
    clock.sawAnswer(dateOf(NOW), NOW, NOW + 10);
    expect(clock.toServerTime(NOW)).toBe(NOW);
  });
});
