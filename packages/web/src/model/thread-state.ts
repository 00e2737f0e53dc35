import type { Slot } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { type StateId, states } from './states.ts';

/** A state with the words that fit this thread at this moment. */
export interface ThreadState {
  readonly id: StateId;
  readonly glyph: string;
  readonly word: string;
}

/** Tools whose results somebody outside has to give; a thread that runs one waits for them. */
export type CustomTools = ReadonlySet<string>;
const noTools: CustomTools = new Set();

export function toThreadState(slot: Slot, now: number, customTools: CustomTools = noTools): ThreadState {
  const id = toStateId(slot, now, customTools);
  const { glyph, word } = states[id];
  if (slot.waits?.type === 'retrying' && id === 'retry') return { id, glyph: `${glyph}${slot.waits.attempt}`, word };
  if (id === 'thinking' && slot.phase !== 'thinking') return { id, glyph, word: 'working' };
  if (id === 'error' && slot.state === 'lost') return { id, glyph, word: 'unknown end' };
  if (id === 'error' && slot.stopReason === 'limit') return { id, glyph, word: 'limit' };
  return { id, glyph, word };
}

/** Without the passing of time: what events alone say. Lanes are made of it. */
export function toStateId(slot: Slot, now: number | null, customTools: CustomTools = noTools): StateId {
  switch (slot.state) {
    case 'ok':
      return 'done';
    case 'failed':
      return slot.stopReason === 'cancelled' ? 'cancelled' : 'error';
    case 'lost':
      return 'error';
    case 'needs_approval':
      return 'needs';
    case 'running':
      break;
  }
  if (slot.tools.some(({ state, awaitsResult }) => state === 'running' && awaitsResult === true)) return 'needs';
  if (now !== null && isStalled(slot, now)) return 'stalled';
  switch (slot.phase) {
    case 'queued':
      return 'queued';
    case 'retrying':
      return 'retry';
    case 'writing':
      return 'writing';
    case 'children':
      return 'waits';
    case 'tool':
      if (slot.tools.some(({ state, tool }) => state === 'running' && customTools.has(tool))) return 'needs';
      return slot.openChildren > 0 ? 'waits' : 'tool';
    case 'starting':
    case 'requesting':
    case 'thinking':
    case 'between':
      return 'thinking';
  }
}

/** Tools, delegates and waits take their time; a model that answers does not pause for long. */
function isStalled({ phase, lastAt }: Slot, now: number): boolean {
  const isQuiet = ['tool', 'children', 'between', 'queued', 'retrying'].includes(phase);
  return !isQuiet && lastAt !== null && now - lastAt >= limits.stalledMs;
}
