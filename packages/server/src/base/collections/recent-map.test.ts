import { expect, it } from 'vitest';
import { RecentMap } from './recent-map.ts';

it('[U401] of too many names, or too much under them, the oldest are dropped', () => {
  const map = new RecentMap<string>({ entriesMax: 3, sizeMax: 10, sizeOf: (text) => text.length, nameCharsMax: 2 });
  for (const name of ['a', 'b', 'c']) map.set(name, 'xx');
  map.set('a', 'yy');
  map.set('d', 'zz');
  expect([map.has('b'), map.get('a'), map.size]).toEqual([false, 'yy', 3]);
  map.set('e', 'x'.repeat(7));
  expect([map.has('c'), map.has('a'), map.values()]).toEqual([false, false, ['zz', 'x'.repeat(7)]]);
  // Larger than everything together, and a name that is too long.
  map.set('f', 'x'.repeat(11));
  map.set('abc', 'x');
  expect([map.has('f'), map.has('abc'), map.size]).toEqual([false, false, 2]);
  expect([map.delete('d'), map.delete('d')]).toEqual([true, false]);
  map.set('g', 'xxx');
  expect(map.size).toBe(2);
  map.clear();
  map.set('h', 'x'.repeat(10));
  expect(map.size).toBe(1);
});
