import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ClientGone } from './request/read-body.ts';

/** What a request gets, unless it gets a stream. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object | null;
}

/** An answer that is no JSON, such as the content of a file. */
export class ContentAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Readable;

  constructor(headers: Readonly<Record<string, string>>, content: Readable) {
    this.headers = headers;
    this.content = content;
  }
}

/** Writes content as fast as it is read. Rejects when one of both sides breaks; a client that is left sees it break off. */
export async function sendContent(response: ServerResponse, { headers, content }: ContentAnswer): Promise<void> {
  response.writeHead(200, headers);
  try {
    await pipeline(content, response);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    throw isGone ? new ClientGone() : error;
  }
}

/** Writes a whole answer. The request id and what else is on every response was set before. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  // A text and not bytes: Node then sends it together with the headers, which halves the time that it takes.
  const text = JSON.stringify(body);
  // `charset` is left out: JSON has only one, and the real service does not send it.
  const basics = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers === undefined ? basics : { ...basics, ...headers });
  response.end(text);
}
