/**
 * A text as a reader would see it: without escapes of HTML, JSON and URLs, also escaped several times, without tags and marks of
 * Markdown, and with plain letters instead of their wide, bold or circled forms. Small letters only; takes linear time.
 */
export function revealText(text: string): string {
  let revealed = text;
  for (let round = 0; round < ROUNDS_MAX && MAY_BE_ESCAPED.test(revealed); round++) {
    const before = revealed;
    revealed = revealed.replaceAll(URL_ESCAPES, fromUrl).replaceAll(ESCAPES, fromEscape);
    if (revealed === before) break;
  }
  const plain = revealed.replaceAll(TAG, toShown).replaceAll(MARKS, '');
  // oxlint-disable-next-line no-control-regex
  return /^[\u0000-\u007f]*$/.test(plain)
    ? plain
    : plain
        .normalize('NFKC')
        .replaceAll(/\p{Cf}/gu, '')
        .toLowerCase();
}

const ROUNDS_MAX = 3;
const MAY_BE_ESCAPED = /[&\\%]/;

const URL_ESCAPES = /(?:%[0-9a-f]{2})+/gi;

function fromUrl(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}

const ESCAPES =
  /\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\([nrtbf])|&#x([0-9a-f]{1,6});?|&#([0-9]{1,7});?|&(amp|sol|bsol|lt|gt|nbsp|quot|apos);/gi;

function fromEscape(escape: string, ...groups: readonly (string | undefined)[]): string {
  const [unit, point, byte, blank, hex, decimal, name] = groups;
  if (blank !== undefined) return blank.toLowerCase() === 'n' ? '\n' : ' ';
  if (name !== undefined) return NAMED[name.toLowerCase()]!;
  const code = decimal === undefined ? Number.parseInt(unit ?? point ?? byte ?? hex!, 16) : Number(decimal);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : escape;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  sol: '/',
  bsol: '\\',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  quot: '"',
  apos: "'",
};

/** Emphasis and code of Markdown, and backslashes in front of other characters. */
const MARKS = /[*_~`\\]+/g;

/** A tag of HTML in small letters, with its name. */
export const TAG = /<[!/]?([a-z-]+)[^<>]{0,200}>/g;

/** What stands for a tag: most tags begin another line, those within a sentence do not. */
export function toShown(_: string, tag: string): string {
  return INLINE_TAGS.has(tag) || tag.startsWith('-') ? '' : '\n';
}

const INLINE_TAGS = new Set(
  'a abbr b cite code del em font i ins kbd mark q s small span strong sub sup tt u var'.split(' '),
);
