import type { Slot } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatDuration } from '../terminal/format.ts';
import type { Style } from '../terminal/palette.ts';
import type { StateSign } from '../tree/agent-state.ts';

/** What is said of a thread: always a sign, a colour and a word together (SPEC Y20). */
export interface SlotState {
  readonly sign: StateSign;
  readonly word: string;
  readonly style: Style;
}

export function toSlotState(slot: Slot, nowMs: number): SlotState {
  switch (slot.state) {
    case 'ok':
      return { sign: 'done', word: 'done', style: 'ok' };
    case 'failed':
      return slot.stopReason === 'cancelled'
        ? { sign: 'stopped', word: 'cancelled', style: 'dim' }
        : { sign: 'failed', word: slot.stopReason === 'limit' ? 'limit' : 'failed', style: 'failed' };
    case 'lost':
      return { sign: 'unfinished', word: 'unknown', style: 'attention' };
    case 'needs_approval':
      return { sign: 'needsYou', word: 'needs you', style: 'attention' };
    case 'running':
      return isStalled(slot, nowMs) ? STALLED : atWork(slot);
  }
}

/** How long nothing has been heard, where that is the news about a thread. */
export function silenceOf(slot: Slot, nowMs: number): string | undefined {
  return slot.state === 'running' && isStalled(slot, nowMs)
    ? `no event for ${formatDuration(nowMs - (slot.lastAt ?? nowMs))}`
    : undefined;
}

const STALLED: SlotState = { sign: 'unfinished', word: 'stalled', style: 'failed' };

/** Tools and delegates take their time; a model that answers does not pause for long. */
function isStalled({ phase, lastAt }: Slot, nowMs: number): boolean {
  const isSilentByNature = phase === 'tool' || phase === 'children' || phase === 'between';
  return !isSilentByNature && lastAt !== null && nowMs - lastAt >= limits.stalledMs;
}

function atWork(slot: Slot): SlotState {
  if (slot.openChildren > 0) return { sign: 'waits', word: 'waits', style: 'waits' };
  switch (slot.phase) {
    case 'writing':
      return { sign: 'writing', word: 'writing', style: 'writing' };
    case 'thinking':
      return { sign: 'thinking', word: 'thinking', style: 'thinking' };
    case 'tool': {
      const running = slot.tools.findLast(({ state }) => state === 'running');
      return { sign: 'tool', word: cleanLine(running?.tool ?? 'tool').slice(0, 40), style: 'tool' };
    }
    case 'children':
      return { sign: 'waits', word: 'waits', style: 'waits' };
    case 'starting':
    case 'requesting':
    case 'between':
      return { sign: 'thinking', word: 'working', style: 'thinking' };
  }
}
