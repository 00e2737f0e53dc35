import { showHidden } from '@fleetloom/protocol/text';

/**
 * Agent text is hostile input: it may carry escape sequences that move the cursor, set the window's title or rewrite what was
 * printed before. Returns the text with nothing left but printable characters and LF (SPEC C5): colours are dropped, and every
 * other hidden or controlling character is shown by name, as in the dashboard.
 */
export function cleanText(text: string): string {
  return PLAIN.test(text) ? text : cleanInput(text.replace(COLOURS, ''));
}

/** The same on one line: runs of white space become one blank. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/**
 * For what a person approves: nothing is dropped, not even a colour, so that two inputs that differ look different. A tab
 * becomes two blanks.
 */
export function cleanInput(text: string): string {
  return PLAIN.test(text) ? text : showHidden(text.replaceAll('\r\n', '\n')).replaceAll('\t', '  ');
}

export function cleanInputLine(text: string): string {
  return cleanInput(text).replace(/\s+/g, ' ').trim();
}

const PLAIN = /^[\x20-\x7e\n]*$/;

/** Select Graphic Rendition: colours, bold and the like. */
// oxlint-disable-next-line no-control-regex -- it begins with the escape character
const COLOURS = /(?:\u001b\[|\u009b)[0-9;:]*m/g;
