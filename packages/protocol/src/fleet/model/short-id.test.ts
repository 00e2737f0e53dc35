import { expect, it } from 'vitest';
import { limits } from './limits.ts';
import { isSessionId, toIdPrefix, toShortId } from './short-id.ts';

const id = 'sesn_0101kdvdna00w8v1yk3x2q7d';

it('[V182] a short id is the beginning of the id without its constant part, and is accepted as a prefix', () => {
  expect(toShortId(id)).toBe('01kdvdna00w8');
  expect(toShortId(id)).toHaveLength(limits.shortIdChars);
  expect(id.startsWith(toIdPrefix(toShortId(id))!)).toBe(true);
  expect(isSessionId(id)).toBe(true);
  expect(isSessionId(toShortId(id))).toBe(false);
  expect(isSessionId(id.slice(0, -1))).toBe(false);
});

it('[V182] the beginning of an id is accepted with and without its constant part, in any case', () => {
  expect(toIdPrefix('01KDV')).toBe('sesn_0101kdv');
  expect(toIdPrefix(' sesn_0101kdv')).toBe('sesn_0101kdv');
  expect(toIdPrefix(id)).toBe(id);
  expect(toIdPrefix('sesn_01')).toBeUndefined();
  expect(toIdPrefix('')).toBeUndefined();
  expect(toIdPrefix('fix the')).toBeUndefined();
  expect(toIdPrefix('x'.repeat(limits.idChars))).toBe(`sesn_01${'x'.repeat(limits.idChars)}`);
  expect(toIdPrefix('x'.repeat(limits.idChars + 1))).toBeUndefined();
});
