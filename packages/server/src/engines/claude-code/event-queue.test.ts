import { expect, it } from 'vitest';
import { EventQueue } from './event-queue.ts';

it('[J10] who fills the queue is told when it holds as much as it may, and when somebody has taken it', async () => {
  const told: string[] = [];
  const queue = new EventQueue<string>({
    sizeMax: 10,
    takeMax: 100,
    onFull: () => told.push('full'),
    onRoom: () => told.push('room'),
  });
  queue.push(['a'], 9);
  expect(told).toEqual([]);
  queue.push(['b'], 1);
  queue.push(['c'], 5);
  expect(told).toEqual(['full']);
  expect(queue.isFull).toBe(true);
  const reading = queue[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(['a', 'b', 'c']);
  expect(told).toEqual(['full', 'room']);
  queue.push(['d'], 9);
  queue.end();
  queue.push(['e'], 1);
  expect((await reading.next()).value).toEqual(['d']);
  expect((await reading.next()).done).toBe(true);
  expect(told).toEqual(['full', 'room']);
});

it('[J172] so much is taken at a time, what was pushed at once stays together, and there is room when half of it is gone', async () => {
  const told: string[] = [];
  const queue = new EventQueue<string>({
    sizeMax: 12,
    takeMax: 4,
    onFull: () => told.push('full'),
    onRoom: () => told.push('room'),
  });
  queue.push(['a', 'b'], 2);
  queue.push(['c'], 2);
  queue.push(['d'], 1);
  queue.push(['e', 'f'], 5);
  queue.push(['g'], 2);
  queue.push([], 100);
  const reading = queue[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(['a', 'b', 'c']);
  expect(told).toEqual(['full']);
  expect((await reading.next()).value).toEqual(['d']);
  expect(told).toEqual(['full']);
  expect((await reading.next()).value).toEqual(['e', 'f']);
  expect(told).toEqual(['full', 'room']);
  expect((await reading.next()).value).toEqual(['g']);
});
