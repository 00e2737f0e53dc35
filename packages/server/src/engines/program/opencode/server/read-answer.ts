import { inSlices } from '../../../../base/in-slices.ts';
import { JsonGauge } from '../../../../base/json/json-gauge.ts';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';

/** Limits that tests lower. */
export interface AnswerLimits {
  readonly bytesMax: number;
  readonly valuesMax: number;
}

/** Reads a response as JSON, which is measured while it arrives; null for an empty body, and the text if it is not JSON. */
export async function readAnswer(
  response: AsyncIterable<unknown>,
  { bytesMax, valuesMax }: AnswerLimits,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  const gauge = new JsonGauge();
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    gauge.push(chunk);
    if (bytes > bytesMax) throw new Error(`the answer of opencode is longer than ${bytesMax} bytes`);
    if (gauge.values > valuesMax) throw new Error(`the answer of opencode has more than ${valuesMax} values`);
    if (gauge.depth > baseLimits.contentDepthMax) {
      throw new Error(`the answer of opencode is nested more than ${baseLimits.contentDepthMax} levels deep`);
    }
    chunks.push(chunk);
  }
  const all = Buffer.concat(chunks);
  if (all.length <= programLimits.programTakeBytesMax) return parse(all.toString('utf8'));
  return await inSlices(parseItems(all));
}

/** Parses a long list item by item: parsing it at once would block the event loop. */
function* parseItems(bytes: Buffer): Generator<void, unknown> {
  const items: unknown[] = [];
  const ends = itemEnds(bytes);
  let start = bytes.indexOf(OPEN_ARRAY) + 1;
  if (
    bytes
      .subarray(0, Math.max(0, start - 1))
      .toString('utf8')
      .trim() !== ''
  )
    start = 0;
  const { programLineBytesMax } = programLimits;
  if (start === 0) {
    if (bytes.length <= programLineBytesMax) return parse(bytes.toString('utf8'));
    throw new Error(`the answer of opencode is longer than ${programLineBytesMax} bytes`);
  }
  for (const end of ends) {
    if (end === undefined) {
      yield;
      continue;
    }
    const item = end - start > programLineBytesMax ? null : parse(bytes.toString('utf8', start, end));
    // An item that is too long, or cannot be parsed, is skipped, like an event.
    if (typeof item === 'object' && item !== null) items.push(item);
    start = end + 1;
    yield;
  }
  return items;
}

/** The positions where the items of a list end. Undefined: no end was found yet, and the search can be paused. */
function* itemEnds(bytes: Buffer): Generator<number | undefined> {
  let level = 0;
  let isInString = false;
  let isEscaped = false;
  for (let at = 0; at < bytes.length; at++) {
    if (at % PIECE_BYTES === 0) yield undefined;
    const byte = bytes[at];
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA && level === 1) yield at;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) level++;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      level--;
      if (level === 0) return yield at;
    }
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch {
    // The text is returned so that the caller reports the unexpected response.
    return text;
  }
}

const PIECE_BYTES = 64 * 1024;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
