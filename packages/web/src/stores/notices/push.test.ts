import type { PushDevice } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { describeBrowser, explainPush } from './push.ts';

it('[Z460] a device is named after its browser and system', () => {
  const named = [
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
    'unknown',
  ].map(describeBrowser);
  expect(named).toEqual([
    'Chrome on Android',
    'Safari on iPhone',
    'Edge on Windows',
    'Firefox on Linux',
    'Safari on macOS',
    'Browser',
  ]);
});

it('[Z464] each state of the permission says what to do', () => {
  expect(explainPush('insecure', undefined)).toMatch(/^Push messages need .* https/);
  expect(explainPush('unsupported', undefined)).toMatch(/Home Screen/);
  expect(explainPush('blocked', undefined)).toMatch(/site settings/);
  expect(explainPush('ready', undefined)).toBe('The browser asks for your permission.');
  const own = { problem: 'the push service answered 403' } as PushDevice;
  expect(explainPush('ready', own)).toBe('The last message was not delivered: the push service answered 403.');
});
