import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import type { EgressEntry } from '../frames/egress-entry.ts';
import { createConnectionLog } from './connection-log.ts';
import { egressLimits } from './limits.ts';

const target = { host: 'a.example', port: 443 };

function openLog(write?: (entries: readonly EgressEntry[]) => Promise<void>) {
  const clock = createManualClock();
  const [commits, all, problems]: [EgressEntry[][], EgressEntry[], unknown[]] = [[], [], []];
  let ids = 0;
  const log = createConnectionLog({
    write: write ?? (async (entries) => void commits.push([...entries])),
    onEntry: (entry) => all.push(entry),
    clock,
    nextId: () => `x${++ids}`,
    onProblem: (problem) => problems.push(problem),
  });
  return { log, commits, all, problems };
}

it('[EG4] entries that come while others are written are one commit, and a connection that cannot be logged is not opened', async () => {
  let release = (): void => {};
  const written: string[][] = [];
  const { log } = openLog(async (entries) => {
    written.push(entries.map(({ id }) => id));
    await new Promise<void>((resolve) => (release = resolve));
  });
  const opening = [1, 2, 3].map(() => log.open(target, 'tunnel'));
  await Promise.resolve();
  expect(written).toEqual([['x1']]);
  release();
  await opening[0];
  await expect.poll(() => written).toEqual([['x1'], ['x2', 'x3']]);
  release();
  await Promise.all(opening);
  const failing = openLog(() => Promise.reject(new Error('not owned here')));
  await expect(failing.log.open(target, 'tunnel')).rejects.toThrow('not owned here');
  failing.log.refuse(target, 'http', 'host_not_allowed');
  await expect.poll(() => failing.problems).toHaveLength(1);
});

it('[EG52] of a session 10,000 refused connections are logged one by one, and the number of later ones after a minute', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, commits, all } = openLog();
  const refuse = () => log.refuse(target, 'http', 'host_not_allowed');
  for (let count = 0; count < egressLimits.loggedMax + 3; count++) refuse();
  await vi.advanceTimersByTimeAsync(egressLimits.omittedMs - 1);
  expect(commits.flat()).toHaveLength(egressLimits.loggedMax);
  refuse();
  await vi.advanceTimersByTimeAsync(1);
  expect(commits.flat().at(-1)).toMatchObject({ outcome: 'omitted', count: 4 });
  refuse();
  await vi.advanceTimersByTimeAsync(egressLimits.omittedMs);
  expect(commits.flat().at(-1)).toMatchObject({ outcome: 'omitted', count: 1 });
  expect(commits.flat()).toHaveLength(egressLimits.loggedMax + 2);
  // They are counted all the same.
  expect(all.filter(({ outcome }) => outcome === 'refused')).toHaveLength(egressLimits.loggedMax + 5);
  expect([egressLimits.loggedMax, egressLimits.omittedMs]).toEqual([10_000, 60_000]);
});

it('[EG63] refused connections, however many, leave none that is opened out of the log: 10,000 of these are logged too', async () => {
  const { log, commits } = openLog();
  for (let count = 0; count <= egressLimits.loggedMax; count++) log.refuse(target, 'http', 'host_not_allowed');
  const first = await log.open(target, 'tunnel');
  first.close({ bytesSent: 1, bytesReceived: 2 });
  await expect.poll(() => commits.flat().slice(-2)).toMatchObject([{ outcome: 'opened' }, { outcome: 'closed' }]);
  for (let count = 1; count <= egressLimits.loggedMax; count++) void log.open(target, 'tunnel');
  const opened = () => commits.flat().filter(({ outcome }) => outcome === 'opened').length;
  await expect.poll(opened).toBe(egressLimits.loggedMax);
});
