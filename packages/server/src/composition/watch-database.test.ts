import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { compositionLimits } from './limits.ts';
import { watchDatabase } from './watch-database.ts';

const { readyMs, readyEveryMs } = compositionLimits;
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Query {
  readonly answer: () => void;
  readonly fail: () => void;
}

function open() {
  const { schedule, advance, waiting } = createManualSchedule(createManualClock());
  const queries: Query[] = [];
  const problems: string[] = [];
  const now = () =>
    new Promise<number>((resolve, reject) =>
      queries.push({ answer: () => resolve(0), fail: () => reject(new Error('away')) }),
    );
  const onProblem = (problem: unknown) => problems.push((problem as Error).message);
  const watch = watchDatabase({ store: { now }, schedule, onProblem });
  return { watch, queries, problems, waiting, wait: (ms: number) => (advance(ms), turn()) };
}

it('[P67] a database that answers within the limit is there; one that does not, or complains, is away', async () => {
  const { watch, queries, problems, wait, waiting } = open();
  await wait(readyMs - 1);
  queries[0]!.answer();
  await turn();
  expect(watch.isAway).toBe(false);
  await wait(readyEveryMs - 1);
  expect(queries).toHaveLength(1);
  await wait(1);
  expect(queries).toHaveLength(2);
  await wait(readyMs - 1);
  expect(watch.isAway).toBe(false);
  await wait(1);
  expect(watch.isAway).toBe(true);
  // The next query is sent although this one has no answer.
  await wait(readyEveryMs);
  queries[2]!.answer();
  await turn();
  expect(watch.isAway).toBe(false);
  await wait(readyEveryMs);
  queries[3]!.fail();
  await turn();
  expect(watch.isAway).toBe(true);
  expect(problems).toEqual([
    'the database cannot be reached: requests are rejected with 503 database_unavailable until it can',
    'the database can be reached again',
    'the database cannot be reached: requests are rejected with 503 database_unavailable until it can',
  ]);
  watch.close();
  expect(waiting()).toBe(0);
});

it('[P67] a late answer ends an outage, a late failure begins none, and each outage is announced once', async () => {
  const { watch, queries, wait } = open();
  let outages = 0;
  const removeHandler = watch.onAway(() => (outages += 1));
  await wait(readyMs);
  expect([watch.isAway, outages]).toEqual([true, 1]);
  queries[0]!.answer();
  await turn();
  expect(watch.isAway).toBe(false);
  await wait(readyEveryMs);
  await wait(readyMs);
  await wait(readyEveryMs);
  queries[2]!.fail();
  await turn();
  expect([watch.isAway, outages]).toEqual([true, 2]);
  await wait(readyEveryMs);
  queries[3]!.answer();
  queries[1]!.fail();
  await turn();
  expect(watch.isAway).toBe(false);
  removeHandler();
  await wait(readyEveryMs);
  await wait(readyMs);
  expect([watch.isAway, outages]).toEqual([true, 2]);
  watch.close();
});

it('[P67] an answer that arrived while the event loop was blocked for longer than the limit counts', async () => {
  const { watch, queries, wait } = open();
  // The timer is due first, and the answer is read in the same turn of the event loop.
  const due = wait(readyMs);
  queries[0]!.answer();
  await due;
  expect(watch.isAway).toBe(false);
  watch.close();
});
