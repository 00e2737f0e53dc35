/**
 * Agents repeat what strangers write. Characters that change the direction of text, take no space or control a terminal are
 * replaced by their names in ⟦brackets⟧, so that a person who approves a command sees every character of it.
 *
 * Tabs and line feeds stay, and so do the joiners inside an emoji.
 *
 * @example
 * showHidden('rm \u202egpj.exe'); // 'rm ⟦RLO⟧gpj.exe'
 */
export function showHidden(text: string): string {
  if (PLAIN.test(text) || !HIDDEN.test(text)) return text;
  return text.replace(HIDDEN_ALL, (character, offset: number) =>
    isPartOfEmoji(text, character, offset) ? character : `⟦${nameOf(character)}⟧`,
  );
}

/** Whether {@link showHidden} would name something in it. */
export function hasHidden(text: string): boolean {
  return showHidden(text) !== text;
}

const PLAIN = /^[\t\n\x20-\x7e]*$/;

/**
 * Controls except tab and line feed, everything that Unicode lets a renderer ignore (zero-width and bidirectional formatting,
 * tags, fillers, variation selectors), other line separators, annotations and halves of surrogate pairs.
 */
const CLASS =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufff9-\\ufffb\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Surrogate}]';
const HIDDEN = new RegExp(CLASS, 'u');
const HIDDEN_ALL = new RegExp(CLASS, 'gu');

/** A joiner between two pictures, or the one selector that makes a picture of a character. */
function isPartOfEmoji(text: string, character: string, offset: number): boolean {
  if (character === '\u200d')
    return (
      JOINED_BEFORE.test(text.slice(Math.max(0, offset - 4), offset)) &&
      JOINED_AFTER.test(text.slice(offset + 1, offset + 3))
    );
  return character === '\ufe0f' && SELECTED.test(text.slice(Math.max(0, offset - 2), offset));
}

const JOINED_BEFORE = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u;
const JOINED_AFTER = /^\p{Extended_Pictographic}/u;
const SELECTED = /[\p{Extended_Pictographic}#*0-9]$/u;

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

const names: Readonly<Record<number, string>> = {
  0x0d: 'CR',
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
