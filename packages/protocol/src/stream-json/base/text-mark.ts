import { NAME_CHARS_MAX } from './limits.ts';

/**
 * A text reduced to its length and a 64-bit hash, so that a long text can be recognised again without being kept.
 * The hash runs over UTF-16 units from left to right: it can be continued when the text grows, and the mark of a prefix
 * can be compared with the mark that was stored.
 */
export interface TextMark {
  length: number;
  h1: number;
  h2: number;
}

/** The mark of a text. */
export function markText(text: string): TextMark {
  return extendMark({ length: 0, h1: 0x9e3779b9 | 0, h2: 0x85ebca6b | 0 }, text);
}

/** The mark of the marked text with `more` appended. */
export function extendMark(mark: TextMark, more: string): TextMark {
  let { h1, h2 } = mark;
  for (let i = 0; i < more.length; i++) {
    const unit = more.charCodeAt(i);
    h1 = Math.imul(h1 ^ unit, 0x5f356495);
    h2 = Math.imul(h2 ^ unit, 0x2c1b3c6d);
    // Without the rotation low bits never see high ones, and texts that differ early would collide.
    h1 = (h1 << 13) | (h1 >>> 19);
    h2 = (h2 << 17) | (h2 >>> 15);
  }
  return { length: mark.length + more.length, h1, h2 };
}

/** An id or a kind in a form that may be kept: a long one as its beginning and its mark. */
export function shortName(name: string): string {
  if (name.length <= NAME_CHARS_MAX) return name;
  const { h1, h2 } = markText(name);
  return `${beginning(name, 64)}~${h1}~${h2}`;
}

/**
 * The first characters, none of them cut in half, as a new string: V8 makes a slice a view of the long text, which would
 * keep all of it in memory.
 */
export function beginning(text: string, length: number): string {
  return text
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .split('')
    .join('');
}

/** Whether `text` begins with the marked text. */
export function startsWithMark(text: string, mark: TextMark): boolean {
  if (text.length < mark.length) return false;
  const start = markText(text.slice(0, mark.length));
  return start.h1 === mark.h1 && start.h2 === mark.h2;
}
