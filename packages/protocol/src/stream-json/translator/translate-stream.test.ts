import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { liveBytes } from '../../../../../test/support/heap.ts';
import { brief } from '../../../../../test/support/lines.ts';
import type { AgentEvent } from '../wire/events.ts';
import { translateStream } from './translate-stream.ts';
import { createTranslateTransform } from './translate-transform.ts';

const LINE = (index: number) =>
  `{"type":"assistant","message":{"id":"m${index}","content":[{"type":"text","text":"${index} 🧵 ${'x'.repeat(1_000)}"}]},"uuid":"u${index}"}\n`;

describe('translateStream', () => {
  const text =
    '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"🧵 é"}]},"uuid":"u1"}\n{"type":"result"}';
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));

  it('[S6] reads Node readables, web streams and iterables, up to a last line without LF', async () => {
    const expected = ['main text_delta m1.0 🧵 é', 'main turn_complete'];
    expect(await collect(translateStream(Readable.from(pieces)))).toEqual(expected);
    expect(await collect(translateStream(webStream(pieces)))).toEqual(expected);
    expect(await collect(translateStream(iterate([bytes])))).toEqual(expected);
    expect(await collect(webStream(pieces).pipeThrough(createTranslateTransform()))).toEqual(expected);
  });

  it('[S2] takes strings too, as a readable with an encoding gives them', async () => {
    const characters = Array.from(text); // whole characters, as the decoder of a readable gives them
    for (let cut = 0; cut <= characters.length; cut++) {
      const chunks = [characters.slice(0, cut).join(''), characters.slice(cut).join('')];
      const events = await collect(translateStream(iterate(chunks)));
      expect(events[0]).toBe('main text_delta m1.0 🧵 é');
    }
  });

  it('[S2] reports half a surrogate pair at the end of the stream, and does not swallow it', async () => {
    expect(await collect(translateStream(iterate(['{"type":"result"}', '\ud83e'])))).toEqual(['main unreadable']);
  });

  it('[S58] reads the next chunk when all events of the last one are consumed', async () => {
    let asked = 0;
    const source = (async function* () {
      for (;;) yield new TextEncoder().encode(LINE(asked) + LINE(++asked + 1e6));
    })();
    const events = translateStream(source);
    for (let taken = 1; taken <= 20; taken++) {
      await events.next();
      expect(asked).toBe(Math.ceil(taken / 2));
    }
    await events.return();
  });

  it('[S58] lets the source go when the consumer leaves', async () => {
    const source = Readable.from(pieces);
    for await (const event of translateStream(source)) if (event.type === 'text_delta') break;
    expect(source.destroyed).toBe(true);
  });
});

/** A real process that would print without end, and a consumer that stops. */
describe.each([
  ['translateStream', (stdout: Readable) => translateStream(stdout)],
  [
    'createTranslateTransform',
    (stdout: Readable) =>
      (Readable.toWeb(stdout) as ReadableStream<Uint8Array>).pipeThrough(createTranslateTransform()).values(),
  ],
])('a stalled consumer of %s', (_, translate) => {
  it('[S58] stops the producer, and memory does not grow', async () => {
    const child = spawn(process.execPath, ['-e', PRINT], { stdio: ['ignore', 'pipe', 'pipe'] });
    let written = 0;
    child.stderr.on('data', (chunk: Buffer) => (written += chunk.length));
    try {
      const events = translate(child.stdout)[Symbol.asyncIterator]();
      for (let taken = 0; taken < 100; taken++) await events.next();
      const before = { live: liveBytes(), rss: process.memoryUsage().rss };
      const stalledAt = await untilSteady(() => written);
      // Each byte on stderr is 64 KiB that the child got rid of: the pipe and what both ends hold of it.
      expect(stalledAt).toBeGreaterThan(0);
      expect(stalledAt * 64).toBeLessThan(4 * 1024);
      expect(liveBytes() - before.live).toBeLessThan(8 * 2 ** 20);
      expect(process.memoryUsage().rss - before.rss).toBeLessThan(32 * 2 ** 20);
      // It was only waiting.
      for (let taken = 0; taken < 5_000; taken++) await events.next();
      expect(await untilMore(() => written, stalledAt)).toBe(true);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

/** Prints lines of 1 KiB without end, and one byte on stderr for every 64 KiB that were written. */
const PRINT = `
  const line = JSON.stringify({ type: 'system', subtype: 'status', status: 'x'.repeat(1024) });
  const chunk = (line.slice(0, 1023 - 3) + '"}\\n').padStart(1024).repeat(64);
  const print = () => process.stdout.write(chunk, () => { process.stderr.write('.'); print(); });
  print();
`;

/** Waits until the value has not changed for a while: a child cannot be asked whether it has stopped. */
async function untilSteady(value: () => number): Promise<number> {
  for (let before = -1, same = 0; ; before = value()) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    same = value() === before ? same + 1 : 0;
    if (same === 6) return value();
  }
}

async function untilMore(value: () => number, than: number): Promise<boolean> {
  for (let tries = 0; tries < 100 && value() <= than; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
  return value() > than;
}

async function collect(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const all: string[] = [];
  for await (const event of events) all.push(brief(event));
  return all;
}

async function* iterate<Item>(items: Item[]): AsyncGenerator<Item> {
  yield* items;
}

function webStream(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
