import type { UiStore } from '../../stores/ui-store.ts';

/** A time range. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The time range that the lanes show: a window up to now or up to a fixed time, or everything since the first event. */
export function toTimeSpan(ui: Pick<UiStore, 'windowMs' | 'windowEnd'>, now: number, firstAt: number): TimeSpan {
  const to = ui.windowEnd ?? now;
  if (ui.windowMs === 'all') return { from: Math.min(firstAt, to - 10_000), to };
  // A run that just started fills the width instead of standing at the end of five empty minutes.
  const isYoung = ui.windowEnd === undefined && firstAt > to - ui.windowMs;
  return { from: isYoung ? Math.min(firstAt - 1_000, to - YOUNG_MS) : to - ui.windowMs, to };
}

const YOUNG_MS = 12_000;

/** The time range in a replay: the whole session if it fits the window, otherwise the time around the moment shown. */
export function toReplaySpan(ui: Pick<UiStore, 'windowMs'>, now: number, { from, to }: TimeSpan): TimeSpan {
  if (ui.windowMs === 'all' || to - from <= ui.windowMs)
    return { from: from - 500, to: Math.max(to + 500, from + 2_000) };
  const start = Math.max(from, Math.min(now - ui.windowMs / 2, to - ui.windowMs));
  return { from: start, to: start + ui.windowMs };
}

/** Horizontal position of a time. */
export function toX(time: number, { from, to }: TimeSpan, width: number): number {
  return ((time - from) / (to - from)) * width;
}

/** Time at a horizontal position. */
export function toTime(x: number, { from, to }: TimeSpan, width: number): number {
  return from + (x / width) * (to - from);
}

/** The time range between two horizontal positions, in either order. */
export function toMarked(x: number, other: number, span: TimeSpan, width: number): TimeSpan {
  const [left, right] = [Math.min(x, other), Math.max(x, other)];
  return { from: toTime(Math.max(0, left), span, width), to: toTime(Math.min(width, right), span, width) };
}

/** Zooms around a time, between the shortest and the longest range. */
export function zoom(span: TimeSpan, around: number, factor: number): TimeSpan {
  const length = Math.max(ZOOM_MIN_MS, Math.min(ZOOM_MAX_MS, (span.to - span.from) * factor));
  const share = (around - span.from) / (span.to - span.from);
  const from = around - share * length;
  return { from, to: from + length };
}

const ZOOM_MIN_MS = 2_000;
const ZOOM_MAX_MS = 7 * 24 * 3_600_000;

/** Round times for an axis, at most `most` of them. */
export function toTicks(
  { from, to }: TimeSpan,
  most: number,
): { readonly step: number; readonly times: readonly number[] } {
  const rough = (to - from) / most;
  const step = STEPS.find((one) => one >= rough) ?? STEPS.at(-1)!;
  const times: number[] = [];
  for (let time = Math.ceil(from / step) * step; time < to; time += step) times.push(time);
  return { step, times };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1_000,
);
