import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLocks } from './locks.ts';

it('[U37] one at a time for each key, in the order of asking, also after a failure', async () => {
  const locks = createLocks();
  const order: string[] = [];
  const work = (name: string, ms: number) => async () => {
    order.push(`${name} begins`);
    await wait(ms);
    order.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const results = await Promise.allSettled([
    locks.hold('key', work('a', 20)),
    locks.hold('key', work('b', 1)),
    locks.hold('key', work('c', 1)),
    locks.hold('other', work('d', 1)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(order.filter((entry) => !entry.startsWith('d'))).toEqual([
    'a begins',
    'a ends',
    'b begins',
    'b ends',
    'c begins',
    'c ends',
  ]);
  expect(order.indexOf('d ends')).toBeLessThan(order.indexOf('a ends'));
});
