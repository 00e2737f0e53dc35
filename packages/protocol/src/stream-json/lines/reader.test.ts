import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordings } from '../../../../../test/support/recordings.ts';
import { assertProperty } from '../../../../../test/support/seed.ts';
import { EXCERPT_CHARS_MAX } from '../base/limits.ts';
import type { LineItem } from '../wire/messages.ts';
import { webPlatform } from './platform.ts';
import { type ReaderOptions, StreamJsonReader } from './reader.ts';

describe('chunks', () => {
  const stream = bytes(
    '\ufeff{"type":"a","text":"naïve 漢字 🧵 e\u0301"}\r\n\n  \n{"type":"b","text":"\u2028\u2029\u0085"}\n[1]\n{"x":\n{"type":"c"}',
  );

  it('[S1] gives the same for one chunk, for single bytes and for any cuts', () => {
    const whole = read([stream]);
    expect(whole.map(({ type }) => type)).toEqual(['message', 'message', 'malformed', 'malformed', 'message']);
    expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
    assertProperty(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        expect(read(cutAt(stream, cuts))).toEqual(whole);
      }),
    );
  });

  it('[S1] gives the same for every recording, however it is cut', () => {
    for (const recording of recordings().filter((_, index) => index % 8 === 0)) {
      const all = recording.bytes();
      const whole = read([all]);
      const sizes = [1, 7, 4_093].filter((size) => all.length / size < 100_000);
      for (const size of sizes) expect(read(inPieces(all, size)), `${recording.name} by ${size}`).toEqual(whole);
    }
  });

  it('[S1] keeps nothing of a buffer that its owner reuses', () => {
    const reader = new StreamJsonReader();
    const buffer = bytes('{"type":"a');
    reader.push(buffer);
    buffer.fill(0x20);
    expect(reader.push(bytes('"}\n'))).toEqual([message({ type: 'a' })]);
  });

  it('[S2] puts a character together that two chunks share', () => {
    const line = bytes('{"type":"a","text":"é漢🧵"}\n');
    for (let cut = 1; cut < line.length; cut++) {
      const items = read([line.subarray(0, cut), line.subarray(cut)]);
      expect(items).toEqual([message({ type: 'a', text: 'é漢🧵' })]);
    }
  });
});

