import { record } from '../base/check.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';

/**
 * Parses one line of NDJSON to a message; null if it is blank or not a JSON object. Never throws.
 * `StreamJsonReader` does the same for bytes and reports the problem.
 *
 * @example
 * for (const line of lines) {
 *   const message = parseLine(line);
 *   if (!message) continue;
 *   for (const event of translator.translate(message)) show(event);
 * }
 */
export function parseLine(line: string): StreamJsonMessage | null {
  const message = parseJson(withoutBom(line));
  return typeof message === 'object' ? message : null;
}

/** The line without a leading byte order mark. */
export function withoutBom(line: string): string {
  return line.replace(/^\ufeff/, '');
}

/** The message, or the problem with the line. A message is any JSON object; its fields are checked where they are read. */
export function parseJson(line: string): StreamJsonMessage | string {
  try {
    // The cast: all fields of `StreamJsonMessage` are optional, since the program that wrote the line does not guarantee any.
    return (record(JSON.parse(line)) as StreamJsonMessage | undefined) ?? 'JSON, but not an object';
  } catch (error) {
    return String(error);
  }
}
