/**
 * Agent text is hostile input: it may contain escape sequences that move the cursor, set the window's title or rewrite
 * what was printed before. Returns the text with nothing but printable characters and LF (SPEC C5, F86). A tab becomes
 * two blanks, because its width depends on the column.
 */
export function cleanText(text: string): string {
  return clean(text).replaceAll('\t', '  ');
}
import { cleanText as clean } from '@fleetloom/protocol/text';
