import { showHidden } from './show-hidden.ts';

/**
 * Text from agents as a user interface may show it. CRLF becomes LF; nothing else is dropped, not even a colour: every
 * character that hides, turns or moves text is shown by its name, so that two texts that differ look different.
 */
export function cleanText(text: string): string {
  return showHidden(text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text);
}

/** As {@link cleanText}, on one line: each run of white space becomes one blank. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}
