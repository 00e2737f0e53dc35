import { expect, it } from 'vitest';
import { readBare, readSession } from './claude-code-readers.ts';

it.each([
  ['the bare reader', readBare],
  ['a session', readSession],
])(
  '[J170] every line that is printed arrives once at %s, after it was printed',
  async (_, read) => {
    const arrivals = await read({ lines: 50, chars: 100, everyMs: 1 });
    expect(arrivals).toHaveLength(50);
    expect(arrivals.every(({ printedAt, hereAt }) => hereAt > printedAt - 1)).toBe(true);
    const order = arrivals.map(({ printedAt }) => printedAt);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  },
  60_000,
);
