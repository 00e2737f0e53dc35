import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from './clock.ts';
import { createIds } from './ids.ts';
import { baseLimits } from './limits.ts';

const start = Date.UTC(2026, 0, 1);

describe('the form of an id', () => {
  it('[D2] an id is its prefix, 01, ten characters of time and twelve of chance', () => {
    const ids = createIds({ now: () => start, random: () => 0.5 });
    expect(ids.next('sevt')).toBe('sevt_0101kdvdna00g00000g00000');
    expect(createIds({ now: () => 0, random: () => 0 }).next('memstore')).toBe('memstore_010000000000000000000000');
  });

  it('[D2] the latest time fits, the next one is refused, and so is a value that is not a time', () => {
    const at = (ms: number) => createIds({ now: () => ms, random: () => 0 }).next('req');
    expect(at(baseLimits.idTimeMsMax)).toBe('req_01zzzzzzzzzz000000000000');
    expect(() => at(baseLimits.idTimeMsMax + 1)).toThrow('pass Date.now');
    expect(() => at(-1)).toThrow('pass Date.now');
    expect(() => at(Number.NaN)).toThrow('pass Date.now');
  });

  it('[D2] a random value outside 0 to 1 is refused', () => {
    const drawing = (value: number) => createIds({ now: () => 0, random: () => value }).next('req');
    expect(drawing(1 - Number.EPSILON / 2)).toBe('req_010000000000zzzzzzzzzzzz');
    for (const value of [1, -0.1, Number.NaN]) expect(() => drawing(value)).toThrow('pass Math.random');
  });
});

describe('the order of ids', () => {
  it('[D3] ids of one millisecond count up, over the end of either half too', () => {
    const almost = 1 - 2 ** -30;
    const drawn = [0.25, almost, 0, almost, almost, almost, 0.75, 0.75];
    const clock = createManualClock(start);
    const ids = createIds({ now: clock.now, random: () => drawn.shift() ?? 0 });
    const next = () => ids.next('sevt').slice('sevt_01'.length);
    expect([next(), next()]).toEqual(['01kdvdna00800000zzzzzz', '01kdvdna00800001000000']);
    clock.advance(1);
    expect([next(), next()]).toEqual(['01kdvdna01000000zzzzzz', '01kdvdna01000001000000']);
    clock.advance(1);
    // Full: the time goes ahead of the clock rather than an id behind the one before.
    expect([next(), next()]).toEqual(['01kdvdna02zzzzzzzzzzzz', '01kdvdna03r00000r00000']);
  });

  it('[D3] whatever the clock does and whatever the prefixes are, a later id sorts after an earlier one', () => {
    const prefixes = ['sevt', 'sesn', 'agent'] as const;
    const steps = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.constantFrom(...prefixes)), {
      minLength: 2,
      maxLength: 200,
    });
    fc.assert(
      fc.property(
        steps,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (all, chance) => {
          const clock = createManualClock(start);
          const ids = createIds({ now: clock.now, random: () => Number(chance.next().value) });
          const made = all.map(([ms, prefix]) => {
            clock.setNow(clock.now() + ms);
            return ids.next(prefix).slice(prefix.length);
          });
          expect(made).toEqual([...new Set(made)].sort());
        },
      ),
    );
  });

  it('[D4] the same clock and the same chance give the same ids; another chance gives others', () => {
    const make = (random: () => number) => createIds({ now: () => start, random }).next('sthr');
    expect(make(() => 0.1)).toBe(make(() => 0.1));
    expect(make(() => 0.1)).not.toBe(make(() => 0.2));
  });
});
