import type { Slot } from '../slots/slot.ts';
import { limits } from './limits.ts';

/** The state of a thread as both user interfaces show it. */
export type StateId = keyof typeof stateTable;

/** How a state is shown. A state is never shown by its colour alone: each has a glyph and a word. */
export interface StateLook {
  readonly glyph: string;
  readonly word: string;
  /** Position in the order by attention: the lower, the sooner a person should look. */
  readonly rank: number;
  /** Whether the thread works or waits; false once its turn is over. */
  readonly isOpen: boolean;
}

const stateTable = {
  needs: { glyph: '!', word: 'needs you', rank: 0, isOpen: true },
  error: { glyph: '✗', word: 'failed', rank: 1, isOpen: false },
  stalled: { glyph: '…', word: 'stalled', rank: 2, isOpen: true },
  retry: { glyph: '↻', word: 'retry', rank: 3, isOpen: true },
  queued: { glyph: '·', word: 'queued', rank: 4, isOpen: true },
  tool: { glyph: '⚙', word: 'tool', rank: 5, isOpen: true },
  writing: { glyph: '▸', word: 'writing', rank: 5, isOpen: true },
  thinking: { glyph: '◐', word: 'thinking', rank: 5, isOpen: true },
  waits: { glyph: '⧗', word: 'waits', rank: 6, isOpen: true },
  done: { glyph: '✓', word: 'done', rank: 7, isOpen: false },
  cancelled: { glyph: '■', word: 'cancelled', rank: 7, isOpen: false },
} as const satisfies Readonly<Record<string, StateLook>>;

/** Every state with its glyph, word and rank. */
export const states: Readonly<Record<StateId, StateLook>> = stateTable;

/** A state with the word that fits one thread at one moment. */
export interface ThreadState {
  readonly id: StateId;
  readonly word: string;
  /** The number of the next attempt of a model request that is retried. */
  readonly attempt?: number;
}

/** Names of tools whose results a client provides. A thread that runs one of them waits for a person. */
export type CustomTools = ReadonlySet<string>;

const noTools: CustomTools = new Set();

/** The state of a thread, given its newest turn and the server's time. */
export function toThreadState(slot: Slot, nowMs: number, customTools: CustomTools = noTools): ThreadState {
  const id = toStateId(slot, nowMs, customTools);
  const { word } = states[id];
  if (slot.waits?.type === 'retrying' && id === 'retry') return { id, word, attempt: slot.waits.attempt };
  if (id === 'thinking' && slot.phase !== 'thinking') return { id, word: 'working' };
  if (id === 'error' && slot.state === 'lost') return { id, word: 'lost' };
  if (id === 'error' && slot.stopReason === 'limit') return { id, word: 'limit' };
  return { id, word };
}

/** The state of a thread. With `nowMs` null it depends on events alone: silence does not make a thread stalled. */
export function toStateId(slot: Slot, nowMs: number | null, customTools: CustomTools = noTools): StateId {
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
  // A person has to provide a result, whatever else the thread does.
  if (slot.tools.some(({ state, awaitsResult }) => state === 'running' && awaitsResult === true)) return 'needs';
  if (nowMs !== null && isStalled(slot, nowMs)) return 'stalled';
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

/** Whether a running thread has been silent for too long. Tools, delegates and waits may be silent; a model may not. */
export function isStalled({ state, phase, lastAt }: Slot, nowMs: number): boolean {
  const mayBeSilent = ['tool', 'children', 'between', 'queued', 'retrying'].includes(phase);
  return state === 'running' && !mayBeSilent && lastAt !== null && nowMs - lastAt >= limits.stalledMs;
}
