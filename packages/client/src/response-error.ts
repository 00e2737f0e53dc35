import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from './limits.ts';

/** The server responded, but not with an event stream. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  /** The HTTP status. 2xx: the response has another content type than an event stream. */
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Throws if the response is not an event stream, with the beginning of its body. */
export async function checkResponse(response: Response): Promise<void> {
  const { ok, status, statusText, headers } = response;
  const type = headers.get('content-type');
  if (ok && isEventStream(type)) return;
  const answer = `the server answered ${[status, statusText].join(' ').trim()}`;
  const problem = ok ? `${answer} with ${type ?? 'no content type'}, not text/event-stream: check the address` : answer;
  throw await toResponseError(response, problem);
}

/** The error of a response, with the beginning of its body. */
export async function toResponseError(
  { status, statusText, body }: Response,
  problem = `the server answered ${[status, statusText].join(' ').trim()}`,
): Promise<ResponseError> {
  const { text, cause } = await readExcerpt(body);
  return new ResponseError(text === '' ? problem : `${problem}: ${text}`, status, cause === undefined ? {} : { cause });
}

function isEventStream(type: string | null): boolean {
  return type !== null && /^text\/event-stream\s*(?:;|$)/i.test(type);
}

/** The beginning of a body, and the error that cut it off, if any. The rest is not read. */
async function readExcerpt(body: Response['body']): Promise<{ text: string; cause?: unknown }> {
  if (body === null) return { text: '' };
  const utf8 = new TextDecoder();
  const reader = body.getReader();
  // Cancelling ends a pending read, as if the body were over.
  const timer = setTimeout(() => reader.cancel().catch(() => undefined), limits.excerptWaitMs);
  let text = '';
  try {
    while (text.length < limits.excerptCharsMax) {
      const { done, value } = await reader.read();
      if (done) break;
      text += utf8.decode(value, { stream: true });
    }
    await reader.cancel();
    return { text: cutText(text, limits.excerptCharsMax).trim() };
  } catch (cause) {
    return { text: text.trim(), cause };
  } finally {
    clearTimeout(timer);
  }
}
