import type { InboxItem } from '../model/inbox-items.ts';
import type { StateId } from '@fleetloom/protocol/fleet';

/** Colour, glyph and word of each kind of inbox item. */
export const kindStyles: Readonly<
  Record<InboxItem['kind'], { readonly state: StateId; readonly glyph: string; readonly word: string }>
> = {
  approval: { state: 'needs', glyph: '!', word: 'approval' },
  answer: { state: 'needs', glyph: '?', word: 'answer' },
  error: { state: 'error', glyph: '✗', word: 'failed' },
  stall: { state: 'stalled', glyph: '…', word: 'stalled' },
  budget: { state: 'retry', glyph: '$', word: 'budget' },
};
