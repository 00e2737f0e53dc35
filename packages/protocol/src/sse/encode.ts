/** The fields of one event. */
export interface SseFields {
  data: string;
  event?: string;
  id?: string;
  retry?: number;
}

/**
 * The text of one event, blank line included: `encodeEvent({ event: 'ping', data: '{}' })` is `event: ping\ndata: {}\n\n`.
 *
 * CR and CRLF in the data arrive as LF, because SSE does not distinguish line endings.
 */
export function encodeEvent(fields: SseFields): string {
  const { event, data, id, retry } = fields;
  if (typeof data !== 'string') {
    throw new TypeError(`SSE data must be a string, got ${typeof data}: pass JSON.stringify(value)`);
  }
  let text = '';
  if (event !== undefined) text += `event: ${oneLine('event', event)}\n`;
  if (id !== undefined) text += `id: ${oneLine('id', id)}\n`;
  if (retry !== undefined) text += `retry: ${wholeMs(retry)}\n`;
  return `${text}${prefixed('data: ', data)}\n`;
}

/**
 * The text of a comment, for heartbeats: `encodeComment('ping')` is `: ping\n\n`.
 *
 * The blank line makes readers that wait for one (the official SDK) process the comment at once; it does not dispatch an event.
 */
export function encodeComment(text: string): string {
  return `${prefixed(': ', text)}\n`;
}

// A newline would end the field and let the rest pose as another one; a reader silently drops an id with NUL.
function oneLine(name: string, value: string): string {
  if (typeof value !== 'string' || /[\r\n\0]/.test(value)) {
    throw new TypeError(`SSE ${name} must be a string without newline and NUL, got ${JSON.stringify(value)}`);
  }
  return value;
}

function wholeMs(retry: number): number {
  if (!Number.isSafeInteger(retry) || retry < 0) {
    throw new TypeError(`SSE retry must be a whole number of milliseconds, got ${String(retry)}`);
  }
  return retry;
}

// Always with the space: without it a reader would eat a leading space of the value.
function prefixed(prefix: string, text: string): string {
  if (!/[\r\n]/.test(text)) return `${prefix}${text}\n`;
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `${prefix}${line}\n`)
    .join('');
}
