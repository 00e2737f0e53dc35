import { expect, it } from 'vitest';
import { bytesOf } from '../store/entries.ts';
import { Feed } from './feed.ts';
import { type Entry, encodeFrame, StoredFrame } from '../store/frame.ts';
import { sampleFrame, show } from '../store/suite/samples.suite.ts';

function entries(first: number, ...texts: string[]): Entry[] {
  return texts.map((text, index) => new StoredFrame('sesn_1', first + index, encodeFrame(sampleFrame(text)).bytes));
}

const all = (feed: Feed, after: number) => {
  const selected = feed.select(after, Infinity, Infinity);
  return selected && show(selected);
};

it('[O8] a feed keeps the newest entries up to its limit, and reports when it does not have the requested ones', () => {
  const size = bytesOf(entries(1, 'a')[0]!);
  const feed = new Feed(0, 3 * size);
  expect(all(feed, 0)).toBeUndefined();
  feed.publish(entries(1, 'a', 'b', 'c'));
  expect([feed.bytes, all(feed, 0), all(feed, 2), all(feed, 3)]).toEqual([
    3 * size,
    ['1 a', '2 b', '3 c'],
    ['3 c'],
    undefined,
  ]);
  feed.publish(entries(4, 'd'));
  // A quarter has to be free again, so one more goes than had to.
  expect([feed.bytes, all(feed, 1), all(feed, 2)]).toEqual([2 * size, undefined, ['3 c', '4 d']]);
  feed.publish(entries(5, 'x'.repeat(4 * size)));
  expect([feed.bytes, all(feed, 4), feed.head]).toEqual([0, undefined, 5]);
});

it('[O2] entries that a feed has already are not repeated, and a hole makes it forget what lies before', () => {
  const feed = new Feed(0);
  feed.publish(entries(1, 'a', 'b'));
  feed.publish(entries(2, 'b', 'c'));
  expect(all(feed, 0)).toEqual(['1 a', '2 b', '3 c']);
  feed.publish(entries(1, 'a'));
  expect([all(feed, 0), feed.head]).toEqual([['1 a', '2 b', '3 c'], 3]);
  feed.publish(entries(6, 'f'));
  expect([all(feed, 0), all(feed, 3), all(feed, 5)]).toEqual([undefined, undefined, ['6 f']]);
});
