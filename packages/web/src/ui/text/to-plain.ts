/** A Markdown text on one line, without its markup. */
export function toPlain(text: string): string {
  return text
    .replace(/```\w*/g, ' ')
    .replace(/^[ \t]*(?:#{1,6}|[-*>]|\d+\.)[ \t]+/gm, '')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
