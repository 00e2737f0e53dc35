import { limits } from './limits.ts';
import type { Slot } from '../slots/slot.ts';

/** The current activity of a turn in one line: a tool and its main input, or the end of the turn's text. */
export function nowDoing(slot: Slot): string {
  const running = slot.tools.filter(({ state }) => state === 'running');
  if (slot.state === 'needs_approval') return `needs approval: ${describeTools(running) || slot.openApprovals}`;
  if (slot.state !== 'running')
    return slot.error ?? (slot.text.tail === '' ? (slot.stopReason ?? '') : endOf(slot.text.tail));
  switch (slot.phase) {
    case 'starting':
    case 'requesting':
    case 'queued':
    case 'retrying':
      return describeWait(slot.waits);
    case 'thinking':
      return 'thinking';
    case 'writing':
      return endOf(slot.text.tail);
    case 'tool':
      return describeTools(running);
    case 'children':
      return `waiting for ${slot.openChildren}`;
    case 'between':
      return describeTools(running) || 'working';
  }
}

/** Describes a wait without the remaining time; `describeSilence` counts down. */
function describeWait(waits: Slot['waits']): string {
  if (waits === null) return 'waiting for the model';
  if (waits.type === 'retrying') return `attempt ${waits.attempt} follows: ${beginningOf(waits.message)}`;
  return waits.reason === 'paused' ? 'queued: the endpoint asked for a pause' : 'queued: over the concurrency cap';
}

function describeTools(tools: Slot['tools']): string {
  const newest = tools.at(-1);
  if (newest === undefined) return '';
  const what = newest.label === '' ? newest.tool : `${newest.tool}: ${newest.label}`;
  return tools.length === 1 ? what : `${what} and ${tools.length - 1} more`;
}

function beginningOf(text: string): string {
  return Array.from(text.slice(0, 4 * limits.doingCharsMax).replace(/\s+/g, ' '))
    .slice(0, limits.doingCharsMax)
    .join('');
}

function endOf(text: string): string {
  const end = text
    .slice(-4 * limits.doingCharsMax)
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(end).slice(-limits.doingCharsMax).join('');
}
