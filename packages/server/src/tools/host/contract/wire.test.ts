import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolLimits } from '../../limits.ts';
import { toHostAnswer } from './messages.ts';
import { encodeMessage, MessageReader, MessageTooLarge } from './wire.ts';

it('[U103] messages arrive as they were sent, however the bytes were torn', () => {
  const messages = fc.array(fc.object(), { maxLength: 5 });
  const cuts = fc.array(fc.nat({ max: 10_000 }), { maxLength: 30 });
  fc.assert(
    fc.property(messages, cuts, (sent, places) => {
      const bytes = Buffer.concat(sent.map((message) => encodeMessage(message, 1_000_000)));
      const edges = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const reader = new MessageReader(1_000_000);
      const read = edges.slice(1).flatMap((edge, at) => reader.push(bytes.subarray(edges[at], edge)));
      expect(read.map((message) => message.toString())).toEqual(sent.map((message) => JSON.stringify(message)));
    }),
  );
});

it('[U103] a message is refused by its length, before any of it is held', () => {
  const text = 'x'.repeat(90);
  const bytes = encodeMessage({ text }, 101);
  expect(bytes.length).toBe(4 + 101);
  expect(() => encodeMessage({ text }, 100)).toThrow(MessageTooLarge);
  expect(new MessageReader(101).push(bytes)).toHaveLength(1);
  expect(() => new MessageReader(100).push(bytes.subarray(0, 4))).toThrow('has 101 bytes, and at most 100 are allowed');
  expect(new MessageReader(100).push(Buffer.alloc(4))).toEqual([Buffer.alloc(0)]);
});

it('[U103] a request has at most 64 MiB and an answer 2 MiB, which is more than any result takes', () => {
  expect([toolLimits.toolHostRequestBytesMax, toolLimits.toolHostAnswerBytesMax]).toEqual([67_108_864, 2_097_152]);
  const largest = '\u0001'.repeat(Math.max(toolLimits.fileReadBytesMax, toolLimits.bashOutputBytesMax));
  const answer = { id: 1, text: largest, isError: false, shells: 1 };
  expect(encodeMessage(answer, toolLimits.toolHostAnswerBytesMax).length).toBeGreaterThan(
    6 * toolLimits.fileReadBytesMax,
  );
});

it('[U106] a message that is not an answer is refused', () => {
  const answer = { id: 1, text: '', isError: false, shells: 0 };
  const read = (value: unknown) => toHostAnswer(Buffer.from(JSON.stringify(value)));
  expect(read(answer)).toEqual(answer);
  expect(read({ ...answer, more: { nested: true } })).toEqual(answer);
  const broken = [
    null,
    3,
    'text',
    [],
    {},
    { ...answer, id: '1' },
    { ...answer, id: 1.5 },
    { ...answer, text: 1 },
    { ...answer, isError: 'no' },
    { ...answer, shells: -1 },
    { ...answer, shells: null },
  ];
  for (const value of broken) expect(() => read(value)).toThrow();
  for (const bytes of ['', '{', '\xff\xfe', '['.repeat(100_000)]) {
    expect(() => toHostAnswer(Buffer.from(bytes, 'latin1'))).toThrow();
  }
});
