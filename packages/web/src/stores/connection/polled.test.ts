import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectionLimits } from './limits.ts';
import { Polled } from './polled.ts';

const page = { visibilityState: 'visible' };
let asked = 0;
let isAway = false;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, isAway] = [0, false];
  page.visibilityState = 'visible';
  vi.stubGlobal('document', page);
  vi.stubGlobal('fetch', async () => {
    asked += 1;
    if (isAway) throw new TypeError('away');
    return Response.json({ answer: asked });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function open(everyMs: number) {
  const read: unknown[] = [];
  const wanted = { now: true };
  const polled = new Polled<object>({
    path: 'v1/x',
    everyMs,
    isWanted: () => wanted.now,
    onRead: (answer) => read.push(answer),
  });
  return { polled, read, wanted };
}

it('[Z333] the load is requested at most every 2 s, the health of a session at most every 5 s, and only while watched', async () => {
  expect([connectionLimits.loadMs, connectionLimits.healthMs]).toEqual([2_000, 5_000]);
  for (const everyMs of [connectionLimits.loadMs, connectionLimits.healthMs]) {
    asked = 0;
    const { polled, read } = open(everyMs);
    await vi.advanceTimersByTimeAsync(3 * everyMs);
    expect(asked).toBe(0);
    const ends = [polled.watch(), polled.watch()];
    await vi.advanceTimersByTimeAsync(0);
    expect([asked, read]).toEqual([1, [undefined, { answer: 1 }]]);
    await vi.advanceTimersByTimeAsync(everyMs - 1);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toBe(2);
    ends[0]!();
    await vi.advanceTimersByTimeAsync(everyMs);
    expect(asked).toBe(3);
    // Without a watcher no request is made. A new watcher waits for the rest of the interval, and keeps the last response until then.
    ends[1]!();
    await vi.advanceTimersByTimeAsync(everyMs / 2);
    const end = polled.watch();
    await vi.advanceTimersByTimeAsync(everyMs / 2 - 1);
    expect([asked, read.at(-1)]).toEqual([3, { answer: 3 }]);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toBe(4);
    end();
    await vi.advanceTimersByTimeAsync(everyMs);
    // An older response is not shown again.
    polled.watch()();
    expect([asked, read.at(-1)]).toEqual([4, undefined]);
  }
});

it('[Z333] a hidden page and a page that is not live make no request; a failed request is repeated', async () => {
  const { polled, read, wanted } = open(1_000);
  page.visibilityState = 'hidden';
  const end = polled.watch();
  await vi.advanceTimersByTimeAsync(5_000);
  page.visibilityState = 'visible';
  wanted.now = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect([asked, read]).toEqual([0, [undefined]]);
  wanted.now = true;
  isAway = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([asked, read]).toEqual([1, [undefined, undefined]]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([asked, read]).toEqual([2, [undefined, undefined, { answer: 2 }]]);
  end();
});
