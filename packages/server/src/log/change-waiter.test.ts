import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ChangeWaiter, WakeUps } from './change-waiter.ts';

it('[O12] a reader that waits is removed when it is woken or aborted, and listens to its signal once', async () => {
  const wakeUps = new WakeUps();
  const controller = new AbortController();
  const waiter = new ChangeWaiter(controller.signal);
  const other = new ChangeWaiter(new AbortController().signal);
  for (let round = 0; round < 3; round++) {
    const woken = [waiter.changed(wakeUps), other.changed(wakeUps)];
    expect([wakeUps.size, getEventListeners(controller.signal, 'abort').length]).toEqual([2, 1]);
    wakeUps.wakeAll();
    await Promise.all(woken);
    expect(wakeUps.size).toBe(0);
  }
  const waits = [waiter.changed(wakeUps), other.changed(wakeUps)];
  controller.abort();
  await waits[0];
  expect(wakeUps.size).toBe(1);
  await waiter.changed(wakeUps);
  wakeUps.wakeAll();
  await waits[1];
  waiter.close();
  expect([wakeUps.size, getEventListeners(controller.signal, 'abort')]).toEqual([0, []]);
});
