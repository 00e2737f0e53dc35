import { assert, jsonValue, property } from 'fast-check';
import { expect, it } from 'vitest';
import { findExcessBytes, jsonBytesAtLeast, jsonBytesAtMost } from './json-bytes.ts';

it('[R222] what is taken for small enough without being written is never larger than that', () => {
  const worst = [
    -Number.MIN_VALUE,
    -1 / 3e200,
    '\u0001',
    '\ud800',
    '€',
    '😀',
    { '\u0001': false },
    [],
    {},
    null,
    [[null]],
  ];
  for (const value of worst) expect(jsonBytesAtMost(value)).toBeGreaterThanOrEqual(bytesOf(value));
  assert(property(jsonValue({ stringUnit: 'binary' }), (value) => jsonBytesAtMost(value) >= bytesOf(value)));
});

it('[R222] what is taken for small enough is not ten times smaller than it might be', () => {
  expect(jsonBytesAtMost({ text: 'x'.repeat(1_000) })).toBeLessThan(6_100);
});

it('[A60] what is taken for too large without being written is never smaller than that', () => {
  assert(property(jsonValue({ stringUnit: 'binary' }), (value) => jsonBytesAtLeast(value) <= bytesOf(value)));
  expect(jsonBytesAtLeast({ left: undefined, a: [true, 1] })).toBeLessThanOrEqual(bytesOf({ a: [true, 1] }));
  const value = { text: '\u0001€x' };
  expect(findExcessBytes(value, bytesOf(value))).toBeUndefined();
  expect(findExcessBytes(value, bytesOf(value) - 1)).toBe(bytesOf(value));
});

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
