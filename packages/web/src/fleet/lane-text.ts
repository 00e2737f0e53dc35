import { formatDuration } from '../model/format.ts';
import { states } from '@fleetloom/protocol/fleet';
import type { ThreadTrack } from '../model/thread-track.ts';
import type { TimeSpan } from '../ui/lanes/time-span.ts';

/** A lane as text, for screen readers: the time spent in each state, the longest first. */
export function laneText(track: ThreadTrack | undefined, { from, to }: TimeSpan, now: number): string {
  const sums = new Map<string, number>();
  for (const segment of track?.segments ?? []) {
    const ms = Math.min(segment.to ?? now, now, to) - Math.max(segment.from, from);
    const name = segment.label === '' ? states[segment.state].word : `${states[segment.state].word} ${segment.label}`;
    if (ms > 0) sums.set(name, (sums.get(name) ?? 0) + ms);
  }
  const parts = [...sums].toSorted((left, right) => right[1] - left[1]);
  return parts.length === 0
    ? 'no activity in this time'
    : parts.map(([name, ms]) => `${name} ${formatDuration(ms)}`).join(', ');
}
