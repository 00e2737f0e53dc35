import { type PointerEvent as ReactPointerEvent, useRef } from 'react';
import { useTick } from '../ui/use-tick.ts';
import { ui } from '../stores/stores.ts';
import { formatClock } from '../model/format.ts';
import { type TimeSpan, toMarked, toTicks, toX } from '../ui/lanes/time-span.ts';
import { currentSpan } from './Lanes.tsx';

/** Times above the lanes, as many as fit. Dragging over the axis selects a time range. */
export function LaneAxis() {
  useTick(1_000);
  const axis = useRef<HTMLDivElement>(null);
  const drag = useRef<{ readonly x: number; readonly span: TimeSpan } | undefined>(undefined);
  const width = axis.current?.offsetWidth ?? 400;
  const span = currentSpan();
  const { step, times } = toTicks(span, Math.max(1, Math.floor(width / LABEL_SPACE)));
  const xOf = (event: ReactPointerEvent) => event.clientX - event.currentTarget.getBoundingClientRect().left;
  return (
    <div
      ref={axis}
      className="axis"
      aria-hidden="true"
      title="Drag to select a time range and see its totals"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        // The span at the start of the drag: the lanes move during the drag.
        drag.current = { x: xOf(event), span };
        ui.set({ marked: undefined });
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (from !== undefined) ui.set({ marked: toMarked(from.x, xOf(event), from.span, width) });
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
    >
      {times
        .filter((time) => toX(time, span, width) < width - LABEL_WIDTH)
        .map((time) => {
          const text = formatClock(time);
          return (
            <span key={time} style={{ left: `${toX(time, span, 100)}%` }}>
              {step >= 60_000 ? text.slice(0, 5) : text}
            </span>
          );
        })}
    </div>
  );
}

const LABEL_WIDTH = 58;
const LABEL_SPACE = 64;
