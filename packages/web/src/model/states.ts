/** What a thread is doing, as people need to tell it apart. */
export type StateId =
  | 'needs'
  | 'error'
  | 'stalled'
  | 'retry'
  | 'queued'
  | 'tool'
  | 'writing'
  | 'thinking'
  | 'waits'
  | 'done'
  | 'cancelled';

export interface StateLook {
  readonly glyph: string;
  readonly word: string;
  /** For the order by attention: the lower, the sooner it concerns somebody. */
  readonly rank: number;
  /** Whether it works or waits, rather than being over. */
  readonly isOpen: boolean;
}

/** Never by colour alone: each state has a glyph and a word. The colours are in app/colours.css, under the same names. */
export const states: Readonly<Record<StateId, StateLook>> = {
  needs: { glyph: '!', word: 'needs you', rank: 0, isOpen: true },
  error: { glyph: '✗', word: 'error', rank: 1, isOpen: false },
  stalled: { glyph: '…', word: 'stalled', rank: 2, isOpen: true },
  retry: { glyph: '↻', word: 'retry', rank: 3, isOpen: true },
  queued: { glyph: '·', word: 'queued', rank: 4, isOpen: true },
  tool: { glyph: '⚙', word: 'tool', rank: 5, isOpen: true },
  writing: { glyph: '▸', word: 'writing', rank: 5, isOpen: true },
  thinking: { glyph: '◐', word: 'thinking', rank: 5, isOpen: true },
  waits: { glyph: '⧗', word: 'waits', rank: 6, isOpen: true },
  done: { glyph: '✓', word: 'done', rank: 7, isOpen: false },
  cancelled: { glyph: '■', word: 'cancelled', rank: 7, isOpen: false },
};
