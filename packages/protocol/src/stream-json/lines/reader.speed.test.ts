import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { StreamJsonReader } from './reader.ts';

/** Other processes disturb a measurement, so the best of a few rounds counts: what is really slow is slow in all of them. */
const ROUNDS = 8;

describe('long lines take no longer than they must', () => {
  it('[S11] one line of 32 MB takes less than 4.5 times as long as one of 8 MB', () => {
    const [small, large] = [8, 32].map((megabytes) => chunksOf(megabytes * 1e6));
    let best = Infinity;
    for (let round = 0; round < ROUNDS && best >= 4.5; round++) best = Math.min(best, timeMs(large!) / timeMs(small!));
    expect(best).toBeLessThan(4.5);
  }, 120_000);

  it('[S12] ten lines of 9 MB through a pipe take at most 1.5 times as long as splitting and JSON.parse', async () => {
    let best = Infinity;
    for (let round = 0; round < ROUNDS && best > 1.5; round++) {
      const floor = await throughPipe(bareReader());
      const ours = await throughPipe(ourReader());
      expect([floor.lines, ours.lines]).toEqual([10, 10]);
      best = Math.min(best, ours.ms / floor.ms);
    }
    expect(best).toBeLessThanOrEqual(1.5);
  }, 180_000);
});

function chunksOf(length: number): Uint8Array[] {
  const line = new TextEncoder().encode(`{"type":"a","text":"${'abcdefg '.repeat(length / 8)}"}\n`);
  const count = Math.ceil(line.length / 65_536);
  return Array.from({ length: count }, (_, index) => line.subarray(index * 65_536, (index + 1) * 65_536));
}

function timeMs(chunks: Uint8Array[]): number {
  const reader = new StreamJsonReader();
  const start = performance.now();
  let messages = 0;
  for (const chunk of chunks) messages += reader.push(chunk).length;
  if (messages !== 1) throw new Error(`${messages} messages instead of 1`);
  return performance.now() - start;
}

interface LineCounter {
  lines: number;
  read(chunk: Buffer): void;
}

function ourReader(): LineCounter {
  const reader = new StreamJsonReader();
  return {
    lines: 0,
    read(chunk) {
      this.lines += reader.push(chunk).length;
    },
  };
}

/** The least that gives the same objects: split at LF, join once, decode, parse. */
function bareReader(): LineCounter {
  const decoder = new TextDecoder();
  let pieces: Buffer[] = [];
  return {
    lines: 0,
    read(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        JSON.parse(decoder.decode(Buffer.concat([...pieces, chunk.subarray(start, end)])));
        this.lines++;
        pieces = [];
        start = end + 1;
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start));
    },
  };
}

/** From the first byte to the last. */
async function throughPipe(reader: LineCounter): Promise<{ ms: number; lines: number }> {
  const child = spawn(process.execPath, ['-e', PRINT], { stdio: ['ignore', 'pipe', 'inherit'] });
  let startedAt = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    startedAt ||= performance.now();
    reader.read(chunk);
  });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`the printing process ended with ${String(code)}`);
  return { ms: performance.now() - startedAt, lines: reader.lines };
}

const PRINT = `
  const line = JSON.stringify({ type: 'a', text: 'abcdefg '.repeat(9e6 / 8) }) + '\\n';
  let printed = 0;
  const print = () => printed++ < 10 && process.stdout.write(line, print);
  print();
`;
