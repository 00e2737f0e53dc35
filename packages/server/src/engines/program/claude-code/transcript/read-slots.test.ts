import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { ReadSlots } from './read-slots.ts';

it('[J288] 4 reads run at the same time, and the next one begins when one has ended or failed', async () => {
  expect(programLimits.transcriptReadsMax).toBe(4);
  const slots = new ReadSlots(programLimits.transcriptReadsMax);
  const ends: ((error?: Error) => void)[] = [];
  const read = () =>
    slots.run(
      () =>
        new Promise((resolve, reject) => void ends.push((error) => (error === undefined ? resolve() : reject(error)))),
    );
  const reads = Promise.allSettled(Array.from({ length: 7 }, read));
  expect(ends).toHaveLength(4);
  ends[0]!();
  ends[1]!(new Error('no'));
  await turn();
  expect(ends).toHaveLength(6);
  ends[2]!();
  await turn();
  for (const end of ends) end();
  expect((await reads).map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
});
