import { expect } from 'vitest';
import { type Harm, measureHarm } from './measure-harm.ts';
import { isLong } from './seed.ts';

/** The limit is 50 ms. Beside other tests the same work takes up to twice as long; work that is not sliced takes seconds. */
const STALL_MS_MAX = isLong ? 50 : 120;

/**
 * Runs work and checks that it neither blocks the event loop nor takes much memory. One good run of three is enough: real
 * blocking happens every time, and other processes disturb single runs.
 */
export async function expectHarmless<Result>(
  name: string,
  work: () => Promise<Result>,
  { stallMsMax = STALL_MS_MAX, grownMibMax = 128 } = {},
): Promise<Result> {
  const isFine = ({ stallMs, grownMib }: Harm) => stallMs < stallMsMax && grownMib < grownMibMax;
  let measured = await measureHarm(work);
  for (let tries = 1; tries < 3 && !isFine(measured); tries++) measured = await measureHarm(work);
  const { result, stallMs, grownMib } = measured;
  const judge = (value: number, max: number) => (value < max ? `less than ${max}` : value);
  expect({ name, stallMs: judge(stallMs, stallMsMax), grownMib: judge(grownMib, grownMibMax) }).toEqual({
    name,
    stallMs: judge(0, stallMsMax),
    grownMib: judge(0, grownMibMax),
  });
  return result;
}
