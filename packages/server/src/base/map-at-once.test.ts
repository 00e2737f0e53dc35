import { expect, it } from 'vitest';
import { baseLimits } from './limits.ts';
import { mapAtOnce } from './map-at-once.ts';

it('[H89] files of a list are read at most 8 at a time, in their order, and the first failure rejects', async () => {
  let underWay = 0;
  let most = 0;
  const items = Array.from({ length: 50 }, (_, index) => index);
  const double = async (item: number) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, item % 3));
    underWay -= 1;
    return item * 2;
  };
  expect(await mapAtOnce(items, baseLimits.filesAtOnceMax, double)).toEqual(items.map((item) => item * 2));
  expect([most, baseLimits.filesAtOnceMax]).toEqual([8, 8]);
  expect(await mapAtOnce([], 8, double)).toEqual([]);
  const failing = mapAtOnce(items, 2, async (item) => {
    if (item === 3) throw new Error('EMFILE');
    return item;
  });
  await expect(failing).rejects.toThrow('EMFILE');
});
