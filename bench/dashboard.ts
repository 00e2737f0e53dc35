import { join } from 'node:path';
import { traceFrames } from './dashboard-frames.ts';
import { readRecording } from './dashboard-load.ts';
import { openLoadedPage } from './dashboard-page.ts';
import type { Bench, Measured } from './harness.ts';

/** The dashboard in Chromium while a recorded run of 25 threads is sent at 1,500 events per second. */
export const dashboard: Bench = {
  name: 'dashboard',
  cases: [
    { name: 'script-per-frame', run: () => frames('script') },
    { name: 'dropped-frames', run: () => frames('dropped') },
    { name: 'heap-100k-events', run: heap },
  ],
};

const PER_SECOND = 1_500;
const SECONDS = 10;
/** The pages, which `npm run bench` has just built. It runs in the root of the repository. */
const pages = join(process.cwd(), 'packages', 'server', 'dist', 'web');

const recording = join(process.cwd(), 'fixtures', 'dashboard', 'fleet-25.sse.gz');

async function frames(what: 'script' | 'dropped'): Promise<Measured> {
  const loaded = await openLoadedPage(pages, readRecording(recording));
  loaded.setRate(PER_SECOND);
  // The code is compiled during the first seconds.
  await loaded.untilShown(3 * PER_SECOND);
  const { scriptMs, dropped } = await traceFrames(loaded.devtools, SECONDS);
  await loaded.close();
  if (what === 'dropped') {
    const share = (100 * dropped) / Math.max(1, dropped + scriptMs.length);
    return { value: share, unit: '%', floor: null, ratio: null, goal: '<= 10 %', ok: share <= 10 };
  }
  const value = scriptMs.toSorted((a, b) => a - b)[Math.floor(scriptMs.length / 2)] ?? Number.NaN;
  return { value, unit: 'ms', floor: null, ratio: null, goal: '< 8 ms (median)', ok: value < 8 };
}

/** The heap of the page after the events of a long day. */
async function heap(): Promise<Measured> {
  const loaded = await openLoadedPage(pages, readRecording(recording));
  loaded.setRate(8_000);
  await loaded.untilShown(100_000);
  loaded.setRate(0);
  await loaded.devtools.send('HeapProfiler.enable');
  await loaded.devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await loaded.devtools.send('Runtime.getHeapUsage');
  await loaded.close();
  const value = usedSize / 1_048_576;
  return { value, unit: 'MiB', floor: null, ratio: null, goal: '< 200 MB', ok: usedSize < 200_000_000 };
}
