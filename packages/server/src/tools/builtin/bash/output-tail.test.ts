import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputTail } from './output-tail.ts';

it('[U17] the position of a mark and the output before it do not depend on how the bytes were split', () => {
  const said = fc.uint8Array({ maxLength: 400 });
  const cuts = fc.array(fc.nat({ max: 10_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(said, said, cuts, fc.integer({ min: 1, max: 500 }), (before, after, places, bytesMax) => {
      const stream = Buffer.concat([before, Buffer.from('\0name:17\0'), after]);
      const whole = feed([stream], bytesMax);
      expect(whole[0]?.value).toBe('17');
      const edges = [0, ...places.map((place) => place % stream.length), stream.length].sort((a, b) => a - b);
      const torn = edges.slice(1).map((edge, at) => stream.subarray(edges[at], edge));
      expect(feed(torn, bytesMax)).toEqual(whole);
      expect(
        feed(
          Array.from(stream, (byte) => Buffer.from([byte])),
          bytesMax,
        ),
      ).toEqual(whole);
    }),
  );

  function feed(chunks: readonly Buffer[], bytesMax: number): [{ text: string; value: string } | undefined, string] {
    const tail = new OutputTail(bytesMax);
    let found: { text: string; value: string } | undefined;
    for (const chunk of chunks) {
      tail.add(chunk);
      found ??= tail.takeUntilMark('name');
    }
    return [found, tail.take()];
  }
});

it('[U15] a large output takes little memory', () => {
  const tail = new OutputTail(1_000);
  for (let at = 0; at < 10_000; at++) tail.add(Buffer.alloc(50_000, at % 2 === 0 ? 'a' : 'b'));
  tail.add(Buffer.from('end'));
  expect(tail.take()).toBe(`[only the last 1000 bytes of the output are kept]\n${'b'.repeat(997)}end`);
});

it('[D16] a million empty lines before the last word take no longer than their length', () => {
  const tail = new OutputTail(2_000_000);
  tail.add(Buffer.from(`${'\n'.repeat(1_000_000)}x\n\n`));
  const start = process.cpuUsage();
  expect(tail.take()).toHaveLength(1_000_001);
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(2);
});
