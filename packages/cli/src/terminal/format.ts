/** How long: `84ms`, `1.4s`, `42s`, `3m 12s`, `1h 04m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

/** A time that is still running, in steps that change at most ten times a second. */
export function formatRunning(ms: number): string {
  return ms < 9_950 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : formatDuration(ms);
}

/** How long in at most four columns: `0s`, `95s`, `4m`, `99m`, `47h`, `9d`. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 6_000) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Money with as many digits as say something: `$0.0042`, `$0.17`, `$12.40`. */
export function formatCost(usd: number): string {
  return usd !== 0 && Math.abs(usd) < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `950`, `2.9k`, `38k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `1 call`, `2 calls`. */
export function formatPlural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
