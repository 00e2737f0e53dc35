import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { httpLimits } from '../limits.ts';
import { findReplaced } from './find-replaced.ts';
import { createLoginCodes } from './login-codes.ts';
import { createLogins, type Login } from './logins.ts';

function open() {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const store = createMemoryStore({ clock });
  const logins = createLogins(store, clock, { hasIssuer: () => true });
  const begin = async (fields: Partial<Login>) => {
    clock.advance(1);
    return await logins.begin({ workspaceId: 'w', expiresAt: clock.now() + 1_000_000, ...fields });
  };
  const has = async (login: { readonly id: string } | undefined) => (await logins.find(login?.id)) !== undefined;
  return { clock, store, logins, begin, has };
}

it('[ID61] a login ends with each of those that it was made with, also if it is made while they end', async () => {
  const { logins, begin, has } = open();
  const first = await begin({ keyId: 'k' });
  const second = await begin({ keyId: 'k', madeWith: [first!.id] });
  const third = await begin({ keyId: 'k', madeWith: [first!.id, second!.id] });
  const other = await begin({ keyId: 'k' });
  await logins.end(second!.id);
  expect(await Promise.all([first, second, third, other].map(has))).toEqual([true, false, false, true]);
  expect(await begin({ keyId: 'k', madeWith: [first!.id, second!.id] })).toBeUndefined();
  const [late] = await Promise.all([begin({ keyId: 'k', madeWith: [first!.id] }), logins.end(first!.id)]);
  expect(await has(late)).toBe(false);
  expect((await logins.list('w')).map(({ id }) => id)).toEqual([other!.id]);
});

it('[ID61] a login lasts no longer than those that it was made with', async () => {
  const { clock, begin, has } = open();
  const first = await begin({ keyId: 'k', expiresAt: clock.now() + 5_000 });
  const second = await begin({ keyId: 'k', madeWith: [first!.id] });
  expect(second!.expiresAt).toBe(first!.expiresAt);
  clock.setNow(first!.expiresAt);
  expect(await has(second)).toBe(false);
});

it('[ID62] a person, or a login with what was made with it, replaces its own oldest login and none of others', async () => {
  const { begin, has } = open();
  const person = { issuer: 'https://id.example', subject: 'ann' };
  const key = await begin({ keyId: 'k' });
  for (const maker of [
    { person, keyId: 'p' },
    { keyId: 'k', madeWith: [key!.id] },
  ]) {
    const made: Awaited<ReturnType<typeof begin>>[] = [];
    for (let count = 0; count <= httpLimits.loginsOfPersonMax; count++) made.push(await begin(maker));
    expect(await Promise.all([made[0], made[1], made.at(-1), key].map(has))).toEqual([false, true, true, true]);
  }
  expect(httpLimits.loginsOfPersonMax).toBe(100);
});

it('[ID62] a full workspace makes room with the own oldest; a maker without any takes that of the one with the most', () => {
  const all = ['a', 'b', 'b', 'c', 'b'].map((maker, index) => ({ id: `${maker}${index}`, maker }));
  const limits = { max: 5, ofMakerMax: 5 };
  expect(findReplaced(all, 'a', limits)).toEqual(['a0']);
  expect(findReplaced(all, 'c', limits)).toEqual(['c3']);
  expect(findReplaced(all, 'd', limits)).toEqual(['b1']);
  expect(findReplaced(all, 'd', { ...limits, max: 6 })).toEqual([]);
  expect(findReplaced(all, 'b', { max: 9, ofMakerMax: 3 })).toEqual(['b1']);
  expect(findReplaced(all, 'b', { max: 3, ofMakerMax: 3 })).toEqual(['b1', 'b2', 'b4']);
  expect(findReplaced(all, 'd', { max: 2, ofMakerMax: 2 })).toEqual(['b1', 'b2', 'a0', 'c3']);
  expect(findReplaced([], 'a', limits)).toEqual([]);
});

it('[ID62] expired logins of a person take no room', async () => {
  const { clock, begin, has } = open();
  const person = { issuer: 'https://id.example', subject: 'ann' };
  for (let count = 1; count < httpLimits.loginsOfPersonMax; count++) {
    await begin({ person, keyId: 'p', expiresAt: clock.now() + 1_000 });
  }
  const last = await begin({ person, keyId: 'p' });
  clock.advance(1_000);
  await begin({ person, keyId: 'p' });
  expect(await has(last)).toBe(true);
});

it('[ID62] login links of a login, on every node, are limited to 50, and one login uses up none of others', async () => {
  const { clock, store } = open();
  const nodes = [createLoginCodes(store), createLoginCodes(store)];
  const key = { keyId: 'k', workspaceId: 'w' };
  const login = { ...key, madeWith: ['l'] };
  const own = await nodes[0]!.make(key);
  const made: string[] = [];
  for (let count = 0; count <= httpLimits.loginCodesOfPersonMax; count++)
    made.push(await nodes[count % 2]!.make(login));
  expect(await nodes[0]!.take(made[0]!)).toBeUndefined();
  expect(await nodes[0]!.take(made[1]!)).toEqual(login);
  expect(await nodes[1]!.take(own)).toEqual(key);
  // Made at the same moment, none is lost.
  const together = await Promise.all(Array.from({ length: 10 }, (_, index) => nodes[index % 2]!.make(key)));
  const taken = await Promise.all(together.map((code) => nodes[0]!.take(code)));
  expect(taken).toEqual(together.map(() => key));
  // What is expired is removed with the next one.
  clock.advance(httpLimits.loginCodeMs);
  await nodes[0]!.make(key);
  expect((await store.documents.list({ kind: 'login_code', limit: 100 })).items).toHaveLength(1);
  expect(httpLimits.loginCodesOfPersonMax).toBe(50);
});
