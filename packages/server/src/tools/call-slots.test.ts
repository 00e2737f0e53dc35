import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { toolLimits } from './limits.ts';
import { CallSlots } from './call-slots.ts';

it('[U115] no more calls than allowed are under way, and the others follow in their order', async () => {
  const slots = new CallSlots(3);
  const { signal } = new AbortController();
  setMaxListeners(20, signal);
  const begun: number[] = [];
  let [now, most] = [0, 0];
  const calls = Array.from({ length: 20 }, (_, at) =>
    slots.hold(signal, async () => {
      begun.push(at);
      most = Math.max(most, ++now);
      await wait(1);
      now--;
      if (at % 3 === 0) throw new Error('fails');
    }),
  );
  await Promise.allSettled(calls);
  expect(most).toBe(3);
  expect(begun).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect([toolLimits.toolHostCallsMax, toolLimits.toolHostCommandsMax]).toEqual([16, 64]);
});

it('[U115] a call that is interrupted while it waits leaves, and takes no place', async () => {
  const slots = new CallSlots(1);
  const { signal } = new AbortController();
  const stop = new AbortController();
  let finish = () => {};
  const first = slots.hold(signal, () => new Promise<void>((resolve) => (finish = resolve)));
  const second = slots.hold(stop.signal, async () => expect.fail('it was interrupted'));
  const third = slots.hold(signal, async () => 'third');
  stop.abort();
  await expect(second).rejects.toThrow('interrupted before it was done');
  await expect(slots.hold(stop.signal, async () => 'never')).rejects.toThrow('interrupted');
  finish();
  await first;
  expect(await third).toBe('third');
});
