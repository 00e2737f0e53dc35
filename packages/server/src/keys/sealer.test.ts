import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSealer, keyIdOf, toKeyId } from './sealer.ts';

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

it('[VT2, VT6] an older key opens and does not seal, and a secret is wrapped again without being sealed again', () => {
  const [before, now] = [randomBytes(32), randomBytes(32)];
  const sealed = createSealer(before).seal('canary', names);
  const both = createSealer(now, [before]);
  expect(both.open(sealed, names)).toBe('canary');
  expect(both.keyIds.toSorted()).toEqual([toKeyId(before), toKeyId(now)].toSorted());
  expect(keyIdOf(both.seal('x', names))).toBe(toKeyId(now));
  const rewrapped = both.rewrap(sealed, names)!;
  expect([keyIdOf(rewrapped), both.rewrap(rewrapped, names)]).toEqual([toKeyId(now), undefined]);
  // What is sealed with the data key stays: only the data key is wrapped again.
  expect(rewrapped.split('.')[3]).toBe(sealed.split('.')[3]);
  expect(createSealer(now).open(rewrapped, names)).toBe('canary');
  expect(() => createSealer(before).open(rewrapped, names)).toThrow('a stored secret cannot be opened');
  expect(() => both.rewrap(sealed, ['sesn_2', 'sesrsc_1'])).toThrow('a stored secret cannot be opened');
});

it('[VT5] without a master key nothing is sealed, and what needs one is a mistake of the request', () => {
  const sealer = createSealer(undefined, [randomBytes(32)]);
  expect(sealer.keyId).toBeUndefined();
  expect(() => sealer.seal('canary', names)).toThrow('no master key is configured');
});
