import { expect, it } from 'vitest';
import { limits } from './limits.ts';
import { toSessionName } from './session-name.ts';

const named = (firstMessage: string | null, title: string | null = null) => toSessionName({ title, firstMessage });

it('[V181] a session is named by its title, else by the first words of its first message, and never by an id', () => {
  expect(named('Fix the queue', 'Queue')).toBe('Queue');
  expect(named('Fix the queue', ' \n ')).toBe('Fix the queue');
  expect(named(' Fix the\n\n queue ')).toBe('Fix the queue');
  expect(named(null)).toBe('New session');
  expect(named('')).toBe('New session');
});

it('[V181] a name has at most 80 characters, and is cut between words', () => {
  const { sessionNameCharsMax: max } = limits;
  expect(named('x'.repeat(max))).toBe('x'.repeat(max));
  expect(named('x'.repeat(max + 1))).toBe(`${'x'.repeat(max - 1)}…`);
  expect(named('word '.repeat(100))).toBe(`${'word '.repeat(14)}word…`);
  expect(named(`${'x'.repeat(max - 2)}😀😀`)).toBe(`${'x'.repeat(max - 2)}…`);
  expect(named('y'.repeat(30_000_000)).length).toBe(max);
});
