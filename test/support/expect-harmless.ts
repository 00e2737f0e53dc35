import { expect } from 'vitest';
import { type Harm, measureHarm } from './measure-harm.ts';
import { isLong } from './seed.ts';

/** The promise is 50 ms. Beside other tests the same work takes up to twice as long; what is not sliced takes seconds. */
const STALL_MS_MAX = isLong ? 50 : 120;

/**
 * What work gives, after making sure that it neither holds up the event loop nor takes much memory. Whatever it does, it
 * does each time; so once of three times is enough to show that it need not, on a machine that is busy with other things.
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
