import { fromJson, text, toJson } from '../base/check.ts';

/**
 * The text of a `tool_result`'s (or message's) `content`, whatever its shape: a string as it is, null and undefined as '',
 * the text parts of an array joined by newlines, nested results included. Images and other parts are skipped.
 *
 * Never throws. A value that is not content becomes its JSON text, so that nothing is silently empty.
 */
export function extractContent(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: string[] = [];
  return collectText(content, parts, 0) ? parts.join('\n') : toText(content);
}

/**
 * The text of a `result` that older documentation describes as JSON inside JSON: a string that is the JSON text of a string
 * is decoded once, any other string is returned as it is, null as ''. Never throws.
 *
 * Today's programs write plain text, and an answer may itself be a quoted string: use this for old recordings only.
 */
export function parseDoubleEncoded(value: unknown): string {
  if (typeof value !== 'string') return toText(value);
  return text(fromJson(value)) ?? value;
}

/** Results are nested two deep in practice; the number only keeps a hostile line from exhausting the stack. */
const NESTING_MAX = 100;

/** False if the value is not content: neither text, nor a list of parts, nor an object that holds one. */
function collectText(value: unknown, parts: string[], depth: number): boolean {
  if (typeof value === 'string') return parts.push(value) > 0;
  if (typeof value !== 'object' || value === null) return false;
  if (depth >= NESTING_MAX) return true;
  if (Array.isArray(value)) {
    for (const part of value) collectText(part, parts, depth + 1);
    return true;
  }
  const { type, text, content } = value as { type?: unknown; text?: unknown; content?: unknown };
  if (typeof text === 'string' && (type === 'text' || type === undefined)) return parts.push(text) > 0;
  if (Array.isArray(content) || typeof content === 'string') return collectText(content, parts, depth + 1);
  // Known kinds of part without text (an image, an empty result) count as content; an object without a type does not.
  return typeof type === 'string';
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  // oxlint-disable-next-line typescript/no-base-to-string -- a value that is not an object has a text of its own
  return typeof value === 'object' ? toJson(value) : String(value);
}
