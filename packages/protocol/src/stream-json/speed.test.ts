import { describe, expect, it } from 'vitest';
import { checkAnswer, SPEED_CASES, streamJson } from '../../../../bench/stream-json.ts';
import { toBytes } from '../../../../bench/streams.ts';
import { createAccelerator } from './accelerator.ts';
import { StreamTranslator, type StreamTranslatorOptions } from './translator/stream-translator.ts';

/** `npm run bench` measures the speed. Without a clock, a test can prove that it measures the right thing. */
describe('the bench', () => {
  it('[S60] has a goal for each shape of stream', () => {
    const goals = SPEED_CASES.map(({ name, timesAtMost, timesFaster }) => [name, timesAtMost, timesFaster]);
    expect(goals).toEqual(
      expect.arrayContaining([
        ['one-block', 1.3, undefined],
        ['25-agents', 1.3, undefined],
        ['partial', 1.3, undefined],
        ['growing-200', undefined, 5],
      ]),
    );
    const names = streamJson.cases.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...SPEED_CASES.map(({ name }) => name), 'pipe']));
  });

  it.each(SPEED_CASES.map((speed) => [speed.name, speed] as const))(
    '[S60] %s is measured on input that comes out right, the fast way as the plain one',
    (_, { stream, isAccelerated }) => {
      const generated = stream();
      const chunks = toChunks(toBytes(generated));
      checkAnswer(generated, chunks, {});
      if (!isAccelerated) return;
      checkAnswer(generated, chunks, { accelerator: createAccelerator() });
      const [plain, fast] = [{}, { accelerator: createAccelerator() }].map((options) => translate(chunks, options));
      expect(fast === plain).toBe(true); // by toEqual a difference would print megabytes
    },
  );

  it('[S60] refuses to measure a wrong result', () => {
    const generated = SPEED_CASES[0]!.stream();
    const chunks = toChunks(toBytes(generated)).slice(1);
    expect(() => checkAnswer(generated, chunks, {})).toThrow(/wrong answer/);
  });
});

function translate(chunks: Uint8Array[], options: StreamTranslatorOptions): string {
  const stream = new StreamTranslator(options);
  const events = chunks.flatMap((chunk) => stream.push(chunk));
  return JSON.stringify([...events, ...stream.end()]);
}

function toChunks(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / 65_536);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536));
}
