import { cleanText } from '@fleetloom/protocol/text';

/**
 * A path on one line. As in git, a name with control characters or quotation marks is quoted: `"a\\nb"`. Other
 * characters that a terminal would interpret are removed.
 */
export function quotePath(path: string): string {
  if (!SPECIAL.test(path)) return cleanText(path);
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${cleanText(escaped.replaceAll(CONTROL, toEscape))}"`;
}

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/g;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const SPECIAL = /[\u0000-\u001f\u007f"]/;

const LETTERS: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function toEscape(character: string): string {
  return LETTERS[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
