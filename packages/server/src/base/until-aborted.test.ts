import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { untilAborted } from './until-aborted.ts';

it('[D40] work that ends first gives its outcome, and leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve('done'), signal)).toBe('done');
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('[D40] a signal that is aborted first ends the wait at once, with its reason or another error', async () => {
  const controller = new AbortController();
  const never = new Promise<never>(() => {});
  const waits = [
    untilAborted(never, controller.signal),
    untilAborted(never, controller.signal, () => new Error('mine')),
  ];
  controller.abort(new Error('stop'));
  const ends = await Promise.allSettled(waits);
  expect(ends.map((end) => end.status === 'rejected' && String(end.reason))).toEqual(['Error: stop', 'Error: mine']);
  await expect(untilAborted(never, controller.signal)).rejects.toThrow('stop');
});
