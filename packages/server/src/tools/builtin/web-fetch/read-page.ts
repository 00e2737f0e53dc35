import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createBrotliDecompress, createInflate, createUnzip } from 'node:zlib';
import { ByteCollector } from '../../../base/json/byte-collector.ts';
import { inSlices } from '../../../base/in-slices.ts';
import { ToolFailure } from '../../tool-failure.ts';

export interface PageText {
  readonly text: string;
  readonly isHtml: boolean;
  /** Whether the page was truncated. */
  readonly isCut: boolean;
}

/** Reads a text page. The type is checked before the body is read, which may be a film. */
export async function readPage(response: IncomingMessage, bytesMax: number): Promise<PageText> {
  const type = readType(response.headers['content-type'] ?? '');
  if (!isReadable(type.name)) {
    throw new ToolFailure(`the page is of type ${type.name}, and only text, HTML, JSON and XML can be fetched`);
  }
  const { bytes, isCut } = await readBytes(unpack(response), bytesMax);
  if (bytes.includes(0) && findByteOrder(bytes) === undefined) throw new ToolFailure('the page is binary, not text');
  const isHtml = type.name === 'text/html' || type.name === 'application/xhtml+xml';
  const charset = type.charset ?? (isHtml ? findCharset(bytes) : undefined);
  return { text: await inSlices(decode(bytes, charset)), isHtml, isCut };
}

function readType(header: string): { name: string; charset: string | undefined } {
  const [name = '', ...parameters] = header.split(';');
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1]);
  return { name: name.trim().toLowerCase(), charset: charset.find((value) => value !== undefined) };
}

/** Whether a type is text. Without a type the bytes decide. */
function isReadable(type: string): boolean {
  return type === '' || type.startsWith('text/') || TEXT_TYPES.test(type);
}

const TEXT_TYPES =
  /^application\/(?:(?:[a-z0-9.-]+\+)?(?:json|xml|yaml)|x-yaml|toml|javascript|x-javascript|ecmascript|x-ndjson|x-sh|sql|graphql)$/;

function unpack(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const unpacker = UNPACKERS[encoding]?.();
  if (unpacker === undefined) {
    if (encoding === '' || encoding === 'identity') return response;
    throw new ToolFailure(
      `the page has the content-encoding ${encoding}, and only gzip, deflate and br can be decoded`,
    );
  }
  response.on('error', (error) => unpacker.destroy(error));
  // The result of `pipe` has the common type of Node's zlib streams.
  return response.pipe(unpacker);
}

const UNPACKERS: { readonly [encoding: string]: (() => Transform) | undefined } = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Counts decompressed bytes: a small page can decompress to any size. */
async function readBytes(stream: Readable, bytesMax: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const collector = new ByteCollector(bytesMax);
  let isCut = false;
  for await (const chunk of stream) {
    // Streams without an encoding emit buffers.
    isCut = !collector.add(chunk as Buffer);
    if (isCut) break;
    // Yields, because Node could emit thousands of one-byte chunks within one iteration of the event loop.
    await nextTick();
  }
  return { bytes: collector.bytes(), isCut };
}

/** Decodes a page piece by piece: for some charsets the whole page takes a tenth of a second. */
function* decode(bytes: Buffer, charset: string | undefined): Generator<void, string> {
  const label = findByteOrder(bytes) ?? charset ?? 'utf-8';
  const decoder = openDecoder(label);
  const isWestern = WESTERN.test(label);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const text = decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true });
    pieces.push(isWestern ? text.replace(C1, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]!) : text);
    yield;
  }
  return [...pieces, decoder.decode()].join('');
}

const PIECE_BYTES = 64 * 1024;

function openDecoder(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    // The charset is unknown. Most pages are UTF-8, whatever they declare.
    return new TextDecoder();
  }
}

/** Charsets that mean windows-1252 on the web. Node 20 decodes it as if it were ISO 8859-1. */
const WESTERN = /^(?:iso-?8859-1|latin1|l1|us-ascii|ascii|windows-1252|cp1252|x-cp1252)$/i;
const C1 = /[\u0080-\u009f]/g;
const WINDOWS_1252 = Array.from('€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ');

function findByteOrder(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** `<meta charset=…>`, which has to be near the beginning. */
function findCharset(bytes: Buffer): string | undefined {
  return /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([a-z0-9_-]{1,40})/i.exec(bytes.toString('latin1', 0, 1_024))?.[1];
}
