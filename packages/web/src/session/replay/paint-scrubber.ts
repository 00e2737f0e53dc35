import type { CanvasColours } from '../../ui/lanes/canvas-colours.ts';
import { type TimeSpan, toX } from '../../ui/lanes/time-span.ts';
import type { SessionModel } from '../../model/session-model.ts';

/** Paints the number of events over time, and marks for approvals, errors and the like. */
export function paintScrubber(
  canvas: HTMLCanvasElement,
  session: SessionModel,
  span: TimeSpan,
  at: number | undefined,
  colours: CanvasColours,
): void {
  const ratio = devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  // At most one bar per counted second, and none narrower than BAR pixels.
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
    context.fillStyle = index * wide <= edge ? colours.state.writing : colours.line;
    context.fillRect(index * wide, height - tall, Math.max(1, wide - 1), tall);
  }
  for (const track of session.tracks.values()) {
    for (const { at: time, kind } of track.marks) {
      const x = toX(time, span, width);
      context.fillStyle = colours.state[markColours[kind]];
      // Starts are frequent and less important, so their marks are small.
      if (kind === 'spawn') context.fillRect(x, MARKS - 5, 1, 3);
      else context.fillRect(x - 1, 0, 3, MARKS - 3);
    }
  }
  if (at === undefined) return;
  context.fillStyle = colours.state.needs;
  context.fillRect(edge - 1, 0, 2, height);
}

const BAR = 4;
const MARKS = 9;
const markColours = {
  spawn: 'done',
  approval: 'needs',
  error: 'error',
  compaction: 'waits',
  conflict: 'retry',
  retry: 'retry',
  rewind: 'waits',
} as const;
