import { assert, jsonValue, property } from 'fast-check';
import { expect, it } from 'vitest';
import { findExcessBytes, jsonBytesAtLeast, jsonBytesAtMost } from './json-bytes.ts';

it('[R222] a value accepted as small enough without serialising it is never larger than the limit', () => {
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

it('[R222] a value accepted as small enough is not ten times smaller than necessary', () => {
  expect(jsonBytesAtMost({ text: 'x'.repeat(1_000) })).toBeLessThan(6_100);
});

it('[A60] a value refused as too large without serialising it is never smaller than the limit', () => {
  assert(property(jsonValue({ stringUnit: 'binary' }), (value) => jsonBytesAtLeast(value) <= bytesOf(value)));
  expect(jsonBytesAtLeast({ left: undefined, a: [true, 1] })).toBeLessThanOrEqual(bytesOf({ a: [true, 1] }));
  const value = { text: '\u0001€x' };
  expect(findExcessBytes(value, bytesOf(value))).toBeUndefined();
  expect(findExcessBytes(value, bytesOf(value) - 1)).toBe(bytesOf(value));
});

it('[H140] bytes are counted as they are written, also of long texts, and no further than the limit', () => {
  for (const unit of ['a', '\n', '\u0001', 'é', '€', '😀', '\ud83d', 'x😀']) {
    for (const length of [65_535, 65_536, 65_537, 200_000]) {
      const value = { [`${unit}"`]: [unit.repeat(length), null, -0, { left: undefined }], n: 1.5e300 };
      const bytes = bytesOf(value);
      expect(findExcessBytes(value, bytes)).toBeUndefined();
      expect(findExcessBytes(value, bytes - 1)).toBe(bytes);
    }
  }
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      const bytes = bytesOf(value);
      return findExcessBytes(value, bytes) === undefined && (findExcessBytes(value, bytes - 1) ?? 0) >= bytes;
    }),
  );
});

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
