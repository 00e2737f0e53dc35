import { expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { createTrustedProxies } from './client-origin.ts';

function addressOf(proxies: readonly string[], remoteAddress: string, forwarded?: string) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return createTrustedProxies(proxies).originOf({ headers, socket: { remoteAddress } }).address;
}

it('[ID68] the address of a client is the last forwarded one that is not a trusted proxy, and forwarded only by those', () => {
  const proxies = ['10.0.0.7', '192.168.0.0/16', 'fd00::/8'];
  expect(addressOf([], '10.0.0.7', '1.2.3.4')).toBe('10.0.0.7');
  expect(addressOf(proxies, '10.0.0.8', '1.2.3.4')).toBe('10.0.0.8');
  expect(addressOf(proxies, '10.0.0.7')).toBe('10.0.0.7');
  expect(addressOf(proxies, '::ffff:10.0.0.7', '1.2.3.4')).toBe('1.2.3.4');
  expect(addressOf(proxies, 'fd00::1', '2001:db8::1')).toBe('2001:db8::1');
  // What a client has sent itself is to the left.
  expect(addressOf(proxies, '10.0.0.7', '9.9.9.9, 1.2.3.4')).toBe('1.2.3.4');
  expect(addressOf(proxies, '10.0.0.7', '9.9.9.9, 1.2.3.4, 192.168.3.4')).toBe('1.2.3.4');
  expect(addressOf(proxies, '10.0.0.7', '10.0.0.7,192.168.3.4')).toBe('10.0.0.7');
  expect(addressOf(proxies, '10.0.0.7', '9.9.9.9, x, 192.168.3.4')).toBe('192.168.3.4');
  expect(addressOf(proxies, '10.0.0.7', 'evil')).toBe('10.0.0.7');
  const long = ['1.2.3.4', ...Array.from({ length: httpLimits.forwardedHopsMax }, () => '10.0.0.7')].join();
  expect(addressOf(proxies, '10.0.0.7', long)).toBe('10.0.0.7');
  expect(addressOf(proxies, '10.0.0.7', long.replace(',10.0.0.7', ''))).toBe('1.2.3.4');
});

it('[ID68] https is forwarded by trusted proxies only, where there are any', () => {
  const isSecure = (proxies: readonly string[], remoteAddress: string, encrypted = false) =>
    createTrustedProxies(proxies).originOf({
      headers: { 'x-forwarded-proto': 'https' },
      socket: { remoteAddress, encrypted },
    }).isSecure;
  expect(isSecure([], '1.2.3.4')).toBe(true);
  expect(isSecure(['10.0.0.7'], '1.2.3.4')).toBe(false);
  expect(isSecure(['10.0.0.7'], '10.0.0.7')).toBe(true);
  expect(isSecure(['10.0.0.7'], '1.2.3.4', true)).toBe(true);
});

it('[ID68] a proxy that is neither an address nor a network is an error of the start', () => {
  for (const wrong of ['', 'proxy', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', 'fd00::/129', '10.0.0']) {
    expect(() => createTrustedProxies([wrong])).toThrow('is not the address of a proxy');
  }
});
