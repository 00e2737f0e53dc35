/** `4 s`, `3 m 20 s`, `2 h 5 m`: two units at most, and no width that jumps. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${pad(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${pad(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** For narrow columns: `4s`, `3m`, `2h`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `12 s ago`, `2 min ago`, `3 h ago`. */
export function formatAgo(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes === 0) return `${Math.floor(Math.max(0, ms) / 1_000)} s ago`;
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}

/** How long a step took: tenths of a second matter there. */
export function formatSpan(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms);
}

/** `950`, `12.4k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 99_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function formatCost(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return usd < 100 ? `$${usd.toFixed(2)}` : `$${Math.round(usd)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** The time of day, as the clock on the wall has it. */
export function formatClock(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':');
}

/** With grouping: `48,213`. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

export function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function pad(part: number): string {
  return String(part).padStart(2, '0');
}
