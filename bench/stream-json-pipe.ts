import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamTranslator } from '@fleetloom/protocol/stream-json';
import { type Measured, median } from './harness.ts';
import { oneBlockPerLine, toBytes } from './streams.ts';

const ROUNDS = 5;
const REPEATS = 2;

/** A real process prints (a) into a real pipe: the translator against the minimal reader that returns the same objects. */
export async function pipeThroughput(): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  try {
    const file = join(folder, 'stream.ndjson');
    writeFileSync(file, toBytes(oneBlockPerLine({ messages: 12_000 })));
    await throughput(file, bareReader());
    await throughput(file, translator());
    const floors: number[] = [];
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      floors.push(await throughput(file, bareReader()));
      all.push(await throughput(file, translator()));
    }
    const value = median(all);
    const ratio = median(all.map((mbPerSecond, round) => mbPerSecond / floors[round]!));
    return { value, unit: 'MB/s', floor: median(floors), ratio, goal: '>= 150 MB/s', ok: value >= 150 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The child reads everything first and then prints, blocking, so that the reader never waits for it.
const PRINT = `
  const fs = require('node:fs');
  const bytes = fs.readFileSync(process.argv[1]);
  for (let round = 0; round < ${REPEATS}; round++) {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += fs.writeSync(1, bytes, at, Math.min(65536, bytes.length - at));
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
      }
    }
  }
`;

/** MB per second from the first byte to the last: the start of the child is not counted. */
async function throughput(file: string, read: (chunk: Uint8Array) => void): Promise<number> {
  const child = spawn(process.execPath, ['-e', PRINT, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let bytes = 0;
  let startedAt = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    if (bytes === 0) startedAt = performance.now();
    bytes += chunk.length;
    read(chunk);
  });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the printing process ended with ${String(code)}`);
  return bytes / 1e6 / ((performance.now() - startedAt) / 1000);
}

function translator(): (chunk: Uint8Array) => void {
  const stream = new StreamTranslator();
  return (chunk) => void stream.push(chunk);
}

function bareReader(): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest: Uint8Array = new Uint8Array(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      JSON.parse(decoder.decode(bytes.subarray(start, end)));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  };
}
