import { expect, it } from 'vitest';
import {
  formatAge,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatElapsed,
  formatSpan,
  plural,
} from './format.ts';

it('[F85] a running time has two units at most, in whole steps', () => {
  expect([-5, 0, 59_999, 60_000, 3_599_000, 3_600_000, 172_799_999, 172_800_000].map(formatElapsed)).toEqual([
    '0 s',
    '0 s',
    '59 s',
    '1 min 00 s',
    '59 min 59 s',
    '1 h 00',
    '47 h 59',
    '2 d 0 h',
  ]);
});

it('[F85] a measured time has milliseconds below 1 s and tenths below 10 s', () => {
  expect([-1, 0, 84.4, 999, 1_000, 1_449, 9_949, 9_950, 59_400, 59_600, 192_000].map(formatSpan)).toEqual([
    '0 ms',
    '0 ms',
    '84 ms',
    '999 ms',
    '1.0 s',
    '1.4 s',
    '9.9 s',
    '10 s',
    '59 s',
    '1 min 00 s',
    '3 min 12 s',
  ]);
});

it('[F85] an age has one unit and at most four columns, a time in the past its unit in words', () => {
  expect([-1, 999, 59_999, 60_000, 3_599_999, 3_600_000, 172_799_999, 172_800_000, 8e10].map(formatAge)).toEqual([
    '0s',
    '0s',
    '59s',
    '1m',
    '59m',
    '1h',
    '47h',
    '2d',
    '925d',
  ]);
  expect([0, 59_999, 60_000, 3_599_999, 7_200_000].map(formatAgo)).toEqual([
    '0 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '2 h ago',
  ]);
});

it('[F85] counts have at most four columns, money as many digits as matter', () => {
  expect(
    [0, 999, 1_000, 2_899, 9_949, 9_950, 38_617, 999_499, 999_500, 999_949_999, 999_950_000].map(formatCount),
  ).toEqual(['0', '999', '1.0k', '2.9k', '9.9k', '10k', '39k', '999k', '1.0M', '999.9M', '1.0B']);
  expect([0, 0.0042, 0.00999, 0.01, 0.168964, 12.4, 999.99, 1_250].map(formatCost)).toEqual([
    '$0.00',
    '$0.0042',
    '$0.0100',
    '$0.01',
    '$0.17',
    '$12.40',
    '$999.99',
    '$1,250',
  ]);
  expect([10, 2_048, 3_145_728].map(formatBytes)).toEqual(['10 B', '2.0 KB', '3.0 MB']);
  expect([plural(1, 'thread'), plural(0, 'thread'), plural(1_200, 'thread')]).toEqual([
    '1 thread',
    '0 threads',
    '1,200 threads',
  ]);
});
