import * as fc from 'fast-check';
import { expect } from 'vitest';
import { RandomText } from '../../bench/random-text.ts';

/** Hours instead of seconds: `FLEETLOOM_LONG=1 npm test`. */
export const isLong = process.env['FLEETLOOM_LONG'] === '1';

/** The timeout of tests that run longer in that mode. */
export const timeout = isLong ? 6 * 3_600_000 : 120_000;

/** Every random test of a file begins here. `FLEETLOOM_SEED=… npm test -- <file>` repeats a run. */
export const seed = Number(process.env['FLEETLOOM_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The last file that printed the seed: files may share a process, and each prints it once. */
let saidIn: string | undefined;

/** As `fc.assert`, with the seed. On failure fast-check prints it together with the smallest example. */
export function assertProperty<Ts>(property: fc.IProperty<Ts>, numRuns = 100): void {
  saySeed();
  fc.assert(property, { seed, numRuns });
}

export function randomText(): RandomText {
  saySeed();
  return new RandomText(seed);
}

function saySeed(): void {
  const { testPath } = expect.getState();
  if (saidIn === undefined || saidIn !== testPath) console.log(`FLEETLOOM_SEED=${seed}`);
  saidIn = testPath;
}
