import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { HeldBytes } from '../../base/held-bytes.ts';
import { toolLimits as all } from '../limits.ts';
import { type ToolLimits, toToolLimits } from '../tool-limits.ts';
import { type Allowance, MessageGuard, type MessageGuardOptions } from './message-guard.ts';

describe('an answer', () => {
  it('[U162] is passed on unchanged, up to its last byte', async () => {
    expect(await read(['{"a":', '"12345"}'], { allowance: allow(13) })).toBe('{"a":"12345"}');
    await expect(read(['{"a":', '"12345"}'], { allowance: allow(12) })).rejects.toThrow('more than 12 bytes');
  });

  it('[U162] has a limited number of values, levels and fields, which are counted before parsing', async () => {
    const values = { allowance: allow(1_000, 8) };
    expect(await read(['{"a":[1,2,3,4,5]}'], values)).toContain('5');
    await expect(read(['{"a":[1,2,3,4,5,6]}'], { allowance: allow(1_000, 7) })).rejects.toThrow('more than 7 values');
    const levels = { limits: toToolLimits({ mcpDepthMax: 3 }) };
    expect(await read(['{"a":[[1]]}'], levels)).toContain('1');
    await expect(read(['{"a":[[[1]]]}'], levels)).rejects.toThrow('more than 3 levels');
    const fields = { limits: toToolLimits({ mcpMessageFieldsMax: 2 }) };
    expect(await read(['{"a":1,"b":2,"c":{"d":[1,2,3,4]}}'], fields)).toContain('4');
    await expect(read(['{"a":1,"b":2,"c":{"d":3,"e":4}}'], fields)).rejects.toThrow('more than 2 fields');
  });

  it('[U162] as events has a limited number of messages, and of values and bytes in total', async () => {
    const form = 'events';
    const events = 'data: {"a":1}\n\n'.repeat(3);
    expect(await read([events], { form, allowance: allow(45, 6) })).toBe(events);
    await expect(read([events], { form, allowance: allow(44) })).rejects.toThrow('more than 44 bytes');
    await expect(read([events], { form, allowance: allow(45, 5) })).rejects.toThrow('more than 5 values');
    const limits = toToolLimits({ mcpAnswerMessagesMax: 1 });
    await expect(read([events], { form, limits })).rejects.toThrow('more than 1 messages');
  });

  it('[U162] that is a list of messages is refused', async () => {
    await expect(read([' \n[{}]'])).rejects.toThrow('a list of messages');
  });
});

describe('a stream of notifications', () => {
  const stream = { form: 'events', allowance: undefined } as const;

  it('[U163] has messages of limited bytes and values', async () => {
    const limits = toToolLimits({ mcpNotificationBytesMax: 12, mcpNotificationValuesMax: 3 });
    const fine = 'data: abcd\n\n'.repeat(10);
    expect(await read([fine], { ...stream, limits })).toBe(fine);
    await expect(read(['data: abcde\n\n'], { ...stream, limits })).rejects.toThrow('more than 12 bytes');
    await expect(read(['data: [1,2,3'], { ...stream, limits })).rejects.toThrow('more than 3 values');
    expect([all.mcpNotificationBytesMax, all.mcpNotificationValuesMax]).toEqual([1_048_576, 1_000]);
  });

  it('[U163] has a limited number of messages and bytes within a time window', async () => {
    const clock = createManualClock();
    const ping = ': p\n\n';
    const later = async function* (count: number, afterMs: number) {
      for (let round = 0; round < 2; round++) {
        for (let at = 0; at < count; at++) yield Buffer.from(ping);
        clock.advance(afterMs);
      }
    };
    const limits = toToolLimits({ mcpStreamMessagesMax: 3, mcpStreamBytesMax: 15, mcpStreamWindowMs: 1_000 });
    const run = (count: number, afterMs: number) => readFrom(later(count, afterMs), { ...stream, clock, limits });
    expect(await run(3, 1_000)).toBe(ping.repeat(6));
    await expect(run(3, 999)).rejects.toThrow('more than 15 bytes within 1000 ms');
    const many = toToolLimits({ mcpStreamMessagesMax: 3, mcpStreamWindowMs: 1_000 });
    const messages = readFrom(later(3, 999), { ...stream, clock, limits: many });
    await expect(messages).rejects.toThrow('more than 3 messages within 1000 ms');
    const { mcpStreamMessagesMax, mcpStreamBytesMax, mcpStreamWindowMs } = all;
    expect([mcpStreamMessagesMax, mcpStreamBytesMax, mcpStreamWindowMs]).toEqual([6_000, 4_194_304, 60_000]);
  });

  it('[U163] has ids of at most 1,024 bytes, and lines that end in any way', async () => {
    const id = (length: number) => `id: ${'x'.repeat(length - 5)}\ndata:\n\n`;
    expect(await read([id(1_024)], stream)).toBe(id(1_024));
    await expect(read([id(1_025)], stream)).rejects.toThrow('the id of an event has more than 1024 bytes');
    for (const chunks of [
      ['data: a\r\n\r\ndata: b\r\r'],
      ['data: a\r', '\n\r', '\ndata: b\r', '\r'],
      ['data: a\n\ndata: b\n\n'],
    ]) {
      expect(await read(chunks, stream)).toBe('data: a\n\ndata: b\n\n');
    }
  });
});

it('[U169] buffers of incomplete messages are bounded for a connection and for all, and are released', async () => {
  const heldByAll = new HeldBytes();
  const limits = toToolLimits({ mcpConnectionBytesMax: 10, mcpHeldBytesMax: 15 });
  const connection = () => new HeldBytes(heldByAll);
  const begun = async (held: HeldBytes, text: string) => {
    const reading = open({ held, heldByAll, limits }).read(toChunks([text, text]));
    await reading.next();
    return reading;
  };
  const [one, two] = [connection(), connection()];
  const first = await begun(one, '{"1234567'); // 9 bytes
  await expect(begun(one, '{"')).rejects.toThrow('the answers under way have more than 10 bytes');
  await expect(begun(two, '{"12345')).rejects.toThrow(
    'the answers of all MCP servers under way have more than 15 bytes',
  );
  expect([one.held, two.held, heldByAll.held]).toEqual([9, 0, 9]);
  await first.return();
  expect([one.held, heldByAll.held]).toEqual([0, 0]);
  expect([all.mcpConnectionBytesMax, all.mcpHeldBytesMax]).toEqual([33_554_432, 268_435_456]);
});

interface Given extends Partial<Omit<MessageGuardOptions, 'limits'>> {
  readonly limits?: ToolLimits;
}

function open(given: Given): MessageGuard {
  const heldByAll = new HeldBytes();
  const defaults = {
    form: 'json',
    allowance: allow(1_000_000),
    limits: toToolLimits(),
    clock: createManualClock(),
  } as const;
  return new MessageGuard({ ...defaults, held: new HeldBytes(heldByAll), heldByAll, ...given });
}

async function read(chunks: readonly string[], given: Given = {}): Promise<string> {
  return await readFrom(toChunks(chunks), given);
}

async function readFrom(chunks: AsyncIterable<Uint8Array>, given: Given): Promise<string> {
  let text = '';
  for await (const chunk of open(given).read(chunks)) text += Buffer.from(chunk).toString();
  return text;
}

async function* toChunks(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function allow(bytes: number, values = 1_000_000): Allowance {
  return { bytesMax: bytes, bytes, valuesMax: values, values };
}
