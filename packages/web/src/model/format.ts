export {
  formatAge,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatElapsed as formatDuration,
  formatSpan,
  plural,
} from '@fleetloom/protocol/text';

/** The local time of day: `14:05:09`. */
export function formatClock(time: number): string {
  return new Date(time).toTimeString().slice(0, 8);
}

/** The local date: `2026-11-18`. */
export function formatDay(time: number): string {
  const date = new Date(time);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** A number with grouping: `48,213`. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}
