import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { limits } from '../base/limits.ts';
import { KeyReader } from './key-reader.ts';
import type { Key } from './parse-keys.ts';

function read() {
  const io = new FakeIo();
  const keys: Key[] = [];
  const reader = new KeyReader(io, (key) => keys.push(key));
  return { io, keys, reader };
}

describe('keys in pieces', () => {
  it('[Y23] a key that arrives in pieces is one key, wherever it is split', async () => {
    for (const sequence of ['\u001b[A', '\u001b[5~', '\u001bOB']) {
      const whole = read();
      whole.reader.push(sequence);
      for (let cut = 1; cut < sequence.length; cut += 1) {
        const { keys, reader, io } = read();
        reader.push(`x${sequence.slice(0, cut)}`);
        await io.timers.advance(limits.keyMs - 1);
        reader.push(`${sequence.slice(cut)}y`);
        expect(keys).toEqual([{ typed: 'x' }, ...whole.keys, { typed: 'y' }]);
        expect(io.timers.pending).toBe(0);
      }
    }
  });

  it('[Y23] Esc alone is Esc after 50 ms, and nothing comes after the end', async () => {
    const { keys, reader, io } = read();
    reader.push('\u001b');
    expect(limits.keyMs).toBe(50);
    await io.timers.advance(49);
    expect(keys).toEqual([]);
    await io.timers.advance(1);
    expect(keys).toEqual(['escape']);
    reader.push('\u001b');
    reader.push('q');
    expect(keys).toEqual(['escape', 'escape', { typed: 'q' }]);
    reader.push('\u001b');
    reader.stop();
    await io.timers.advance(1_000);
    expect(keys).toHaveLength(3);
  });

  it('[Y23] keys after the one that ends the program do nothing', () => {
    const keys: Key[] = [];
    const reader = new KeyReader(new FakeIo(), (key) => {
      keys.push(key);
      reader.stop();
    });
    reader.push('qa');
    reader.push('a');
    expect(keys).toEqual([{ typed: 'q' }]);
  });
});
