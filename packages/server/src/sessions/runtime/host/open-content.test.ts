import { expect, it } from 'vitest';
import { sessionLimits } from '../../core/limits.ts';
import { type HeldContent, OpenContent } from './open-content.ts';

const { smallSessionBytes: small, unmeasuredBytes: tiny } = sessionLimits;
const large = small + 1;

/** Admits sessions, and says which of them are open. */
function openWith(bytesMax: number) {
  const content = new OpenContent(bytesMax);
  const open = new Map<string, HeldContent | undefined>();
  const admit = (name: string, bytes: number) => void content.admit(bytes).then((held) => open.set(name, held));
  const names = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return [...open.keys()];
  };
  return { content, open, admit, names };
}

it('[X40] sessions that do not fit wait in their order until others are released or shrink', async () => {
  const { content, open, admit, names } = openWith((2 * large) / sessionLimits.largeSessionsShare);
  for (const name of ['a', 'b', 'c', 'd']) admit(name, large);
  expect(await names()).toEqual(['a', 'b']);
  expect(content.isAwaited).toBe(true);
  open.get('a')!.release();
  open.get('a')!.release();
  expect(await names()).toEqual(['a', 'b', 'c']);
  open.get('b')!.resize(2 * large);
  open.get('c')!.release();
  expect(await names()).toEqual(['a', 'b', 'c']);
  open.get('b')!.resize(large);
  expect(await names()).toEqual(['a', 'b', 'c', 'd']);
  expect(content.isAwaited).toBe(false);
});

it('[X40] a session that is larger than the limit is opened when no other large one is open', async () => {
  const { open, admit, names } = openWith(large);
  admit('first', large);
  admit('huge', 100 * large);
  admit('last', large);
  expect(await names()).toEqual(['first']);
  open.get('first')!.release();
  expect(await names()).toEqual(['first', 'huge']);
  open.get('huge')!.release();
  expect(await names()).toEqual(['first', 'huge', 'last']);
});

it('[X40] a session of up to 1 MiB does not wait for larger ones, and one of up to 16 KiB for no other', async () => {
  const { admit, names } = openWith((2 * small) / (1 - sessionLimits.largeSessionsShare));
  for (const name of ['large', 'larger']) admit(name, 100 * large);
  for (const name of ['small', 'smaller', 'waits']) admit(name, small);
  for (const name of ['tiny', 'tinier']) admit(name, tiny);
  expect(await names()).toEqual(['tiny', 'tinier', 'large', 'small', 'smaller']);
  expect([tiny, small]).toEqual([16_384, 1_048_576]);
  expect([sessionLimits.openHeapShare, sessionLimits.openHeapFactor]).toEqual([1 / 2, 4]);
});

it('[X40] closing ends all waits, and no session is opened afterwards', async () => {
  const { content, open, admit, names } = openWith(large);
  admit('a', large);
  admit('b', large);
  content.close();
  admit('c', large);
  expect((await names()).toSorted()).toEqual(['a', 'b', 'c']);
  expect([open.get('b'), open.get('c')]).toEqual([undefined, undefined]);
});
