import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { logLimits } from './limits.ts';
import { DeltaCoalescer } from './delta-coalescer.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';

function createSample(windowMs: number = logLimits.deltaWindowMs) {
  const clock = createManualClock();
  const { schedule, advance, waiting } = createManualSchedule(clock);
  const made: string[] = [];
  const onDelta = (place: string, text: string) => void made.push(`${place}:${text}`);
  const deltas = new DeltaCoalescer({ onDelta, clock, schedule, windowMs });
  return { deltas, advance, waiting, made };
}

it('[O14] the first delta is passed on at once, and those within the window become one frame at its end', () => {
  const { deltas, advance, made } = createSample(5);
  deltas.push('a', '1');
  expect(made).toEqual(['a:1']);
  deltas.push('a', '2');
  advance(2);
  deltas.push('a', '3');
  advance(2);
  expect(made).toEqual(['a:1']);
  advance(1);
  expect(made).toEqual(['a:1', 'a:23']);
  advance(5);
  deltas.push('a', '4');
  expect(made).toEqual(['a:1', 'a:23', 'a:4']);
});

it('[O14] another place and a flush end the text at once, and nothing is left waiting', () => {
  const { deltas, advance, waiting, made } = createSample(5);
  for (const [place, text] of ['a1', 'a2', 'b3', 'b4'].map((pair) => [pair[0]!, pair[1]!])) deltas.push(place!, text!);
  expect(made).toEqual(['a:1', 'a:2']);
  deltas.flush();
  expect(made).toEqual(['a:1', 'a:2', 'b:34']);
  expect(waiting()).toBe(0);
  deltas.flush();
  advance(100);
  expect(made).toHaveLength(3);
});

it('[O14] text of the largest size does not wait', () => {
  const { deltas, made } = createSample();
  deltas.push('a', '1');
  deltas.push('a', 'x'.repeat(logLimits.deltaCharsMax - 1));
  expect(made).toHaveLength(1);
  deltas.push('a', 'y');
  expect(made[1]).toHaveLength('a:'.length + logLimits.deltaCharsMax);
});

it('[O15] whatever comes whenever, the frames have the same text in the same order', () => {
  const piece = fc.tuple(fc.constantFrom('a', 'b'), fc.string({ maxLength: 3 }), fc.nat(4));
  fc.assert(
    fc.property(fc.array(piece), fc.integer({ min: 0, max: 6 }), (pieces, windowMs) => {
      const { deltas, advance, made } = createSample(windowMs);
      for (const [place, text, ms] of pieces) {
        deltas.push(place, text);
        advance(ms);
      }
      deltas.flush();
      const join = (all: string[][]) =>
        all.reduce<string[]>((runs, [place, text]) => {
          if (text === '') return runs;
          if (runs.at(-1)?.startsWith(`${place}:`)) return [...runs.slice(0, -1), `${runs.at(-1)}${text}`];
          return [...runs, `${place}:${text}`];
        }, []);
      const given = join(pieces.map(([place, text]) => [place, text]));
      expect(join(made.map((each) => [each.slice(0, 1), each.slice(2)]))).toEqual(given);
    }),
  );
});
