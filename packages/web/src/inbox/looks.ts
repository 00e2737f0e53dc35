import type { InboxItem } from '../model/inbox-items.ts';
import type { StateId } from '../model/states.ts';

/** Each kind by colour, glyph and word. */
export const looks: Readonly<
  Record<InboxItem['kind'], { readonly state: StateId; readonly glyph: string; readonly word: string }>
> = {
  approval: { state: 'needs', glyph: '!', word: 'approval' },
  answer: { state: 'needs', glyph: '?', word: 'answer' },
  error: { state: 'error', glyph: '✗', word: 'failed' },
  stall: { state: 'stalled', glyph: '…', word: 'stalled' },
  budget: { state: 'retry', glyph: '$', word: 'budget' },
};
