import { expect, it } from 'vitest';
import type { Schedule } from '../../base/schedule.ts';
import type { Credential } from '../../keys/credential.ts';
import { httpLimits } from '../limits.ts';
import { orKnown } from './known-access.ts';

const CREDENTIAL: Credential = { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' };
const findKnown = (secret: string) => (secret === 'known' ? CREDENTIAL : undefined);

it('[P122] keys count as known last if they cannot be looked up within 500 ms, and otherwise as they are now', async () => {
  const waits: number[] = [];
  const never: Schedule = (_, ms) => {
    waits.push(ms);
    return () => {};
  };
  const atOnce: Schedule = (run) => {
    queueMicrotask(run);
    return () => {};
  };
  const find = (look: () => Promise<Credential | undefined>, secret: string, schedule = never) => {
    const access = orKnown({ find: look, findKnown }, schedule);
    return access === 'open' ? undefined : access.find(secret);
  };
  // A key that was revoked in the meantime.
  expect(await find(async () => undefined, 'known')).toBeUndefined();
  expect(waits).toEqual([httpLimits.knownKeysWaitMs]);
  const hangs = () => new Promise<undefined>(() => {});
  expect(await find(hangs, 'known', atOnce)).toBe(CREDENTIAL);
  expect(await find(hangs, 'unknown', atOnce)).toBeUndefined();
  const fails = () => Promise.reject(new Error('the database is away'));
  expect(await find(fails, 'known')).toBe(CREDENTIAL);
  await expect(find(fails, 'unknown')).rejects.toThrow('away');
  expect(orKnown('open', never)).toBe('open');
});
