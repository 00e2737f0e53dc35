import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { baseLimits } from '../../base/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { requestError } from '../../base/request-error.ts';
import { ClientGone } from '../request/client-gone.ts';

/** The response to a request, unless it is a stream. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object | null;
  /** The body as JSON text, if it is already serialised. */
  readonly text?: string;
}

/** Serialises a page of a list, item by item; other events are handled in between. */
export async function writePage(page: object): Promise<string> {
  if (!('data' in page && Array.isArray(page.data))) return JSON.stringify(page);
  const { data, ...rest } = page;
  const items: string[] = [];
  for (const item of data as readonly object[]) {
    items.push(JSON.stringify(item));
    await yieldToEventLoop();
  }
  const end = JSON.stringify(rest).slice(1);
  return `{"data":[${items.join(',')}]${end === '}' ? '' : ','}${end}`;
}

/** A response that is not JSON, such as the content of a file. It owns the content and closes it. */
export class ContentAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Readable;
  /** The length in bytes, if it is known. */
  readonly bytes: number | undefined;

  constructor(headers: Readonly<Record<string, string>>, content: Readable, bytes?: number) {
    this.headers = headers;
    this.content = content;
    this.bytes = bytes;
    // The content may fail before it is read.
    content.on('error', () => {});
  }
}

/**
 * Writes content as fast as the client reads it. Rejects if either side fails; the client then sees an incomplete response.
 * The first bytes are read before anything is sent, so that a file which cannot be read is an ordinary error
 * response. The content is closed in every case.
 */
export async function sendContent(response: ServerResponse, { headers, content, bytes }: ContentAnswer): Promise<void> {
  const length = bytes === undefined ? {} : { 'content-length': String(bytes) };
  try {
    if (response.req.method === 'HEAD') {
      response.writeHead(200, { ...headers, ...length }).end();
      return;
    }
    await beginReading(content, response);
    response.writeHead(200, { ...headers, ...length });
    await pipeline(content, (chunks) => exactly(bytes, chunks), response);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ERR_STREAM_DESTROYED') throw new ClientGone();
    if (code === 'ENOENT')
      throw requestError('unknown_id', 'the content was deleted in the meantime', { cause: error });
    throw error;
  } finally {
    content.destroy();
  }
}

/** Resolves when there is something to read, or at the end. Rejects if reading fails or the client has left. */
async function beginReading(content: Readable, response: ServerResponse): Promise<void> {
  if (response.destroyed) throw new ClientGone();
  await new Promise<void>((resolve, reject) => {
    const finish = (settle: () => void) => {
      content.off('readable', onReadable).off('error', onError).off('close', onClose);
      response.off('close', onGone);
      settle();
    };
    const onReadable = () => finish(resolve);
    const onError = (error: Error) => finish(() => reject(error));
    const onClose = () => finish(() => reject(new Error('the content was closed before it was read')));
    const onGone = () => finish(() => reject(new ClientGone()));
    content.on('readable', onReadable).on('error', onError).on('close', onClose);
    response.on('close', onGone);
  });
}

/**
 * Passes on exactly the announced number of bytes, or throws. With fewer the client would wait for the rest, and with more
 * it would read the surplus as the next response.
 */
async function* exactly(bytes: number | undefined, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (bytes !== undefined && count > bytes) break;
    yield chunk;
  }
  if (bytes !== undefined && count !== bytes) {
    throw new Error(`the content has ${count > bytes ? 'more' : 'fewer'} bytes than the ${bytes} that were announced`);
  }
}

/** Writes a whole response. The headers of every response, such as the request id, are set already. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const { status, headers, body } = answer;
  // A string and not bytes: Node then sends it together with the headers, which takes half the time.
  const text = answer.text ?? JSON.stringify(body);
  // Without `charset`: JSON is always UTF-8, and the hosted service does not send it.
  const basics = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers === undefined ? basics : { ...basics, ...headers });
  if (response.req.complete || response.shouldKeepAlive) response.end(text);
  else endWhenRead(response, text);
}

/**
 * Node closes a connection that is not kept as soon as its response has ended. Closing while the client sends resets the
 * connection, and the client loses the response. So the rest of the body is read first, for a limited time.
 */
function endWhenRead(response: ServerResponse, text: string): void {
  response.write(text);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, baseLimits.lingerMs);
  response.req.once('end', end).once('close', end).resume();
}
