import { useRef } from 'react';
import { useTick } from '../app/LinkBadge.tsx';
import { formatClock } from '../model/format.ts';
import { toTicks, toX } from './lane-view.ts';
import { currentSpan } from './Lanes.tsx';

/** The times above the lanes, as many as there is room for. */
export function LaneAxis() {
  useTick(1_000);
  const axis = useRef<HTMLDivElement>(null);
  const width = axis.current?.offsetWidth ?? 400;
  const span = currentSpan();
  const { step, times } = toTicks(span, Math.max(1, Math.floor(width / LABEL_SPACE)));
  return (
    <div ref={axis} className="axis" aria-hidden="true">
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
const LABEL_SPACE = 76;
