import type { CDPSession } from 'playwright-core';

export interface Frames {
  /** Milliseconds of script in each frame. */
  readonly scriptMs: readonly number[];
  /** Frames that were due and were not drawn. */
  readonly dropped: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  /** The CPU time of the thread within `dur`, if the browser reports it. */
  readonly tdur?: number;
  readonly pid: number;
  readonly tid: number;
}

/** Traces the page for some seconds, and returns the script time on its thread, frame by frame. */
export async function traceFrames(devtools: CDPSession, seconds: number): Promise<Frames> {
  const events: TraceEvent[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) => {
    // The protocol types them as plain objects; the trace format has these fields.
    events.push(...(value as unknown as TraceEvent[]));
  });
  const complete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve));
  const categories = 'devtools.timeline,devtools.timeline.frame,disabled-by-default-devtools.timeline';
  await devtools.send('Tracing.start', { transferMode: 'ReportEvents', categories });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  await devtools.send('Tracing.end');
  await complete;
  return toFrames(events);
}

/**
 * Frames begin with their first callback; of nested scripts only the outermost counts. Time in which other processes had the
 * core is not counted.
 */
export function toFrames(events: readonly TraceEvent[]): Frames {
  const begins = events.filter(({ name }) => name === 'FireAnimationFrame');
  const counts = new Map<string, number>();
  for (const { pid, tid } of begins) counts.set(`${pid} ${tid}`, (counts.get(`${pid} ${tid}`) ?? 0) + 1);
  const [thread = ''] = [...counts].toSorted((left, right) => right[1] - left[1])[0] ?? [];
  const isMain = ({ pid, tid }: TraceEvent) => `${pid} ${tid}` === thread;
  const scripts = events
    .filter((event) => event.ph === 'X' && isMain(event) && SCRIPTS.has(event.name))
    .toSorted((left, right) => left.ts - right.ts);
  // Several callbacks may belong to one frame: they come right after each other.
  const starts = begins
    .filter(isMain)
    .map(({ ts }) => ts)
    .toSorted((left, right) => left - right)
    .filter((ts, index, all) => index === 0 || ts - all[index - 1]! > SAME_FRAME_US);
  const sums = Array.from({ length: Math.max(0, starts.length - 1) }, () => 0);
  let [end, frame] = [0, 0];
  for (const { ts, dur = 0, tdur = dur } of scripts) {
    if (ts < end || ts < (starts[0] ?? Infinity)) continue;
    end = ts + dur;
    while (frame < sums.length - 1 && ts >= starts[frame + 1]!) frame += 1;
    if (ts < starts.at(-1)!) sums[frame] = (sums[frame] ?? 0) + tdur / 1_000;
  }
  const gaps = starts.slice(1).map((start, index) => start - starts[index]!);
  const dropped = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / FRAME_US) - 1), 0);
  return { scriptMs: sums, dropped };
}

/** 60 frames per second. */
const FRAME_US = 1_000_000 / 60;
const SAME_FRAME_US = 4_000;
const SCRIPTS = new Set([
  'FunctionCall',
  'EvaluateScript',
  'TimerFire',
  'FireAnimationFrame',
  'EventDispatch',
  'RunMicrotasks',
  'v8.callFunction',
  'MajorGC',
  'MinorGC',
  'V8.GCScavenger',
]);
