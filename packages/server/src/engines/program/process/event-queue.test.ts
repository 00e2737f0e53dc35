import { expect, it } from 'vitest';
import { EventQueue } from './event-queue.ts';

it('[J10] the producer is notified when the queue is full, and when its reader has made room', async () => {
  const calls: string[] = [];
  const queue = new EventQueue<string>({
    sizeMax: 10,
    takeMax: 100,
    onFull: () => calls.push('full'),
    onRoom: () => calls.push('room'),
  });
  queue.push(['a'], 9);
  expect(calls).toEqual([]);
  queue.push(['b'], 1);
  queue.push(['c'], 5);
  expect(calls).toEqual(['full']);
  expect(queue.isFull).toBe(true);
  const reading = queue[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(['a', 'b', 'c']);
  expect(calls).toEqual(['full', 'room']);
  queue.push(['d'], 9);
  queue.end();
  queue.push(['e'], 1);
  expect((await reading.next()).value).toEqual(['d']);
  expect((await reading.next()).done).toBe(true);
  expect(calls).toEqual(['full', 'room']);
});

it('[J172] so much is taken at a time, what was pushed at once stays together, and there is room when half of it is gone', async () => {
  const calls: string[] = [];
  const queue = new EventQueue<string>({
    sizeMax: 12,
    takeMax: 4,
    onFull: () => calls.push('full'),
    onRoom: () => calls.push('room'),
  });
  queue.push(['a', 'b'], 2);
  queue.push(['c'], 2);
  queue.push(['d'], 1);
  queue.push(['e', 'f'], 5);
  queue.push(['g'], 2);
  queue.push([], 100);
  const reading = queue[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(['a', 'b', 'c']);
  expect(calls).toEqual(['full']);
  expect((await reading.next()).value).toEqual(['d']);
  expect(calls).toEqual(['full']);
  expect((await reading.next()).value).toEqual(['e', 'f']);
  expect(calls).toEqual(['full', 'room']);
  expect((await reading.next()).value).toEqual(['g']);
});
