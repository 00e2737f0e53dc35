/** The beginning of a Markdown text on one line, without the signs that only a drawn text makes something of. */
export function toPlain(text: string): string {
  return text
    .replace(/```\w*/g, ' ')
    .replace(/^[ \t]*(?:#{1,6}|[-*>]|\d+\.)[ \t]+/gm, '')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
