import type { StreamJsonMessage } from './messages.ts';

/**
 * One line of NDJSON to a message, or null where it is blank, no JSON, or no JSON object. Never throws.
 * `StreamJsonReader` does the same for bytes and tells what was wrong.
 *
 * @example
 * for (const line of lines) {
 *   const message = parseLine(line);
 *   if (!message) continue;
 *   for (const event of translator.translate(message)) show(event);
 * }
 */
export function parseLine(line: string): StreamJsonMessage | null {
  try {
    const value: unknown = JSON.parse(line.charCodeAt(0) === 0xfeff ? line.slice(1) : line);
    return isMessage(value) ? value : null;
  } catch {
    return null; // blank or not JSON: the caller of this convenience asked for null, the reader reports it
  }
}

/** A message is any JSON object; what its fields hold is checked where they are read. */
export function isMessage(value: unknown): value is StreamJsonMessage {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
