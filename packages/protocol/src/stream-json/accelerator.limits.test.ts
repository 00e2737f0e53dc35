import { describe, expect, it } from 'vitest';
import { liveBufferBytes } from '../../../../test/support/heap.ts';
import { createAccelerator } from './accelerator.ts';
import { ACCELERATED_BYTES_MAX, ACCELERATED_LINE_BYTES_MAX, ACCELERATED_MESSAGES } from './base/limits.ts';
import { platform } from './lines/platform.ts';
import { StreamTranslator } from './translator/stream-translator.ts';

describe('limits of the accelerator', () => {
  it('[S29] follows 64 messages at a time; of more it forgets the oldest, and parses whole', () => {
    const shortAt = (messages: number) => {
      const reader = new SnapshotReader();
      for (let blocks = 1; blocks <= 10; blocks++) {
        for (let message = 0; message < messages; message++) reader.push(message, 'x'.repeat(50), blocks);
      }
      return reader.short / (messages * 10);
    };
    expect(shortAt(ACCELERATED_MESSAGES)).toBeGreaterThan(0.75);
    expect(shortAt(ACCELERATED_MESSAGES + 1)).toBeLessThan(0.05);
  });

  it('[S29] looks at lines of up to 8 MiB', () => {
    const shortWith = (bytes: number) => {
      const reader = new SnapshotReader();
      for (let blocks = 1; blocks <= 3; blocks++) reader.push(1, 'x', blocks);
      const first = lineOf(0, 'a', 1);
      reader.push(0, 'a'.repeat(bytes - first.length + 1), 1);
      reader.short = 0;
      reader.push(0, 'a'.repeat(bytes - first.length + 1), 1);
      return reader.short;
    };
    // One LF, which is not part of the line.
    expect(shortWith(ACCELERATED_LINE_BYTES_MAX + 1)).toBe(1);
    expect(shortWith(ACCELERATED_LINE_BYTES_MAX + 2)).toBe(0);
  });

  it('[S29] holds at most 32 MiB of lines, also where they have grown', () => {
    const reader = new SnapshotReader();
    for (let message = 0; message < 24; message++) reader.push(message, 'x', 1);
    for (let message = 0; message < 24; message++) reader.push(message, 'x', 2);
    const before = liveBufferBytes();
    const megabyte = 'x'.repeat(2 ** 20);
    // Grown in place they take twice their length, so that they can grow again.
    for (let message = 0; message < 24; message++) reader.push(message, megabyte, 1);
    for (let message = 0; message < 24; message++) reader.push(message, megabyte + megabyte, 1);
    const held = liveBufferBytes() - before;
    expect(held).toBeGreaterThan(ACCELERATED_BYTES_MAX / 2);
    expect(held).toBeLessThan(ACCELERATED_BYTES_MAX + 2 ** 20);
    reader.push(0, 'x', 1);
    expect(ACCELERATED_BYTES_MAX).toBe(32 * 2 ** 20);
  });
});

/** Feeds lines one by one, each message of an agent of its own, and counts those that were not read whole. */
class SnapshotReader {
  short = 0;
  readonly #stream: StreamTranslator;

  constructor() {
    let longest = 0;
    const accelerator = createAccelerator({
      ...platform,
      text: (bytes, start, end) => {
        longest = Math.max(longest, end - start);
        return platform.text(bytes, start, end);
      },
    });
    this.#stream = new StreamTranslator({
      accelerator: {
        line: (bytes, start, end, translator) => {
          longest = 0;
          const isTaken = accelerator.line(bytes, start, end, translator);
          if (isTaken && longest < end - start) this.short++;
          return isTaken;
        },
      },
    });
  }

  push(message: number, content: string, blocks: number): void {
    this.#stream.push(new TextEncoder().encode(lineOf(message, content, blocks)));
  }
}

function lineOf(message: number, content: string, blocks: number): string {
  const block = `{"type":"text","text":"${content}"}`;
  const array = Array.from({ length: blocks }, () => block).join(',');
  return `{"type":"assistant","message":{"id":"m${message}","content":[${array}]},"parent_tool_use_id":"c${message}"}\n`;
}
