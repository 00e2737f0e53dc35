import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { LineOrder } from './line-order.ts';

it('[J280] lines behind one that waits for a transcript wait too, and all are taken in their order', async () => {
  const taken: string[] = [];
  let recover: (text: string) => void = () => {};
  const recovering = () => new Promise<string>((resolve) => (recover = resolve)).then((text) => void taken.push(text));
  const lines = new LineOrder({
    before: ({ type }) => (type === 'slow' ? recovering() : undefined),
    take: ({ type }) => void taken.push(type),
    onFailure: (error) => void taken.push(String(error)),
    onHold: () => void taken.push('(hold)'),
    onRelease: () => void taken.push('(release)'),
  });
  for (const type of ['a', 'slow', 'b', 'slow', 'c']) lines.push(line(type));
  lines.end(
    () => Promise.resolve().then(() => void taken.push('the rest')),
    () => void taken.push('end'),
  );
  expect([taken, lines.isHeld]).toEqual([['a', '(hold)'], true]);
  recover('first');
  await settle();
  expect(taken.slice(2)).toEqual(['first', 'slow', 'b', '(hold)']);
  recover('second');
  await settle();
  expect(taken.slice(6)).toEqual(['second', 'slow', 'c', '(hold)', 'the rest', 'end', '(release)']);
  expect(lines.isHeld).toBe(false);
});

it('[J501] records that are recovered between two lines come behind lines that wait and before those that follow', async () => {
  const taken: string[] = [];
  const lines = new LineOrder({
    before: ({ type }) => (type === 'slow' ? Promise.resolve() : undefined),
    take: ({ type }) => void taken.push(type),
    onFailure: (error) => void taken.push(String(error)),
    onHold: () => {},
    onRelease: () => {},
  });
  lines.push(line('slow'));
  lines.recover(() => Promise.resolve().then(() => void taken.push('recovered')));
  lines.push(line('b'));
  await settle();
  lines.recover(() => undefined);
  expect([taken, lines.isHeld]).toEqual([['slow', 'recovered', 'b'], false]);
});

it('[J280] a failure before a line is reported, and the line is taken afterwards', async () => {
  const taken: string[] = [];
  const lines = new LineOrder({
    before: () => Promise.reject(new Error('no')),
    take: ({ type }) => void taken.push(type),
    onFailure: (error) => void taken.push(String(error)),
    onHold: () => {},
    onRelease: () => {},
  });
  lines.push(line('a'));
  await settle();
  expect(taken).toEqual(['Error: no', 'a']);
});

function line(type: string): StreamJsonMessage {
  return { type };
}

function settle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
