import { type PointerEvent as ReactPointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Palette, readPalette } from '../app/palette.ts';
import { fleet, ui } from '../app/stores.ts';
import { limits } from '../limits.ts';
import { type TimeSpan, toMarked, toReplaySpan, toTime, toTimeSpan, toX, zoom } from './lane-view.ts';
import { LaneTip } from './LaneTip.tsx';
import { paintLanes, ROW_HEIGHT } from './paint-lanes.ts';
import { WindowTotals } from './WindowTotals.tsx';
import type { TableRow } from './table-rows.ts';

interface LanesProps {
  readonly rows: readonly TableRow[];
  readonly scroll: number;
  readonly height: number;
}

/** One canvas over the lane and spark columns of all rows in sight, drawn about thirty times a second while it is seen. */
export function Lanes(props: LanesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const place = useColumnPlace(canvas);
  const [tip, setTip] = useState<{ x: number; y: number } | undefined>();
  const drag = useRef<{ x: number; span: TimeSpan; isSelecting: boolean; isMoved: boolean } | undefined>(undefined);

  useEffect(() => {
    let palette: Palette | undefined;
    const forget = () => {
      palette = undefined;
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', forget);
    const unsubscribe = ui.changed.subscribe(forget);
    let last = 0;
    let handle = requestAnimationFrame(function draw(time) {
      handle = requestAnimationFrame(draw);
      if (time - last < limits.lanesMs - 4 || document.hidden || canvas.current === null) return;
      last = time;
      palette ??= readPalette();
      paint(canvas.current, latest.current, place, palette, ui.marked);
    });
    return () => {
      cancelAnimationFrame(handle);
      scheme.removeEventListener('change', forget);
      unsubscribe();
    };
  }, [place]);

  const span = currentSpan();
  const rowAt = (y: number) => {
    const line = props.rows[Math.floor((y + props.scroll) / ROW_HEIGHT)];
    return line?.type === 'thread' ? line.row : undefined;
  };
  const pointOf = (event: ReactPointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  useWheelZoom(canvas, place.laneWidth);
  return (
    <div className="lanes-anchor" aria-hidden="true">
      <canvas
        ref={canvas}
        style={{ left: place.left, width: place.width, height: props.height }}
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
            return ui.set({ marked: toMarked(from.x, point.x, from.span, place.laneWidth) });
          }
          const shift = ((from.x - point.x) / place.laneWidth) * (from.span.to - from.span.from);
          ui.set({ windowEnd: Math.min(fleet.now(), from.span.to + shift), windowMs: from.span.to - from.span.from });
        }}
        onPointerUp={(event) => {
          const from = drag.current;
          drag.current = undefined;
          if (from?.isMoved === true) return;
          ui.set({ marked: undefined });
          const { x, y } = pointOf(event);
          const row = rowAt(y);
          if (row === undefined || x > place.laneWidth) return;
          ui.go({ view: 'thread', sessionId: row.sessionId, threadId: row.threadId ?? undefined });
          const time = toTime(x, span, place.laneWidth);
          if (time < fleet.now() - 1_500)
            fleet.replay.open(row.session, time).catch((error: unknown) => ui.fail(error));
        }}
        onPointerLeave={() => setTip(undefined)}
      />
      {tip !== undefined && tip.x < place.laneWidth && (
        <LaneTip
          row={rowAt(tip.y)}
          time={toTime(tip.x, span, place.laneWidth)}
          nearMs={(NEAR_PIXELS * (span.to - span.from)) / place.laneWidth}
          x={place.left + tip.x}
          y={tip.y}
        />
      )}
      {ui.marked !== undefined && (
        <WindowTotals
          span={ui.marked}
          left={place.left + besideMark(ui.marked, span, place.laneWidth)}
          onClose={() => ui.set({ marked: undefined })}
        />
      )}
    </div>
  );
}

/** Right of what is marked, or left of it where there is no room: what is marked stays in sight. */
function besideMark(marked: TimeSpan, span: TimeSpan, laneWidth: number): number {
  const right = Math.max(0, toX(marked.to, span, laneWidth));
  if (right + TOTALS_WIDTH <= laneWidth) return right;
  return Math.max(0, toX(marked.from, span, laneWidth) - TOTALS_WIDTH);
}

const TOTALS_WIDTH = 250;

/** How far from a mark the pointer still means it. */
const NEAR_PIXELS = 5;

/** What the lanes show at this moment. */
export function currentSpan(): TimeSpan {
  const now = fleet.now();
  const { replay } = fleet.replay;
  if (fleet.replay.isOn && replay !== undefined)
    return toReplaySpan(ui, now, { from: replay.startedAt, to: replay.endedAt });
  // What ended before the time that is shown does not count.
  const since = ui.windowMs === 'all' ? 0 : now - ui.windowMs;
  const firstAt = fleet
    .shown()
    .filter(({ slots }) => (slots.lastAt ?? 0) > since)
    .reduce((first, { session }) => Math.min(first, session.firstAt ?? now), now);
  return toTimeSpan(ui, now, firstAt);
}

interface ColumnPlace {
  readonly left: number;
  readonly width: number;
  readonly laneWidth: number;
  readonly sparkX: number;
  readonly sparkWidth: number;
}

function paint(
  canvas: HTMLCanvasElement,
  { rows, scroll, height }: LanesProps,
  place: ColumnPlace,
  palette: Palette,
  selected: TimeSpan | undefined,
): void {
  const ratio = devicePixelRatio;
  const [width, tall] = [Math.round(place.width * ratio), Math.round(height * ratio)];
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
  paintLanes(context, { rows: placed, span: currentSpan(), now: fleet.now(), height, palette, selected, ...place });
}

/** Where the two columns are: the heads of the table know. */
function useColumnPlace(canvas: React.RefObject<HTMLCanvasElement | null>): ColumnPlace {
  const [place, setPlace] = useState<ColumnPlace>({ left: 0, width: 0, laneWidth: 1, sparkX: 0, sparkWidth: 0 });
  useLayoutEffect(() => {
    const table = canvas.current?.closest('.table');
    const lane = table?.querySelector('.columns [data-column=lane]');
    const spark = table?.querySelector('.columns [data-column=spark]');
    if (table == null || lane == null || spark == null) return;
    const measure = () => {
      const [all, one, two] = [table, lane, spark].map((element) => element.getBoundingClientRect());
      const left = one!.left - all!.left;
      const sparkX = two!.width === 0 ? one!.width : two!.left - one!.left;
      setPlace({
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
  return place;
}

/** With Ctrl, or two fingers on a touch pad, which browsers tell in the same way. React's own wheel handler cannot stop the page from zooming. */
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
