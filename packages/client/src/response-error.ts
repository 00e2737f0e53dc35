import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from './limits.ts';

/** The server answered, but not with events. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  /** Of HTTP. One of 2xx means that the answer was something else than an event stream. */
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Throws where the response is no event stream, with the beginning of what it is instead. */
export async function checkResponse(response: Response): Promise<void> {
  const { ok, status, statusText, headers } = response;
  const type = headers.get('content-type');
  if (ok && isEventStream(type)) return;
  const { text, cause } = await readExcerpt(response.body);
  const answer = `the server answered ${[status, statusText].join(' ').trim()}`;
  const problem = ok ? `${answer} with ${type ?? 'no content type'}, not text/event-stream: check the address` : answer;
  throw new ResponseError(text === '' ? problem : `${problem}: ${text}`, status, cause === undefined ? {} : { cause });
}

function isEventStream(type: string | null): boolean {
  return type !== null && /^text\/event-stream\s*(?:;|$)/i.test(type);
}

/** The beginning of a body, and what cut it off if something did. The rest is neither read nor waited for. */
async function readExcerpt(body: Response['body']): Promise<{ text: string; cause?: unknown }> {
  if (body === null) return { text: '' };
  const utf8 = new TextDecoder();
  const reader = body.getReader();
  // Cancelling ends a read that waits, as if the body were over.
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