describe('lines', () => {
  it('[S3] ends a line at LF and at no other separator', () => {
    const separators = '\u2028 \u2029 \u0085 \v \f';
    const line = `{"type":"a","text":"${separators.replaceAll(/[\v\f]/g, '')}"}\n`;
    expect(read([bytes(line)])).toEqual([message({ type: 'a', text: '\u2028 \u2029 \u0085  ' })]);
    expect(read([bytes('{"type":"a"}\r{"type":"b"}\n')])).toMatchObject([{ type: 'malformed' }]);
  });

  it('[S4] ignores a CR before the LF and a byte order mark at the start, and only there', () => {
    expect(read([bytes('\ufeff{"type":"a"}\r\n{"type":"b"}\r\n')])).toEqual([
      message({ type: 'a' }),
      message({ type: 'b' }),
    ]);
    expect(read([bytes('{"type":"a"}\n\ufeff{"type":"b"}\n')])).toMatchObject([
      { type: 'message' },
      { type: 'malformed' },
    ]);
    expect(read([bytes('{"type":"a","text":"\ufeffx"}')])).toEqual([message({ type: 'a', text: '\ufeffx' })]);
    expect(read([bytes('\ufeff'), bytes('\r\n')])).toEqual([]);
  });

  it('[S5] emits nothing for empty and blank lines', () => {
    expect(read([bytes('\n\r\n   \n\t\n \r\n{"type":"a"}\n\n')])).toEqual([message({ type: 'a' })]);
    expect(read([bytes('')])).toEqual([]);
    expect(read([bytes('  ')])).toEqual([]);
  });

  it('[S6] gives a last line without LF at the end, and can read a next stream then', () => {
    const reader = new StreamJsonReader();
    expect(reader.push(bytes('{"type":"a"}'))).toEqual([]);
    expect(reader.end()).toEqual([message({ type: 'a' })]);
    expect(reader.end()).toEqual([]);
    expect(reader.push(bytes('\ufeff{"type":"b"}\nx\n'))).toMatchObject([
      { type: 'message', message: { type: 'b' } },
      { type: 'malformed', offset: 16 },
    ]);
  });

  it('[S7] reports a line that is not JSON with its offset, length and beginning', () => {
    const [good, bad] = ['{"type":"a"}\n', 'ü{"type"'];
    const items = read([bytes(`\n${good}${bad}\r\n${good}`)]);
    expect(items).toEqual([
      message({ type: 'a' }),
      { type: 'malformed', offset: 14, length: 9, reason: expect.any(String), excerpt: bad },
      message({ type: 'a' }),
    ]);
  });

  it('[S7] shows 120 characters of a bad line and of the reason, not one more', () => {
    for (const length of [EXCERPT_CHARS_MAX - 1, EXCERPT_CHARS_MAX, EXCERPT_CHARS_MAX + 1, 100_000]) {
      const [issue] = read([bytes('x'.repeat(length))]);
      if (issue?.type !== 'malformed') throw new Error('a line of x must not be readable');
      expect(issue).toMatchObject({ length, excerpt: 'x'.repeat(Math.min(length, 120)) });
      expect(issue.reason.length).toBeLessThanOrEqual(120);
      expect(issue.reason.length).toBeGreaterThan(5);
    }
  });

  it('[S8] takes no scalar, array or null for a message', () => {
    for (const line of ['1', '"text"', 'true', 'null', '[]', '[{"type":"a"}]', '-0.5e3']) {
      expect(read([bytes(`${line}\n{"type":"a"}\n`)])).toMatchObject([
        { type: 'malformed', offset: 0, length: line.length, excerpt: line },
        { type: 'message' },
      ]);
    }
  });

  it('[S13] replaces invalid UTF-8 by U+FFFD, counts it, and continues', () => {
    const line = [...bytes('{"type":"a","text":"x'), 0xff, 0xc3, ...bytes('y'), 0xe2, 0x82, ...bytes('"}\n')];
    for (const platform of [undefined, webPlatform]) {
      const reader = new StreamJsonReader(platform && { platform });
      expect(reader.push(Uint8Array.from([...line, ...bytes('{"type":"b","text":"\ufffd"}\n')]))).toEqual([
        message({ type: 'a', text: 'x\ufffd\ufffdy\ufffd' }),
        message({ type: 'b', text: '\ufffd' }),
      ]);
      expect(reader.invalidBytes).toBe(3);
    }
  });

  it('[S14] finds the type at any position', () => {
    const fields = Array.from({ length: 30 }, (_, index) => `"field${index}":{"type":"inner"}`).join(',');
    const items = read([bytes(`{${fields},"type":"result","subtype":"success"}\n`)]);
    expect(items).toMatchObject([{ type: 'message', message: { type: 'result', subtype: 'success' } }]);
  });

  it('[S14] finds the type of every line of 2.1.325, whose result lines do not begin with it', () => {
    const items = recordings()
      .filter(({ name }) => name.startsWith('2.1.325/'))
      .flatMap((recording) => read([recording.bytes()]));
    const results = items.filter((item) => item.type === 'message' && item.message.type === 'result');
    expect(results.length).toBeGreaterThan(100);
    expect(items.every((item) => item.type !== 'message' || typeof item.message.type === 'string')).toBe(true);
  });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function message(fields: object): object {
  return { type: 'message', message: fields };
}

function read(chunks: Uint8Array[], options: ReaderOptions = {}): LineItem[] {
  const reader = new StreamJsonReader(options);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

function cutAt(all: Uint8Array, cuts: number[]): Uint8Array[] {
  const sorted = [0, ...cuts.sort((a, b) => a - b), all.length];
  return sorted.slice(1).map((end, index) => all.subarray(sorted[index], end));
}

function inPieces(all: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size));
}
