import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../src/clock.js';
import { Queue } from '../src/queue.js';

test('jobs run in the order in which they are due', async () => {
  const queue = new Queue({ clock: manualClock() });
  queue.add('second', {}, { delay: 0 });
  queue.add('third', {}, { delay: 0 });
  const seen = [];
  await queue.drain((job) => seen.push(job.name));
  assert.deepEqual(seen, ['second', 'third']);
});

test('a job that fails is tried again later', async () => {
  const clock = manualClock();
  const queue = new Queue({ clock, retries: 1 });
  queue.add('flaky', {});
  let attempts = 0;
  const handler = () => {
    attempts += 1;
    if (attempts === 1) throw new Error('not yet');
  };
  await queue.drain(handler);
  clock.advance(10_000);
  await queue.drain(handler);
  assert.equal(attempts, 2);
});
