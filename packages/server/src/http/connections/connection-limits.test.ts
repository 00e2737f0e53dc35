import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import { createConnectionLimits, toAddressGroup, toConnectionLimits } from './connection-limits.ts';

it('[H90] connections take half of the descriptors that are left at the start, from 8 up to 16,384', () => {
  const maxOf = (descriptors: number) => toConnectionLimits({}, descriptors).max;
  expect([20, 64, 256, 1_024, 20_000].map(maxOf)).toEqual([8, 16, 112, 496, 9_984]);
  expect([2 * 16_384 + 31, 2 * 16_384 + 32, Number.POSITIVE_INFINITY].map(maxOf)).toEqual([16_383, 16_384, 16_384]);
});

it('[H90] an address has half of them, a key half, and an eighth stays for clients without a key, unless configured', () => {
  expect(toConnectionLimits({}, 256)).toEqual({ max: 112, perAddressMax: 56, perKeyMax: 56, keysMax: 98 });
  expect(toConnectionLimits({ max: 3 }, 256)).toEqual({ max: 3, perAddressMax: 2, perKeyMax: 1, keysMax: 2 });
  expect(toConnectionLimits({ perAddressMax: 112 }, 256).perAddressMax).toBe(112);
});

it.skipIf(process.platform !== 'linux')('[H90] the descriptor limit of the process is read again at each call', () => {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  expect(createConnectionLimits({})()).toEqual(toConnectionLimits({}, descriptors));
  expect(baseLimits.descriptorsElsewhere).toBe(4_096);
});

it('[H92] loopback has no address group, and an IPv6 /64 network is one group', () => {
  for (const address of [undefined, '127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    expect(toAddressGroup(address)).toBeUndefined();
  }
  expect(toAddressGroup('192.0.2.1')).toBe('192.0.2.1');
  expect(toAddressGroup('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(toAddressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
  expect(toAddressGroup('2001:db8::1')).toBe('2001:db8:0:0');
  expect(toAddressGroup('2001:db8::1')).toBe(toAddressGroup('2001:db8::ffff:2'));
  expect(toAddressGroup('fe80::1%eth0')).toBe('fe80:0:0:0');
});
