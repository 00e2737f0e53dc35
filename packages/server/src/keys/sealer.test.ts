import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSealer } from './sealer.ts';

const names = ['sesn_1', 'sesrsc_1'];

it('[WS188] a sealed secret opens with the same key and names, and shows nothing of the text', () => {
  const sealer = createSealer(randomBytes(32));
  const sealed = sealer.seal('ghp_canary', names);
  expect(sealer.open(sealed, names)).toBe('ghp_canary');
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('canary');
  expect(sealer.seal('ghp_canary', names)).not.toBe(sealed);
});

it.each([
  ['another key', (sealed: string) => createSealer(randomBytes(32)).open(sealed, names)],
  [
    'another session',
    (sealed: string, own: ReturnType<typeof createSealer>) => own.open(sealed, ['sesn_2', 'sesrsc_1']),
  ],
  [
    'names that only join to the same text',
    (sealed: string, own: ReturnType<typeof createSealer>) => own.open(sealed, ['sesn_1sesrsc_1']),
  ],
  [
    'changed bytes',
    (sealed: string, own: ReturnType<typeof createSealer>) => own.open(`${sealed.slice(0, -6)}AAAAAA`, names),
  ],
  ['text that is not sealed', (_: string, own: ReturnType<typeof createSealer>) => own.open('ghp_canary', names)],
])('[WS188] a sealed secret does not open with %s', (_, open) => {
  const sealer = createSealer(randomBytes(32));
  const sealed = sealer.seal('ghp_canary', names);
  expect(() => open(sealed, sealer)).toThrow('a stored secret cannot be opened');
});
