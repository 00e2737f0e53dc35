import { expect, it } from 'vitest';
import { formatRunning } from './format-running.ts';

it('[C7] a running time changes at most ten times a second', () => {
  expect([-5, 0, 49, 120, 9_900, 12_345].map(formatRunning)).toEqual([
    '0.0 s',
    '0.0 s',
    '0.0 s',
    '0.1 s',
    '9.9 s',
    '12 s',
  ]);
});
