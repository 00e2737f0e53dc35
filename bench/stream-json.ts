import { StreamTranslator, type StreamTranslatorOptions } from '@fleetloom/protocol/stream-json';
import { createAccelerator } from '@fleetloom/protocol/stream-json/accelerator';
import { atMost, type Bench, comparePair, type Measured, type Pair, type PairOptions, timesFaster } from './harness.ts';
import { acceleratedSize, entrySize, translatorSize } from './size.ts';
import { heapAfterAgents, heapAfterManyLines } from './stream-json-heap.ts';
import { pipeThroughput } from './stream-json-pipe.ts';
import {
  type GeneratedStream,
  growingSnapshots,
  growingText,
  interleavedAgents,
  largeResults,
  oneBlockPerLine,
  partialMessages,
  toBytes,
} from './streams.ts';

/**
 * A stream, and how much CPU time it may take compared with the minimum that any reader must do with the same chunks:
 * find each line, decode it, JSON.parse it. Both discard their results for a chunk before they read the next.
 */
export interface SpeedCase {
  name: string;
  stream: () => GeneratedStream;
  /** For streams of current versions, without the accelerator: the limit of the ratio. */
  timesAtMost?: number;
  /** For growing snapshots, with the accelerator: how many times as fast. Undefined: only reported. */
  timesFaster?: number;
  isAccelerated?: true;
}

export const SPEED_CASES: SpeedCase[] = [
  { name: 'one-block', stream: () => oneBlockPerLine({ messages: 3_000 }), timesAtMost: 1.3 },
  { name: '25-agents', stream: () => interleavedAgents({ messages: 20, mode: 'one-block' }), timesAtMost: 1.3 },
  { name: 'partial', stream: () => partialMessages({ messages: 150 }), timesAtMost: 1.3 },
  { name: 'growing-200', stream: () => growingSnapshots(), timesFaster: 5, isAccelerated: true },
  { name: 'growing-steps', stream: () => growingSnapshots({ blocks: 100, growSteps: 4 }), isAccelerated: true },
  { name: 'growing-text', stream: () => growingText(), isAccelerated: true },
  { name: 'growing-25-agents', stream: () => interleavedAgents(), isAccelerated: true },
];

export const streamJson: Bench = {
  name: 'stream-json',
  cases: [
    ...SPEED_CASES.map((speed) => ({ name: speed.name, run: () => measureSpeed(speed) })),
    { name: 'line-32mb', run: lineGrowth },
    { name: 'pipe', run: pipeThroughput },
    { name: 'heap-25-agents', run: heapAfterAgents },
    { name: 'heap-1m-lines', run: heapAfterManyLines },
    { name: 'size', run: entrySize },
    { name: 'size-translator', run: translatorSize },
    { name: 'size-accelerated', run: acceleratedSize },
  ],
};

const CHUNK_BYTES = 64 * 1024;
const LF = 10;

/** Many short rounds give a stable median even on a busy machine. */
const PATIENT: PairOptions = { rounds: 181, budgetMs: 24_000, clock: 'cpu' };

async function measureSpeed(speed: SpeedCase): Promise<Measured> {
  const options = (): StreamTranslatorOptions => (speed.isAccelerated ? { accelerator: createAccelerator() } : {});
  const times = await comparePair(pairFor(speed.stream(), options), PATIENT);
  return speed.timesAtMost === undefined ? timesFaster(speed.timesFaster, times) : atMost(speed.timesAtMost, times);
}

function pairFor(stream: GeneratedStream, options: () => StreamTranslatorOptions): Pair {
  const chunks = toChunks(toBytes(stream));
  checkAnswer(stream, chunks, options());
  return { floor: () => parseLines(chunks), ours: () => void translate(chunks, options()) };
}

/** Throws unless every block and every result of the oracle was emitted: a fast wrong answer must not count. */
export function checkAnswer(stream: GeneratedStream, chunks: Uint8Array[], options: StreamTranslatorOptions): void {
  const seen = new Set<string>();
  let results = 0;
  translate(chunks, options, (event) => {
    if (event.type === 'text_delta' || event.type === 'thinking_delta' || event.type === 'tool_use') {
      seen.add(`${event.thread} ${event.message_id} ${event.block}`);
    }
    if (event.type === 'tool_result') results++;
  });
  const { blocks, toolResults } = stream;
  if (seen.size !== blocks.length || results !== toolResults.length) {
    const got = `${seen.size} blocks and ${results} results`;
    throw new Error(`wrong answer: ${got} instead of ${blocks.length} and ${toolResults.length}`);
  }
}

type TranslatedEvent = ReturnType<StreamTranslator['push']>[number];

function translate(
  chunks: Uint8Array[],
  options: StreamTranslatorOptions,
  onEvent?: (event: TranslatedEvent) => void,
): number {
  const stream = new StreamTranslator(options);
  let count = 0;
  for (const chunk of chunks) {
    const events = stream.push(chunk);
    count += events.length;
    if (onEvent) events.forEach(onEvent);
  }
  const events = stream.end();
  if (onEvent) events.forEach(onEvent);
  return count + events.length;
}

/** The minimal reader of chunks in Node. */
function parseLines(chunks: Uint8Array[]): void {
  let keys = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      // The sum keeps the optimiser from removing the unused result.
      keys += (JSON.parse(bytes.toString('utf8', start, end)) as { type: string }).type.length;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (keys === 0) throw new Error('nothing was parsed');
}

/** A line of four times the length may take little more than four times as long. */
async function lineGrowth(): Promise<Measured> {
  const [small, large] = [8, 32].map((mib) => toChunks(toBytes(largeResults({ count: 1, size: mib << 20 }))));
  const pair = { floor: () => void translate(small!, {}), ours: () => void translate(large!, {}) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { ...PATIENT, rounds: 15 });
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio, goal: '< 4.5x of 8 MB', ok: ratio < 4.5 };
}

function toChunks(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
}
