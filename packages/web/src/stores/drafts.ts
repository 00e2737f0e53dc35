import { cutText } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { storeLimits } from './limits.ts';

/** The text of a field that survives navigation and a reload, until it is sent. */
export interface Draft {
  readonly text: string;
  readonly set: (text: string) => void;
  /** Called when the text was sent. */
  readonly clear: () => void;
}

/** The draft with this name. A component that shows another draft needs another `key`. */
export function useDraft(name: string): Draft {
  const [text, setText] = useState(() => readDraft(name));
  const set = (next: string) => {
    setText(next);
    writeDraft(name, next);
  };
  return { text, set, clear: () => set('') };
}

/** The stored text; empty if there is none. */
export function readDraft(name: string): string {
  return readAll().find(([key]) => key === name)?.[1] ?? '';
}

/** Stores a text; an empty one removes the draft. The oldest drafts are dropped beyond the limit. */
export function writeDraft(name: string, text: string): void {
  const others = readAll().filter(([key]) => key !== name);
  const kept = text === '' ? others : [...others, [name, cutText(text, storeLimits.draftCharsMax)] as const];
  try {
    localStorage.setItem(DRAFTS, JSON.stringify(kept.slice(-storeLimits.draftsMax)));
  } catch {
    // If storage is unavailable or full, the field works but its text does not survive a reload.
  }
}

const DRAFTS = 'fleetloom.drafts';

function readAll(): readonly (readonly [string, string])[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(DRAFTS) ?? '[]');
    return Array.isArray(known) ? known.filter(isDraft) : [];
  } catch {
    return [];
  }
}

function isDraft(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
