import { expect, it } from 'vitest';
import { ByteCollector } from './byte-collector.ts';

it('[W94] collects bytes in their order up to its limit, and keeps what fits of the chunk that does not', () => {
  const collector = new ByteCollector(5);
  expect([collector.add(Buffer.from('ab')), collector.add(Buffer.from('cde'))]).toEqual([true, true]);
  expect([collector.length, collector.bytes().toString()]).toEqual([5, 'abcde']);
  expect(collector.add(Buffer.from('f'))).toBe(false);
  const cut = new ByteCollector(3);
  expect([cut.add(Buffer.from('abcd')), cut.bytes().toString()]).toEqual([false, 'abc']);
});

it('[W94] a million single bytes take a few megabytes, not a hundred', () => {
  const collector = new ByteCollector(2_000_000);
  const byte = Buffer.from('x');
  const before = process.memoryUsage();
  for (let count = 0; count < 1_000_000; count++) collector.add(byte);
  const after = process.memoryUsage();
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  expect(grown).toBeLessThan(20 * 1024 * 1024);
  expect(collector.bytes().length).toBe(1_000_000);
});
