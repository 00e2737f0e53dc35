import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ByteCollector } from '../../base/json/byte-collector.ts';
import { decodeUtf8 } from '../../base/json/decode-utf8.ts';
import { inSlices } from '../../base/in-slices.ts';
import { JsonGauge } from '../../base/json/json-gauge.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { requestError } from '../../base/request-error.ts';
import { ClientGone } from './client-gone.ts';
import { type HeldBody, holdBody } from './held-bodies.ts';

/** How a body is counted and checked while it arrives. */
export interface ReadBodyOptions {
  /** Counts the bytes of the body for a key. The caller releases it. */
  readonly held?: HeldBody | undefined;
  /** Whether values and depth are counted while the body arrives: a body that would take long to parse is rejected. */
  readonly isJson?: boolean | undefined;
}

/** Reads a body. One that is too large is rejected as soon as that is known, without reading the rest. */
export async function readBody(
  request: IncomingMessage,
  bytesMax: number = baseLimits.bodyBytesMax,
  { held: given, isJson = false }: ReadBodyOptions = {},
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw requestError('unsupported_encoding', `the body is encoded with ${encoding}`);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const collector = new ByteCollector(bytesMax);
  const gauge = isJson ? new JsonGauge() : undefined;
  const held = given ?? holdBody('');
  const problem = held.admit(announced);
  if (problem !== undefined) throw problem;
  return await new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      const problem = collector.add(chunk) ? (held.add(chunk.length) ?? findProblem(gauge, chunk)) : tooLarge(bytesMax);
      if (problem !== undefined) finish(() => reject(problem));
    };
    const onEnd = () => finish(() => resolve(collector.bytes()));
    // The client has left, but the caller that waits for the body must continue.
    const onGone = () => finish(() => reject(new ClientGone()));
    // Not paused in between: Node would nevertheless parse the received bytes, and keep up to 27,000 chunks of one byte, each with
    // a buffer of its own. In one iteration of the event loop it emits all chunks that it has read, which are some 20,000.
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);

    function finish(settle: () => void): void {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // A later error without a listener would end the process.
      request.on('error', () => {});
      if (given === undefined) held.release();
      settle();
    }
  });
}

function findProblem(gauge: JsonGauge | undefined, chunk: Uint8Array): Error | undefined {
  if (gauge === undefined) return undefined;
  const { bodyValuesMax, bodyDepthMax } = baseLimits;
  gauge.push(chunk);
  if (gauge.depth > bodyDepthMax) return tooComplex(`the body is nested more than ${bodyDepthMax} levels deep`);
  return gauge.values > bodyValuesMax ? tooComplex(`the body has more than ${bodyValuesMax} values`) : undefined;
}

/** The error for a body that is rejected before it is parsed: parsing and checking it would block the event loop. */
function tooComplex(problem: string): Error {
  return requestError('invalid_request', problem, {
    advice: 'send less at a time, or send the data as text or as a file',
  });
}

/** Parses a body as JSON. An empty body is an empty object, whatever its type: clients send `archive` like that. */
export async function parseBody(body: Buffer): Promise<unknown> {
  if (body.length === 0) return {};
  const value = await parse(body);
  // Thousands of values take a while to parse, and as long to be checked.
  if (body.length > httpLimits.largeBodyBytes) await yieldToEventLoop(0);
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
    const problem = cause instanceof SyntaxError ? 'the body is not JSON' : 'the body is not UTF-8';
    // Without the message of Node, which differs between versions and repeats the body.
    throw requestError('invalid_json', problem, { cause });
  }
}

/** Rejects fields named `__proto__`: assigning one changes the prototype of the object, so the field would be lost silently. */
async function checkNames(body: Buffer, value: unknown): Promise<void> {
  for (let level = (await isSuspect(body)) ? [value] : []; level.length > 0; ) {
    const objects = level.filter((each): each is object => typeof each === 'object' && each !== null);
    if (objects.some((each) => Object.hasOwn(each, PROTO))) {
      throw requestError('invalid_request', `the body has a field ${PROTO}`, { advice: 'give it another name' });
    }
    level = objects.flatMap((each): unknown[] => Object.values(each));
  }
}

/** Searches the bytes for suspect names: a search through the parsed values of a long body takes longer. */
async function isSuspect(body: Buffer): Promise<boolean> {
  return body.length <= PIECE_BYTES ? SPELLINGS.some((each) => body.includes(each)) : await inSlices(search(body));
}

function* search(body: Buffer): Generator<void, boolean> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    const piece = body.subarray(at, at + PIECE_BYTES + SPELLING_BYTES - 1);
    for (const spelling of SPELLINGS) {
      if (piece.includes(spelling)) return true;
      yield;
    }
  }
  return false;
}

const PROTO = '__proto__';
const SPELLINGS = [PROTO, '\\u005f', '\\u005F'];
const SPELLING_BYTES = PROTO.length;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const PIECE_BYTES = 512 * 1024;

function tooLarge(bytesMax: number) {
  return requestError('body_too_large', `the body has more than the ${bytesMax} bytes that are allowed`);
}
