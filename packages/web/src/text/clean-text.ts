import { showHidden } from '@fleetloom/protocol/text';

export { hasHidden } from '@fleetloom/protocol/text';

/** Text from agents as it is put into the page: what turns, hides or moves text is shown by name. */
export function cleanText(text: string): string {
  return showHidden(text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text);
}

/** On one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ');
}
