import { describe, expect, it } from 'vitest';
import { atMost, comparePair, median, timesFaster } from './harness.ts';

describe('bench harness', () => {
  it('[B9] runs both ways in every round, in changing order, after a warm-up', async () => {
    const order: string[] = [];
    const pair = { floor: () => void order.push('floor'), ours: () => void order.push('ours') };
    await comparePair(pair, { rounds: 4 });
    expect(order.slice(10)).toEqual(['floor', 'ours', 'ours', 'floor', 'floor', 'ours', 'ours', 'floor']);
    expect(order.slice(0, 10).filter((name) => name === 'ours')).toHaveLength(5);
  });

  it('[B9] stops after three rounds when the time is up', async () => {
    let count = 0;
    await comparePair({ floor: () => {}, ours: () => void count++ }, { rounds: 1_000, budgetMs: 0 });
    expect(count).toBe(5 + 3);
  });

  it('[B9] takes the median', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('[B10] states the direction of a goal, and whether it is met', () => {
    const times = { floorMs: 100, oursMs: 20, ratio: 0.2 };
    expect(timesFaster(5, times)).toMatchObject({ ratio: 5, goal: '>= 5x faster', ok: true });
    expect(timesFaster(6, times)).toMatchObject({ ok: false });
    expect(timesFaster(undefined, times)).toMatchObject({ ok: true });
    expect(atMost(1.3, { floorMs: 100, oursMs: 130, ratio: 1.3 })).toMatchObject({ goal: '<= 1.3x', ok: true });
    expect(atMost(1.3, { floorMs: 100, oursMs: 131, ratio: 1.31 })).toMatchObject({ ok: false });
  });
});
