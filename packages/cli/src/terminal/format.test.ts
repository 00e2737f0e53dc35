import { describe, expect, it } from 'vitest';
import { formatAge, formatCost, formatCount, formatDuration, formatPlural, formatRunning } from './format.ts';

describe('format', () => {
  it('[C7] times have two figures that matter', () => {
    const told = [0, 84.4, 999, 1000, 1449, 9949, 9950, 59_400, 60_000, 192_000, 3_599_499, 3_840_000].map(
      formatDuration,
    );
    expect(told).toEqual([
      '0ms',
      '84ms',
      '999ms',
      '1.0s',
      '1.4s',
      '9.9s',
      '10s',
      '59s',
      '1m 00s',
      '3m 12s',
      '59m 59s',
      '1h 04m',
    ]);
  });

  it('[C7] a running time changes at most ten times a second', () => {
    expect([-5, 0, 49, 120, 9_900, 12_345].map(formatRunning)).toEqual(['0.0s', '0.0s', '0.0s', '0.1s', '9.9s', '12s']);
  });

  it('[Y32] ages take at most four columns', () => {
    const ages = [-1, 999, 1_000, 99_999, 100_000, 5_999_999, 6_000_000, 172_799_999, 172_800_000, 8e10].map(formatAge);
    expect(ages).toEqual(['0s', '0s', '1s', '99s', '1m', '99m', '1h', '47h', '2d', '925d']);
  });

  it('[C7] money and counts', () => {
    expect([0, 0.0042, 0.09, 0.168964, 12.4].map(formatCost)).toEqual([
      '$0.00',
      '$0.0042',
      '$0.0900',
      '$0.17',
      '$12.40',
    ]);
    expect([0, 999, 1000, 2899, 9950, 38_617, 999_500].map(formatCount)).toEqual([
      '0',
      '999',
      '1.0k',
      '2.9k',
      '10k',
      '39k',
      '1.0M',
    ]);
    expect([formatPlural(1, 'call'), formatPlural(0, 'call')]).toEqual(['1 call', '0 calls']);
  });
});
