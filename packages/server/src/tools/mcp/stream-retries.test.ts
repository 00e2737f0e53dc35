import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { toolLimits } from '../limits.ts';
import { toToolLimits } from '../tool-limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createStreamRetries } from './stream-retries.ts';

it('[U167] a stream of notifications is opened again after 1 s, then after twice as long each time up to 60 s', () => {
  const { waits } = retry(9, 0);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  expect([toolLimits.mcpStreamRetryMs, toolLimits.mcpStreamRetryMsMax]).toEqual([1_000, 60_000]);
});

it('[U167] after a stream that has lasted for more than a minute it is 1 s again', () => {
  const { waits, again, advance } = retry(5, 0);
  advance(toolLimits.mcpStreamRetryMsMax + 1);
  again(0);
  expect(waits.slice(-2)).toEqual([16_000, 1_000]);
});

it('[U167] an answer is resumed after 250 ms to 1 s, whatever delay the server requests, and nothing is opened after closing', () => {
  const { waits, again, opened, close } = retry(0, 0, true);
  for (const asked of [0, 400, 1e12]) again(asked);
  expect(waits).toEqual([250, 400, 1_000]);
  expect(opened()).toBe(3);
  close();
  expect(opened()).toBe(3);
});

function retry(times: number, askedMs: number, isInExchange = false) {
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const waits: number[] = [];
  let count = 0;
  const retries = createStreamRetries({
    limits: toToolLimits(),
    clock,
    isInExchange: () => isInExchange,
    schedule: (run, delayMs) => (waits.push(delayMs), schedule(run, delayMs)),
  });
  const again = (asked: number) => {
    retries.schedule(() => count++, asked);
    advance(waits.at(-1)!);
  };
  for (let time = 0; time < times; time++) again(askedMs);
  const close = () => {
    retries.schedule(() => count++, 0);
    retries.close();
    advance(100_000);
  };
  return { waits, again, advance, close, opened: () => count };
}
