import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ByteCollector } from '../../base/byte-collector.ts';
import { decodeUtf8 } from '../../base/decode-utf8.ts';
import { inSlices } from '../../base/in-slices.ts';
import { JsonGauge } from '../../base/json-gauge.ts';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';
import { type HeldBody, holdBody } from './held-bodies.ts';

export interface ReadBodyOptions {
  /** Counts it, of a key. Whoever gives it releases it. */
  readonly held?: HeldBody | undefined;
  /** It is measured while it arrives: what would take long to parse is not parsed. */
  readonly isJson?: boolean | undefined;
}

/** The bytes of a body. What is too large is refused as soon as that is known, and not read to its end. */
export async function readBody(
  request: IncomingMessage,
  bytesMax: number = limits.bodyBytesMax,
  { held: given, isJson = false }: ReadBodyOptions = {},
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw doorError('unsupported_encoding', `the body is encoded with ${encoding}`);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const collector = new ByteCollector(bytesMax);
  const gauge = isJson ? new JsonGauge() : undefined;
  const held = given ?? holdBody('');
  const problem = held.admit(announced);
  if (problem !== undefined) throw problem;
  let chunks = 0;
  let isOver = false;
  return await new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      const problem = collector.add(chunk) ? (held.add(chunk.length) ?? findProblem(gauge, chunk)) : tooLarge(bytesMax);
      if (problem !== undefined) return finish(() => reject(problem));
      // Of a body in chunks of one byte Node would emit thousands within one iteration of the event loop.
      if (++chunks % CHUNKS_AT_ONCE !== 0) return;
      request.pause();
      setImmediate(() => isOver || request.resume());
    };
    const onEnd = () => finish(() => resolve(collector.bytes()));
    // Nobody is left to be answered, but whoever waits here has to go on.
    const onGone = () => finish(() => reject(new ClientGone()));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);

    function finish(settle: () => void): void {
      isOver = true;
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // An error that comes later would have nobody to hear it, and end the process.
      request.on('error', () => {});
      if (given === undefined) held.release();
      settle();
    }
  });
}

const CHUNKS_AT_ONCE = 256;

function findProblem(gauge: JsonGauge | undefined, chunk: Uint8Array): Error | undefined {
  if (gauge === undefined) return undefined;
  const { bodyValuesMax, bodyDepthMax } = limits;
  gauge.push(chunk);
  if (gauge.depth > bodyDepthMax) return tooComplex(`the body is nested more than ${bodyDepthMax} levels deep`);
  return gauge.values > bodyValuesMax ? tooComplex(`the body has more than ${bodyValuesMax} values`) : undefined;
}

/** Known before it is parsed: parsing and checking it would hold up the whole server. */
function tooComplex(problem: string): Error {
  return doorError('invalid_request', problem, { advice: 'send less at a time, or send it as text or as a file' });
}

/** The client went away before it had sent everything. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What the body says. An empty one counts as an empty object, whatever its type: `archive` is sent like that. */
export async function parseBody(body: Buffer): Promise<unknown> {
  if (body.length === 0) return {};
  const value = await parse(body);
  await checkNames(body, value);
  return value;
}

async function parse(body: Uint8Array): Promise<unknown> {
  try {
    if (body.length <= PIECE_BYTES) return JSON.parse(utf8.decode(body));
    const text = await inSlices(decodeUtf8(body));
    await nextTick();
    return JSON.parse(text);
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? 'the body is no JSON' : 'the body is no UTF-8';
    // Where it breaks is not said: Node's words for it differ between versions and repeat what was sent.
    throw doorError('invalid_json', problem, { cause });
  }
}

/** No object can be given a field of this name, so it would be lost on the way without a word. */
async function checkNames(body: Buffer, value: unknown): Promise<void> {
  for (let level = (await isSuspect(body)) ? [value] : []; level.length > 0; ) {
    const objects = level.filter((each): each is object => typeof each === 'object' && each !== null);
    if (objects.some((each) => Object.hasOwn(each, PROTO))) {
      throw doorError('invalid_request', `the body has a field ${PROTO}`, { advice: 'give it another name' });
    }
    level = objects.flatMap((each): unknown[] => Object.values(each));
  }
}

/** Each search goes through the whole body, so other requests get their turn in between. */
async function isSuspect(body: Buffer): Promise<boolean> {
  for (const spelling of [PROTO, '\\u005f', '\\u005F']) {
    if (body.length > PIECE_BYTES) await nextTick();
    if (body.includes(spelling)) return true;
  }
  return false;
}

const PROTO = '__proto__';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const PIECE_BYTES = 512 * 1024;

function tooLarge(bytesMax: number) {
  return doorError('body_too_large', `the body has more than the ${bytesMax} bytes that are allowed`);
}
