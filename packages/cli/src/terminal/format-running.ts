/** The duration of a live tree: with tenths of a second below 10 s, so that a short run visibly progresses. */
export function formatRunning(ms: number): string {
  return ms < 9_950 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : formatElapsed(ms);
}
import { formatElapsed } from '@fleetloom/protocol/text';
