import { type PointerEvent as ReactPointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type CanvasColours, readCanvasColours } from '../ui/lanes/canvas-colours.ts';
import { openThread } from '../stores/actions.ts';
import { fleet, ui } from '../stores/stores.ts';
import { tableLimits } from './limits.ts';
import { type TimeSpan, toMarked, toReplaySpan, toTime, toTimeSpan, toX, zoom } from '../ui/lanes/time-span.ts';
import { LaneTip } from './LaneTip.tsx';
import { paintLanes, ROW_HEIGHT } from './paint-lanes.ts';
import { WindowTotals } from './WindowTotals.tsx';
import type { TableRow } from './table-rows.ts';

interface LanesProps {
  readonly rows: readonly TableRow[];
  readonly scroll: number;
  readonly height: number;
}

/** One canvas over the lane and spark columns of all visible rows, painted about 30 times per second while the tab is visible. */
export function Lanes(props: LanesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const bounds = useColumnBounds(canvas);
  const [tip, setTip] = useState<{ x: number; y: number } | undefined>();
  const drag = useRef<{ x: number; span: TimeSpan; isSelecting: boolean; isMoved: boolean } | undefined>(undefined);

  useEffect(() => {
    let colours: CanvasColours | undefined;
    const forget = () => {
      colours = undefined;
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', forget);
    const unsubscribe = ui.changed.subscribe(forget);
    let last = 0;
    let handle = requestAnimationFrame(function draw(time) {
      handle = requestAnimationFrame(draw);
      if (time - last < tableLimits.lanesMs - 4 || document.hidden || canvas.current === null) return;
      last = time;
      colours ??= readCanvasColours();
      paint(canvas.current, latest.current, bounds, colours, ui.marked);
    });
    return () => {
      cancelAnimationFrame(handle);
      scheme.removeEventListener('change', forget);
      unsubscribe();
    };
  }, [bounds]);

  const span = currentSpan();
  const rowAt = (y: number) => {
    const line = props.rows[Math.floor((y + props.scroll) / ROW_HEIGHT)];
    return line?.type === 'thread' ? line.row : undefined;
  };
  const pointOf = (event: ReactPointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  useWheelZoom(canvas, bounds.laneWidth);
  return (
    <div className="lanes-anchor" aria-hidden="true">
      <canvas
        ref={canvas}
        style={{ left: bounds.left, width: bounds.width, height: props.height }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { x: pointOf(event).x, span, isSelecting: event.shiftKey, isMoved: false };
        }}
        onPointerMove={(event) => {
          const point = pointOf(event);
          const from = drag.current;
          if (from === undefined) return setTip(point);
          if (Math.abs(point.x - from.x) > 3) from.isMoved = true;
          if (!from.isMoved) return;
          setTip(undefined);
          if (from.isSelecting) {
            return ui.set({ marked: toMarked(from.x, point.x, from.span, bounds.laneWidth) });
          }
          const shift = ((from.x - point.x) / bounds.laneWidth) * (from.span.to - from.span.from);
          ui.set({ windowEnd: Math.min(fleet.now(), from.span.to + shift), windowMs: from.span.to - from.span.from });
        }}
        onPointerUp={(event) => {
          const from = drag.current;
          drag.current = undefined;
          if (from?.isMoved === true) return;
          ui.set({ marked: undefined });
          const { x, y } = pointOf(event);
          const row = rowAt(y);
          if (row === undefined || x > bounds.laneWidth) return;
          openThread(row);
          const time = toTime(x, span, bounds.laneWidth);
          if (time < fleet.now() - 1_500) ui.attempt(fleet.replay.open(row.session, time));
        }}
        onPointerLeave={() => setTip(undefined)}
      />
      {tip !== undefined && tip.x < bounds.laneWidth && (
        <LaneTip
          row={rowAt(tip.y)}
          time={toTime(tip.x, span, bounds.laneWidth)}
          nearMs={(NEAR_PIXELS * (span.to - span.from)) / bounds.laneWidth}
          x={bounds.left + tip.x}
          y={tip.y}
        />
      )}
      {ui.marked !== undefined && (
        <WindowTotals
          span={ui.marked}
          left={bounds.left + besideMark(ui.marked, span, bounds.laneWidth)}
          onClose={() => ui.set({ marked: undefined })}
        />
      )}
    </div>
  );
}

/** Left edge of the totals: right of the selected range, or left of it if there is no room, so that the totals do not cover the range. */
function besideMark(marked: TimeSpan, span: TimeSpan, laneWidth: number): number {
  const right = Math.max(0, toX(marked.to, span, laneWidth));
  if (right + TOTALS_WIDTH <= laneWidth) return right;
  return Math.max(0, toX(marked.from, span, laneWidth) - TOTALS_WIDTH);
}

const TOTALS_WIDTH = 250;

/** The distance in pixels within which the pointer selects a mark. */
const NEAR_PIXELS = 5;

/** The time range that the lanes show now. */
export function currentSpan(): TimeSpan {
  const now = fleet.now();
  const { replay } = fleet.replay;
  if (fleet.replay.isOn && replay !== undefined)
    return toReplaySpan(ui, now, { from: replay.startedAt, to: replay.endedAt });
  // Sessions that ended before the window do not widen it.
  const since = ui.windowMs === 'all' ? 0 : now - ui.windowMs;
  const firstAt = fleet
    .shown()
    .filter(({ slots }) => (slots.lastAt ?? 0) > since)
    .reduce((first, { session }) => Math.min(first, session.firstAt ?? now), now);
  return toTimeSpan(ui, now, firstAt);
}

interface ColumnBounds {
  readonly left: number;
  readonly width: number;
  readonly laneWidth: number;
  readonly sparkX: number;
  readonly sparkWidth: number;
}

function paint(
  canvas: HTMLCanvasElement,
  { rows, scroll, height }: LanesProps,
  bounds: ColumnBounds,
  colours: CanvasColours,
  selected: TimeSpan | undefined,
): void {
  const ratio = devicePixelRatio;
  const [width, tall] = [Math.round(bounds.width * ratio), Math.round(height * ratio)];
  if (canvas.width !== width || canvas.height !== tall) {
    canvas.width = width;
    canvas.height = tall;
  }
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const first = Math.max(0, Math.floor(scroll / ROW_HEIGHT));
  const last = Math.ceil((scroll + height) / ROW_HEIGHT);
  const placed = rows.slice(first, last).flatMap((line, index) => {
    return line.type === 'thread' ? [{ row: line.row, y: (first + index) * ROW_HEIGHT - scroll }] : [];
  });
  paintLanes(context, { rows: placed, span: currentSpan(), now: fleet.now(), height, colours, selected, ...bounds });
}

/** Position of the lane and spark columns, measured at the column headers. */
function useColumnBounds(canvas: React.RefObject<HTMLCanvasElement | null>): ColumnBounds {
  const [bounds, setBounds] = useState<ColumnBounds>({ left: 0, width: 0, laneWidth: 1, sparkX: 0, sparkWidth: 0 });
  useLayoutEffect(() => {
    const table = canvas.current?.closest('.table');
    const lane = table?.querySelector('.columns [data-column=lane]');
    const spark = table?.querySelector('.columns [data-column=spark]');
    if (table == null || lane == null || spark == null) return;
    const measure = () => {
      const [all, one, two] = [table, lane, spark].map((element) => element.getBoundingClientRect());
      const left = one!.left - all!.left;
      const sparkX = two!.width === 0 ? one!.width : two!.left - one!.left;
      setBounds({
        left,
        laneWidth: Math.max(1, one!.width - 8),
        sparkX,
        sparkWidth: two!.width,
        width: sparkX + two!.width,
      });
    };
    const observer = new ResizeObserver(measure);
    for (const element of [table, lane, spark]) observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [canvas]);
  return bounds;
}

/** Ctrl and wheel, or a pinch on a touch pad, which browsers report the same way. React's wheel handler is passive and cannot stop the page from zooming. */
function useWheelZoom(canvas: React.RefObject<HTMLCanvasElement | null>, laneWidth: number): void {
  useEffect(() => {
    const { current } = canvas;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey || current === null) return;
      event.preventDefault();
      const span = currentSpan();
      const x = event.clientX - current.getBoundingClientRect().left;
      const next = zoom(span, toTime(x, span, laneWidth), event.deltaY > 0 ? 1.25 : 0.8);
      const isAtEnd = next.to >= fleet.now() - 500;
      ui.set({ windowMs: next.to - next.from, windowEnd: isAtEnd ? undefined : next.to });
    };
    current?.addEventListener('wheel', onWheel, { passive: false });
    return () => current?.removeEventListener('wheel', onWheel);
  }, [canvas, laneWidth]);
}
