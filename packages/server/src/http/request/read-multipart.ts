import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';
import { ClientGone } from './read-body.ts';

/** One part of a form. What of its content nobody reads is passed over. */
export interface FormPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly mimeType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The parts of a `multipart/form-data` body as they arrive. Nothing is kept but what may be the beginning of a boundary. */
export async function* readMultipart(request: IncomingMessage): AsyncGenerator<FormPart, void> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw doorError('unsupported_encoding', `the body is encoded with ${encoding}`);
  const delimiter = Buffer.from(`\r\n--${boundaryOf(request)}`);
  const bytes = new ByteSource(request);
  // What stands before the first boundary is for clients of last century; the boundary has no line before it.
  bytes.unread(Buffer.from('\r\n'));
  await drain(bytes.until(delimiter), limits.uploadPreambleBytesMax);
  for (let parts = 0; ; parts++) {
    const next = (await bytes.take(2)).toString('latin1');
    if (next === '--') return;
    if (parts >= limits.uploadPartsMax) throw broken(`the form has more than ${limits.uploadPartsMax} parts`);
    if (next !== '\r\n') throw broken('a boundary is followed by something else than a line');
    const headers = await readHeaders(bytes);
    const content = bytes.until(delimiter);
    yield { ...headers, content };
    await drain(content, limits.uploadBytesMax);
  }
}

function boundaryOf({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? '';
  const found = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(type);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return boundary;
  throw broken('the body is no multipart/form-data');
}

async function readHeaders(bytes: ByteSource): Promise<Omit<FormPart, 'content'>> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  // The line before them was taken, so that a part without headers begins with the empty line at once.
  bytes.unread(Buffer.from('\r\n'));
  for await (const chunk of bytes.until(Buffer.from('\r\n\r\n'))) {
    count += chunk.length;
    if (count > limits.uploadHeaderBytesMax) throw broken('the headers of a part are too long');
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\r\n');
  const valueOf = (name: string) => {
    const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`));
    return line?.slice(name.length + 1).trim();
  };
  const disposition = valueOf('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (name === undefined) throw broken('a part has no name');
  return { name, filename: parameterOf(disposition, 'filename'), mimeType: valueOf('content-type') };
}

/** Quoted as browsers and Node do it: only quotes and line breaks are escaped, as percent signs. */
function parameterOf(disposition: string, name: keyof typeof PARAMETERS): string | undefined {
  const found = PARAMETERS[name].exec(disposition)?.[1];
  return found?.replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll(/%0D/gi, '\r').replaceAll(/%0A/gi, '\n');
}

const PARAMETERS = {
  name: /;\s*name="((?:[^"\\]|\\.)*)"/i,
  filename: /;\s*filename="((?:[^"\\]|\\.)*)"/i,
};

/** Skips content that is not read. */
async function drain(content: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw broken(`the body has more than ${bytesMax} bytes where nothing is expected`);
  }
}

/** The bytes of a request, which can be given back. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #count = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(request: IncomingMessage) {
    // Leaving early must not end the connection: the answer goes out on it.
    this.#chunks = request.iterator({ destroyOnReturn: false });
  }

  unread(bytes: Buffer): void {
    this.#rest = Buffer.concat([bytes, this.#rest]);
  }

  async take(count: number): Promise<Buffer> {
    while (this.#rest.length < count) await this.#more();
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  /** Everything up to the delimiter, which is taken too. Asked again afterwards it gives nothing. */
  until(delimiter: Buffer): AsyncIterable<Uint8Array> {
    let isOver = false;
    const next = async (): Promise<Uint8Array | undefined> => {
      while (!isOver) {
        const at = this.#rest.indexOf(delimiter);
        // What is left may be the beginning of the delimiter.
        const end = at === -1 ? Math.max(0, this.#rest.length - delimiter.length + 1) : at;
        const content = this.#rest.subarray(0, end);
        isOver = at !== -1;
        this.#rest = this.#rest.subarray(isOver ? at + delimiter.length : end);
        if (content.length > 0) return content;
        if (!isOver) await this.#more();
      }
      return undefined;
    };
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value = await next();
          return value === undefined ? { done: true, value } : { done: false, value };
        },
      }),
    };
  }

  async #more(): Promise<void> {
    // A body in chunks of one byte would otherwise hold up other requests.
    if (++this.#count % CHUNKS_AT_ONCE === 0) await nextTick();
    const step = await this.#chunks.next().catch(() => {
      throw new ClientGone();
    });
    if (step.done === true) throw broken('the body ends in the middle of a part');
    this.#rest = this.#rest.length === 0 ? step.value : Buffer.concat([this.#rest, step.value]);
  }
}

const CHUNKS_AT_ONCE = 16;

function broken(problem: string) {
  return doorError('invalid_request', problem, { advice: 'send the file as a form does' });
}
