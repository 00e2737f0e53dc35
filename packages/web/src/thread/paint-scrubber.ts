import type { Palette } from '../app/palette.ts';
import { type TimeSpan, toX } from '../fleet/lane-view.ts';
import type { SessionModel } from '../model/session-model.ts';

/** How many events there were in each part of the time, and marks for what stands out. */
export function paintScrubber(
  canvas: HTMLCanvasElement,
  session: SessionModel,
  span: TimeSpan,
  at: number | undefined,
  palette: Palette,
): void {
  const ratio = devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  // Not finer than the seconds that are counted, and not finer than can be seen.
  const bars = Math.max(1, Math.min(Math.floor(width / BAR), Math.ceil((span.to - span.from) / 1_000)));
  const wide = width / bars;
  const counts = Array.from({ length: bars }, () => 0);
  for (const [second, count] of session.density) {
    const place = Math.floor(toX(second * 1_000 + 500, span, bars));
    if (place >= 0 && place < bars) counts[place] = (counts[place] ?? 0) + count;
  }
  const highest = Math.max(1, ...counts);
  const edge = at === undefined ? width : toX(at, span, width);
  for (const [index, count] of counts.entries()) {
    if (count === 0) continue;
    const tall = Math.max(2, Math.sqrt(count / highest) * (height - MARKS));
    context.fillStyle = index * wide <= edge ? palette.state.writing : palette.line;
    context.fillRect(index * wide, height - tall, Math.max(1, wide - 1), tall);
  }
  for (const track of session.tracks.values()) {
    for (const { at: time, kind } of track.marks) {
      const x = toX(time, span, width);
      context.fillStyle = palette.state[colours[kind]];
      // Starts are many, and less than the others what somebody looks for.
      if (kind === 'spawn') context.fillRect(x, MARKS - 5, 1, 3);
      else context.fillRect(x - 1, 0, 3, MARKS - 3);
    }
  }
  if (at === undefined) return;
  context.fillStyle = palette.state.needs;
  context.fillRect(edge - 1, 0, 2, height);
}

const BAR = 4;
const MARKS = 9;
const colours = {
  spawn: 'done',
  approval: 'needs',
  error: 'error',
  compaction: 'waits',
  conflict: 'retry',
  retry: 'retry',
} as const;
