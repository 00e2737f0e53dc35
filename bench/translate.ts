import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../packages/cli/src/base/io.ts';
import { translate as translateFile } from '../packages/cli/src/stream-json/translate.ts';
import { type Bench, comparePair, type Measured } from './harness.ts';
import { oneBlockPerLine, toBytes } from './streams.ts';

/** `fleetloom translate` of a recorded file to JSON lines. */
export const translate: Bench = {
  name: 'translate',
  cases: [{ name: 'file-100mb', run: () => translateLarge(100) }],
};

/** `fleetloom translate` against a loop that reads the file and passes each line to JSON.parse. */
async function translateLarge(megabytes: number): Promise<Measured> {
  const { file, bytes, remove } = await writeRecording(megabytes);
  const pair = { floor: () => parseFile(file), ours: () => translateQuietly(file) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 5, budgetMs: 30_000, clock: 'cpu' });
  remove();
  const [value, floor] = [oursMs, floorMs].map((ms) => bytes / 1_000 / ms) as [number, number];
  return { value, unit: 'MB/s', floor, ratio: 1 / ratio, goal: '>= 0.68x', ok: 1 / ratio >= 0.68 };
}

/** Writes a recording of at least this size: several generated streams, one after the other. */
export async function writeRecording(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const path = join(folder, 'recording.jsonl');
  const file = await open(path, 'w');
  let bytes = 0;
  for (let seed = 1; bytes < megabytes * 1e6; seed++) {
    const piece = toBytes(oneBlockPerLine({ messages: Math.min(2_000, megabytes * 200), seed }));
    await file.write(piece);
    bytes += piece.length;
  }
  await file.close();
  return { file: path, bytes, remove: () => rmSync(folder, { recursive: true }) };
}

const CHUNK_BYTES = 256 * 1024;

async function parseFile(file: string): Promise<void> {
  let lines = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      lines += (JSON.parse(bytes.toString('utf8', start, end)) as { type: string }).type.length;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (lines === 0) throw new Error('nothing was parsed');
}

async function translateQuietly(file: string): Promise<void> {
  // An output turns text into bytes, so that is part of it.
  const written = { bytes: 0 };
  const code = await translateFile(
    toQuietIo((text) => (written.bytes += (typeof text === 'string' ? Buffer.from(text) : text).length)),
    file,
    { json: true },
  );
  if (code !== 0 || written.bytes === 0) throw new Error(`translate ended with ${code} after ${written.bytes} bytes`);
}

/** The terminal of the command, with an output that only counts. */
export function toQuietIo(onText: (text: string | Uint8Array) => void): Io {
  const output = {
    isTTY: false,
    write: (text: string | Uint8Array) => {
      onText(text);
      return true;
    },
  };
  // The cast: the command uses only these fields.
  return { stdout: output, stderr: output, onSignal: () => () => {} } as unknown as Io;
}
