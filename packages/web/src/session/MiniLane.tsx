import { useEffect, useRef } from 'react';
import { readCanvasColours } from '../ui/lanes/canvas-colours.ts';
import { type TimeSpan, toX } from '../ui/lanes/time-span.ts';
import { fillState } from '../ui/lanes/fill-state.ts';
import type { ThreadTrack } from '../model/thread-track.ts';

const WIDTH = 64;
const HEIGHT = 8;

/** A small lane without labels, painted once per second. */
export function MiniLane({ track, span, now }: { track: ThreadTrack | undefined; span: TimeSpan; now: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const second = Math.floor(now / 1_000);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context == null || track === undefined) return;
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    const palette = readCanvasColours();
    for (const { from, to, state } of track.segments) {
      if (from > now) break;
      const left = toX(from, span, WIDTH);
      const right = Math.min(WIDTH, Math.max(toX(Math.min(to ?? now, now), span, WIDTH), left + 1));
      fillState(context, palette, state, left, 0, right - left, HEIGHT);
    }
  }, [track, second, span.from, span.to]);
  return <canvas ref={canvas} className="mini-lane" width={WIDTH * 2} height={HEIGHT * 2} aria-hidden="true" />;
}
