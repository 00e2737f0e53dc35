/**
 * What agents say is written by strangers. Characters that turn the direction of text, hide, or move the cursor are shown by
 * their names, so that a command reads the way it runs.
 */
export function cleanText(text: string): string {
  return HIDDEN.test(text) ? text.replace(HIDDEN_ALL, (character) => `⟦${nameOf(character)}⟧`) : text;
}

/** On one line. */
export function cleanLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' '));
}

/** Whether something in it would not be seen. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/** Controls except tab and line ends, zero-width and bidirectional formatting characters, tags, the byte order mark. */
const CLASS =
  '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]|\\u{e0001}|[\\u{e0020}-\\u{e007f}]';
const HIDDEN = new RegExp(CLASS, 'u');
const HIDDEN_ALL = new RegExp(CLASS, 'gu');

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

const names: Readonly<Record<number, string>> = {
  0x1b: 'ESC',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
};
