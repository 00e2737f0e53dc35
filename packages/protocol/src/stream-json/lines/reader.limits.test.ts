import { describe, expect, it } from 'vitest';
import { liveBytes } from '../../../../../test/support/heap.ts';
import { BLOCK_BYTES, LINE_BYTES_MAX } from '../base/limits.ts';
import { StreamJsonReader } from './reader.ts';

const MIB = 1024 * 1024;

describe('long lines', () => {
  it('[S10] reads a line of exactly the limit and reports one byte more as oversize', () => {
    for (const chunkBytes of [1, 5, 1_000]) {
      const line = '{"type":"abc"}';
      const at = new StreamJsonReader({ lineBytesMax: line.length });
      expect(feed(at, `${line}\n{"type":"b"}\n`, chunkBytes)).toMatchObject([{ type: 'message' }, { type: 'message' }]);
      const over = new StreamJsonReader({ lineBytesMax: line.length - 1 });
      expect(feed(over, `\n${line}\n{"type":"b"}\n`, chunkBytes)).toEqual([
        { type: 'oversize', offset: 1, length: line.length, limit: line.length - 1 },
        { type: 'message', message: { type: 'b' } },
      ]);
    }
  });

  it('[S10] reports a last line over the limit at the end too', () => {
    const reader = new StreamJsonReader({ lineBytesMax: 10 });
    expect(feed(reader, '{"type":"abc"}', 4)).toEqual([]);
    expect(reader.end()).toEqual([{ type: 'oversize', offset: 0, length: 14, limit: 10 }]);
    expect(feed(reader, '{"a":1}\n', 4)).toMatchObject([{ type: 'message' }]);
  });

  it('[S10] reads 64 MiB by default, and not one byte more', () => {
    expect(LINE_BYTES_MAX).toBe(64 * MIB);
    const padding = new Uint8Array(MIB).fill(0x20);
    for (const extra of [0, 1]) {
      const reader = new StreamJsonReader();
      reader.push(bytes('{"type":"a"}'));
      for (let mib = 1; mib < 64; mib++) reader.push(padding);
      reader.push(padding.subarray(0, MIB - '{"type":"a"}'.length + extra));
      const items = [...reader.push(bytes('\n{"type":"b"}\n'))].map(({ type }) => type);
      expect(items).toEqual([extra === 0 ? 'message' : 'oversize', 'message']);
    }
  });

  it('[S10] holds at most the limit and one chunk of a line without end', () => {
    const reader = new StreamJsonReader({ lineBytesMax: 4 * MIB });
    const before = liveBytes();
    let most = 0;
    for (let chunk = 0; chunk < 400; chunk++) {
      reader.push(new Uint8Array(64 * 1024).fill(0x78));
      if (chunk % 20 === 0 || chunk === 63) most = Math.max(most, liveBytes() - before);
    }
    expect(most).toBeGreaterThan(3 * MIB);
    expect(most).toBeLessThan(4 * MIB + 64 * 1024 + MIB / 2);
    expect(liveBytes() - before).toBeLessThan(MIB / 2);
    expect(reader.push(bytes('\n'))).toMatchObject([{ type: 'oversize', length: 400 * 64 * 1024 }]);
  });

  it('[S10] gives the room of a long line back', () => {
    const padding = new Uint8Array(4 * MIB).fill(0x20);
    const before = liveBytes();
    const reader = new StreamJsonReader();
    reader.push(bytes('{"type":"a"}'));
    reader.push(padding.subarray(0, BLOCK_BYTES - 12)); // fills the first block to its edge
    reader.push(padding);
    expect(liveBytes() - before).toBeGreaterThan(4 * MIB);
    expect(reader.push(bytes('\n')).length).toBe(1);
    expect(liveBytes() - before).toBeLessThan(MIB / 2);
    expect(reader.push(bytes('{"type":"a"}\n')).length).toBe(1);
    expect(padding.length).toBe(4 * MIB); // used after, so that it was there all along
  });

  it('[S10] joins a line of one block, of less and of more, whatever its pieces, and uses the block again', () => {
    for (const chunkBytes of [1_000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES]) {
      const reader = new StreamJsonReader();
      for (const length of [BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES + 1, 40, BLOCK_BYTES]) {
        const line = `{"type":"${'abcdefg'.repeat(length).slice(0, length - '{"type":""}'.length)}"}`;
        expect(line.length).toBe(length);
        const items = feed(reader, `${line}\n`, chunkBytes);
        expect(JSON.stringify(items) === JSON.stringify([{ type: 'message', message: JSON.parse(line) }])).toBe(true);
      }
    }
  });

  it('[S2, S13] splits no character at the edge of a block, and reports only invalid bytes as damaged', () => {
    const pieces: [string, Uint8Array][] = [
      ...['a', 'é', '€', '😀', '\ufffd'].map((character) => [character, bytes(character)] as [string, Uint8Array]),
      ['a lead without its end', Uint8Array.of(0xe2, 0x82)],
      ['ends without a lead', Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80)],
      ['a whole character and ends without a lead', Uint8Array.of(0xf0, 0x9f, 0x98, 0x80, 0x80, 0x80)],
      ['no UTF-8 at all', Uint8Array.of(0xff, 0xf8, 0xc0, 0xed, 0xa0, 0x80)],
    ];
    for (const [name, piece] of pieces) {
      for (let shift = 0; shift < 6; shift++) {
        const start = bytes(`{"type":"${'x'.repeat(BLOCK_BYTES - 16 + shift)}`);
        const parts = [start, ...Array.from({ length: 8 }, () => piece), bytes('y'), bytes('"}\n')];
        const [whole, cut] = [new StreamJsonReader(), new StreamJsonReader()];
        const line = Buffer.concat(parts);
        const [expected] = whole.push(line);
        const items = parts.flatMap((part) => cut.push(part));
        expect(JSON.stringify(items) === JSON.stringify([expected]), `${name}, ${shift}`).toBe(true);
        expect(cut.invalidBytes, `${name}, ${shift}`).toBe(whole.invalidBytes);
      }
    }
  });

  it('[S10] passes each line in one piece to a sink of bytes, however long and however split', () => {
    for (const chunkBytes of [1_000, BLOCK_BYTES, 3 * BLOCK_BYTES]) {
      const reader = new StreamJsonReader();
      for (const length of [40, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES, 40]) {
        const line = bytes(`{"type":"${'abcdefg'.repeat(length).slice(0, length - '{"type":""}'.length)}"}\n`);
        const given: Buffer[] = [];
        const messages: string[] = [];
        const sink = {
          // The first half is taken, the second half is parsed as if no sink had asked.
          bytes: (all: Uint8Array, start: number, end: number) =>
            given.push(Buffer.from(all.subarray(start, end))) > 0 && length <= BLOCK_BYTES,
          message: (message: object) => messages.push(JSON.stringify(message)),
          issue: (issue: object) => expect(issue).toBeUndefined(),
        };
        for (let at = 0; at < line.length; at += chunkBytes) reader.read(line.subarray(at, at + chunkBytes), sink);
        expect(given.map((all) => all.equals(line.subarray(0, -1)))).toEqual([true]);
        expect(messages.length).toBe(length <= BLOCK_BYTES ? 0 : 1);
      }
    }
  });

  it('[S10, S13] counts nothing as damaged of a line that is not read, wherever it was cut', () => {
    const line = Buffer.concat([bytes('{"type":"'), new Uint8Array(2 * BLOCK_BYTES).fill(0xff), bytes('"}\n')]);
    for (const chunkBytes of [1_000, BLOCK_BYTES, line.length]) {
      const reader = new StreamJsonReader({ lineBytesMax: line.length - 2 });
      const items = [];
      for (let at = 0; at < line.length; at += chunkBytes)
        items.push(...reader.push(line.subarray(at, at + chunkBytes)));
      expect(items).toMatchObject([{ type: 'oversize', length: line.length - 1 }]);
      expect(reader.invalidBytes).toBe(0);
      // The next line counts for itself.
      reader.push(Buffer.concat([bytes('{"type":"'), Uint8Array.of(0xff), bytes('"}\n')]));
      expect(reader.invalidBytes).toBe(1);
    }
  });

  it('[S4, S7] reports a bad line of several blocks like one of a single chunk, without its byte order mark and its CR', () => {
    const bad = `\ufeff{"type":${'x'.repeat(3 * BLOCK_BYTES)}\r\n`;
    const [expected] = new StreamJsonReader().push(bytes(bad));
    expect(expected).toMatchObject({ type: 'malformed', offset: 3, length: bytes(bad).length - 3 - 2 });
    expect(feed(new StreamJsonReader(), bad, 65_536)).toEqual([expected]);
  });

  it('[S10] keeps the one block and nothing of a chunk', () => {
    const reader = new StreamJsonReader();
    const before = liveBytes();
    for (let line = 0; line < 100; line++) {
      const chunk = bytes(`{"type":"${'x'.repeat(BLOCK_BYTES - 1_000)}`);
      expect(reader.push(chunk)).toEqual([]);
      chunk.fill(0); // it is its owner's again
      expect(reader.push(bytes('"}\n'))).toEqual([
        { type: 'message', message: { type: 'x'.repeat(BLOCK_BYTES - 1_000) } },
      ]);
    }
    expect(liveBytes() - before).toBeLessThan(MIB);
  });

  it('[S10] holds no more of a line that comes byte by byte', () => {
    const reader = new StreamJsonReader();
    const before = liveBytes();
    for (let at = 0; at < 300_000; at++) reader.push(Uint8Array.of(0x20));
    expect(liveBytes() - before).toBeLessThan(2 * MIB);
    expect(reader.push(bytes('{"type":"a"}\n'))).toMatchObject([{ type: 'message' }]);
  });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function feed(reader: StreamJsonReader, text: string, chunkBytes: number): unknown[] {
  const all = bytes(text);
  const count = Math.ceil(all.length / chunkBytes);
  const chunks = Array.from({ length: count }, (_, i) => all.slice(i * chunkBytes, (i + 1) * chunkBytes));
  return chunks.flatMap((chunk) => reader.push(chunk));
}
