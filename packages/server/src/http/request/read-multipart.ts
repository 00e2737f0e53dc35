import { EventEmitter, on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Dicer } from '@fastify/busboy';
import { inBackground } from '../../base/in-background.ts';
import { requestError } from '../../base/request-error.ts';
import { httpLimits } from '../limits.ts';
import { ClientGone } from './client-gone.ts';

/** One part of a form. Content that is not read is skipped. */
export interface FormPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly mimeType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Yields the parts of a `multipart/form-data` body while they arrive. The next part is parsed when the content of the one before
 * has been read.
 */
export async function* readMultipart(request: IncomingMessage): AsyncGenerator<FormPart, void> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw requestError('unsupported_encoding', `the body is encoded with ${encoding}`);
  const form = new Form(boundaryOf(request));
  // The listeners must be added before the first byte is parsed.
  const parts = on(form, 'part', { close: ['end'] }) as AsyncIterableIterator<[FormPart, Readable]>;
  inBackground(feed(form, request), (error) => form.fail(error));
  try {
    for await (const [part, stream] of parts) {
      yield part;
      stream.resume();
    }
  } finally {
    form.close();
  }
}

/** Turns the bytes of a form into events: `part` for each part, then `end`, or `error`. */
class Form extends EventEmitter {
  readonly #parser: Dicer;
  #isOver = false;
  #failure: unknown;
  #parts = 0;
  #current: Readable | undefined;
  #onOver: () => void = () => {};
  readonly #over = new Promise<void>((resolve) => (this.#onOver = resolve));

  constructor(boundary: string) {
    super();
    // Errors after the reader has left are ignored.
    this.on('error', () => {});
    // The parser truncates longer headers without an error; `toPart` detects that they are too long.
    this.#parser = new Dicer({ boundary, maxHeaderSize: 2 * httpLimits.uploadHeaderBytesMax } as Dicer.Config);
    this.#parser.on('preamble', (stream: Readable) => this.#skipPreamble(stream));
    this.#parser.on('part', (stream: Readable) => this.#addPart(stream));
    this.#parser.on('error', () => this.fail(invalidForm('the body ends in the middle of a part')));
    this.#parser.on('finish', () => this.#end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when the reader is ready for more. */
  async write(chunk: Buffer): Promise<void> {
    const written = new Promise<void>((resolve) => this.#parser.write(chunk, () => resolve()));
    await Promise.race([written, this.#over]);
  }

  /** Ends the form: there are no more bytes. */
  finish(): void {
    this.#parser.end();
  }

  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#failure = error;
    this.close();
    this.emit('error', error);
  }

  close(): void {
    this.#isOver = true;
    this.#onOver();
    this.#current?.destroy();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.emit('end');
  }

  #skipPreamble(stream: Readable): void {
    let bytes = 0;
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      const { uploadPreambleBytesMax: bytesMax } = httpLimits;
      if (bytes > bytesMax) this.fail(invalidForm(`more than ${bytesMax} bytes are before the first part of the form`));
    });
  }

  #addPart(stream: Readable): void {
    const { uploadPartsMax } = httpLimits;
    this.#current = stream;
    let hasHeader = false;
    stream.on('error', () => {});
    stream.once('header', (header: PartHeader) => {
      hasHeader = true;
      stream.pause();
      if (this.#isOver) return;
      try {
        if (++this.#parts > uploadPartsMax) throw invalidForm(`the form has more than ${uploadPartsMax} parts`);
        this.emit('part', { ...readHeader(header), content: this.#contentOf(stream) } satisfies FormPart, stream);
      } catch (error) {
        this.fail(error);
      }
    });
    stream.once('end', () => hasHeader || this.fail(invalidForm('a part has no headers')));
    // A part without headers has no content either, and its end is only noticed while it flows.
    stream.resume();
  }

  async *#contentOf(stream: Readable): AsyncGenerator<Uint8Array, void> {
    try {
      yield* stream;
    } catch (error) {
      throw this.#failure ?? error;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}

async function feed(form: Form, request: IncomingMessage): Promise<void> {
  let chunks = 0;
  try {
    // Leaving early must not end the connection: the response is sent on it.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        await form.write(bytes.subarray(at, at + PIECE_BYTES));
        if (form.isOver) return;
      }
      // A body in chunks of one byte would otherwise delay other requests.
      if (++chunks % CHUNKS_AT_ONCE === 0) await nextTick();
    }
  } catch {
    throw new ClientGone();
  }
  form.finish();
}

/** Bytes parsed at a time: thousands of empty parts fit into a whole chunk, and the parser does not stop in the middle of a write. */
const PIECE_BYTES = 16 * 1024;

const CHUNKS_AT_ONCE = 16;

function boundaryOf({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? '';
  const found = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(type);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return boundary;
  throw invalidForm('the body is not multipart/form-data with a boundary');
}

/** Headers as the parser emits them: values by name in lower case, one character for each byte. */
type PartHeader = Readonly<Record<string, readonly string[] | undefined>>;

function readHeader(header: PartHeader): Omit<FormPart, 'content'> {
  const lines = Object.entries(header).flatMap(([name, values = []]) => values.map((value) => `${name}: ${value}\r\n`));
  if (lines.join('').length > httpLimits.uploadHeaderBytesMax) throw invalidForm('the headers of a part are too long');
  const valueOf = (name: string) => {
    const value = header[name]?.[0];
    return value === undefined ? undefined : Buffer.from(value, 'latin1').toString().trim();
  };
  const disposition = valueOf('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (name === undefined) throw invalidForm('a part has no name');
  return { name, filename: parameterOf(disposition, 'filename'), mimeType: valueOf('content-type') };
}

/** Reads a parameter that is quoted as by browsers and Node: only quotes and line breaks are percent-encoded. */
function parameterOf(disposition: string, name: keyof typeof PARAMETERS): string | undefined {
  const found = PARAMETERS[name].exec(disposition)?.[1];
  return found?.replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll(/%0D/gi, '\r').replaceAll(/%0A/gi, '\n');
}

const PARAMETERS = {
  name: /;\s*name="((?:[^"\\]|\\.)*)"/i,
  filename: /;\s*filename="((?:[^"\\]|\\.)*)"/i,
};

function invalidForm(problem: string) {
  return requestError('invalid_request', problem, { advice: 'send the file as the part `file` of a form' });
}
