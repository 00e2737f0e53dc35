import { expect, it } from 'vitest';
import { FairTurns } from './fair-turns.ts';

/** Work that ends on demand, and the order in which it began. */
function openWork(atOnceMax: number, ofOwnerMax?: number) {
  const turns = new FairTurns(atOnceMax, ofOwnerMax);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (owner: string, name: string, signal = new AbortController().signal) =>
    turns.run(owner, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const end = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, begun, run, end };
}

it('[V171] owners take turns, however much work each of them has, and only so much runs at the same time', async () => {
  const { turns, begun, run, end } = openWork(2);
  const many = Array.from({ length: 100 }, (_, at) => run('a', `a${at}`));
  await end();
  const [one, other] = [run('b', 'b0'), run('c', 'c0')];
  expect(begun).toEqual(['a0', 'a1', 'a2']);
  for (let at = 0; at < 4; at++) await end();
  expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'c0', 'a4']);
  expect(turns.waitingCount).toBe(95);
  for (let at = 0; at < 97; at++) await end();
  expect(await Promise.all([...many, one, other])).toHaveLength(102);
  expect(turns.waitingCount).toBe(0);
});

it('[U604] an owner with more work than its share leaves room for the others', async () => {
  const { begun, run, end } = openWork(3, 2);
  const all = ['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'c0'].map((name) => run(name[0]!, name));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['a0', 'a1', 'b0']);
  await end();
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
  for (let at = 0; at < 6; at++) await end();
  expect(begun.toSorted()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'c0']);
  expect(await Promise.all(all)).toHaveLength(7);
});

it('[V171] work whose signal comes while it waits is dropped, and failed work makes room', async () => {
  const { turns, begun, run, end } = openWork(1);
  const gone = new AbortController();
  const first = run('a', 'first');
  const dropped = run('a', 'dropped', gone.signal);
  gone.abort();
  expect(await dropped).toBeUndefined();
  expect(turns.waitingCount).toBe(0);
  const last = run('b', 'last');
  await end();
  await end();
  expect([await first, await last]).toEqual([{ result: 'first' }, { result: 'last' }]);
  expect(begun).toEqual(['first', 'last']);
  const { signal } = new AbortController();
  await expect(turns.run('a', signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.run('a', signal, async () => 1)).toEqual({ result: 1 });
  expect(await run('a', 'late', gone.signal)).toBeUndefined();
});
