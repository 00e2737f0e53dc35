import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeComment, encodeEvent, SseDecoder, type SseDecoderOptions, type SseItem, sseLimits } from './index.ts';

describe('SseDecoder', () => {
  it('[E4] gives the same items however the bytes are cut', () => {
    fc.assert(
      fc.property(wildBytes, cuts, fc.integer({ min: 1, max: 40 }), (bytes, at, eventBytesMax) => {
        const whole = decode([bytes], { eventBytesMax });
        expect(decode(cutAt(bytes, at), { eventBytesMax })).toEqual(whole);
        expect(decode(singles(bytes), { eventBytesMax })).toEqual(whole);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[E5] reads back what encodeEvent wrote, with every line ending as LF', () => {
    const fields = fc.record(
      { data: value, event: word.filter((text) => text !== ''), id: word, retry: fc.nat() },
      { requiredKeys: ['data'] },
    );
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 5 }), cuts, (events, at) => {
        const decoder = new SseDecoder();
        const bytes = utf8(events.map((event) => encodeEvent(event)).join(''));
        const items = cutAt(bytes, at).flatMap((chunk) => decoder.push(chunk));
        let id = '';
        const expected = events.map((event) => {
          id = event.id ?? id;
          return { type: 'event', event: event.event ?? 'message', data: event.data.replace(/\r\n?/g, '\n'), id };
        });
        expect(items).toEqual(expected);
        expect(decoder.end()).toEqual([]);
        expect(decoder.lastEventId).toBe(id);
        expect(decoder.retryMs).toBe(events.findLast((event) => event.retry !== undefined)?.retry);
      }),
    );
  });

  it('[E5] reads back what encodeComment wrote', () => {
    fc.assert(
      fc.property(value, (text) => {
        const lines = text.split(/\r\n|\r|\n/);
        expect(decodeText(encodeComment(text))).toEqual(lines.map((line) => ({ type: 'comment', text: line })));
      }),
    );
  });

  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('[E6] takes %s as line ending, also cut in the middle', (_name, ending) => {
    const text = `event: a${ending}data: 1${ending}${ending}data: 2${ending}${ending}`;
    const expected = [event('1', 'a'), event('2')];
    expect(decodeText(text)).toEqual(expected);
    expect(decode(singles(utf8(text)))).toEqual(expected);
  });

  it('[E6] dispatches at the CR and does not take the LF of the next chunk for a blank line', () => {
    const decoder = new SseDecoder();
    expect(decoder.push(utf8('data: 1\r\r'))).toEqual([event('1')]);
    expect(decoder.push(utf8('\ndata: 2\r'))).toEqual([]);
    expect(decoder.push(utf8('\n'))).toEqual([]);
    expect(decoder.push(utf8('data: 3\n\n'))).toEqual([event('2\n3')]);
  });

  it('[E7] ignores one byte order mark at the start and keeps every other', () => {
    const mark = '\uFEFF';
    expect(decode(singles(utf8(`${mark}data: ${mark}x\n\n`)))).toEqual([event(`${mark}x`)]);
    expect(decodeText(`data: 1\n\n${mark}data: 2\n\n`)).toEqual([event('1')]);
    expect(decodeText(`${mark}${mark}data: 2\n\n`)).toEqual([]);
    expect(decode([new Uint8Array([0xef]), new Uint8Array([0xbb])])).toEqual([{ type: 'cut', bytes: 2 }]);
  });

  it('[E8] follows the examples of the standard', () => {
    expect(decodeText('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual([event('YHOO\n+2\n10')]);
    expect(
      decodeText(': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n'),
    ).toEqual([
      { type: 'comment', text: 'test stream' },
      { ...event('first event'), id: '1' },
      event('second event'),
      { type: 'cut', bytes: 18 },
    ]);
    expect(decodeText('data\n\ndata\ndata\n\ndata:')).toEqual([event(''), event('\n'), { type: 'cut', bytes: 5 }]);
    expect(decodeText('data:test\n\ndata: test\n\n')).toEqual([event('test'), event('test')]);
  });

  it('[E8] dispatches nothing without data, and forgets the name', () => {
    expect(decodeText('event: a\n\ndata: 1\n\n')).toEqual([event('1')]);
  });

  it('[E8] ignores unknown fields and names that only begin alike', () => {
    expect(decodeText('dat: 1\ndata2: 2\nDATA: 3\n data: 4\nfoo\ndata: 5\n\n')).toEqual([event('5')]);
  });

  it('[E9] emits comments at their position, also inside an event', () => {
    expect(decodeText(':\n: a\n:b\ndata: 1\n:c\ndata: 2\n\n')).toEqual([
      { type: 'comment', text: '' },
      { type: 'comment', text: 'a' },
      { type: 'comment', text: 'b' },
      { type: 'comment', text: 'c' },
      event('1\n2'),
    ]);
  });

  it('[E10] takes over an id at the blank line only, keeps it, and ignores one with NUL', () => {
    const decoder = new SseDecoder({ lastEventId: '4' });
    decoder.push(utf8('id: 5\n'));
    expect(decoder.lastEventId).toBe('4');
    decoder.push(utf8('\n'));
    expect(decoder.lastEventId).toBe('5');
    expect(decoder.push(utf8('id: 6\0\ndata: x\n\n'))).toEqual([{ ...event('x'), id: '5' }]);
    decoder.push(utf8('id\n\n'));
    expect(decoder.lastEventId).toBe('');
  });

  it('[E11] takes retry of digits only, and never more than a timer can wait', () => {
    const decoder = new SseDecoder();
    for (const bad of ['', ' 1', '-1', '1.5', '1e3', '٣', '1s']) decoder.push(utf8(`retry: ${bad}\n`));
    expect(decoder.retryMs).toBeUndefined();
    decoder.push(utf8('retry: 2500\n'));
    expect(decoder.retryMs).toBe(2500);
    decoder.push(utf8(`retry: ${sseLimits.retryMsMax}\n`));
    expect(decoder.retryMs).toBe(2_147_483_647);
    decoder.push(utf8(`retry: ${'9'.repeat(400)}\n`));
    expect(decoder.retryMs).toBe(2_147_483_647);
  });

  it('[E12] reports an unfinished event at the end, and starts afresh with the same id', () => {
    const decoder = new SseDecoder();
    decoder.push(utf8('id: 1\ndata: a\n\nid: 2\nevent: lost\ndata: lo'));
    expect(decoder.end()).toEqual([{ type: 'cut', bytes: 5 + 11 + 8 }]);
    expect(decoder.lastEventId).toBe('1');
    expect(decoder.push(utf8('\uFEFFdata: b\n\n'))).toEqual([{ ...event('b'), id: '1' }]);
    expect(decoder.end()).toEqual([]);
  });

  it('[E13] passes an event of exactly the limit and drops a longer one up to its blank line', () => {
    const max = 'event: ab\ndata: 1234'.length - 1;
    const text = (data: string) => `event: ab\ndata: ${data}\n\ndata: next\n\n`;
    expect(decodeText(text('1234'), { eventBytesMax: max })).toEqual([event('1234', 'ab'), event('next')]);
    expect(decodeText(text('12345'), { eventBytesMax: max })).toEqual([
      { type: 'oversize', bytes: max + 1, limit: max },
      event('next'),
    ]);
    expect(decodeText('data: 12345678\ndata: more', { eventBytesMax: 10 })).toEqual([
      { type: 'oversize', bytes: 24, limit: 10 },
    ]);
  });

  it('[E13] keeps the id that an oversize event gave in time, so that resuming does not meet it again', () => {
    const decoder = new SseDecoder({ eventBytesMax: 10 });
    expect(decoder.push(utf8('id: 9\ndata: 123456\n: ping\n\n'))).toEqual([
      { type: 'comment', text: 'ping' },
      { type: 'oversize', bytes: 17, limit: 10 },
    ]);
    expect(decoder.lastEventId).toBe('9');
  });

  it('[E13] drops a comment over the limit alone, without the event around it', () => {
    const text = `data: 1\n:${'x'.repeat(10)}\ndata: 2\n\n`;
    expect(decodeText(text, { eventBytesMax: 14 })).toEqual([{ type: 'comment', text: 'xxxxxxxxxx' }, event('1\n2')]);
    expect(decodeText(text.replace('x', 'x'.repeat(9)), { eventBytesMax: 14 })).toEqual([
      { type: 'oversize', bytes: 20 - 1, limit: 14 } as const,
      event('1\n2'),
    ]);
    expect(decodeText(`data: 1\n:${'x'.repeat(20)}`, { eventBytesMax: 14 })).toEqual([
      { type: 'oversize', bytes: 21, limit: 14 },
      { type: 'cut', bytes: 7 },
    ]);
  });

  it('[E14] holds no more than the limit of an endless event, whatever it consists of', () => {
    const chunk = utf8('data: x\n'.repeat(8_192));
    const line = utf8('x'.repeat(65_536));
    for (const bytes of [chunk, line]) {
      const decoder = new SseDecoder({ eventBytesMax: 1 << 20 });
      const before = process.memoryUsage().arrayBuffers;
      for (let pushed = 0; pushed < 32 << 20; pushed += bytes.length) expect(decoder.push(bytes)).toEqual([]);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
      expect(decoder.push(utf8('\n\ndata: 1\n\n'))).toMatchObject([{ type: 'oversize' }, event('1')]);
    }
  });

  it('[E15] takes linear time for long lines, many lines and lines without colon', () => {
    const inputs = {
      'one line': (size: number) => utf8(`data: ${'x'.repeat(size)}\n\n`),
      'data lines': (size: number) => utf8(`${'data: x\n'.repeat(size / 8)}\n`),
      'no colon': (size: number) => utf8(`${'xxxxxxx\n'.repeat(size / 8)}\n`),
      'only CR': (size: number) => utf8(`${'data: x\r\r'.repeat(size / 8)}\r`),
    };
    for (const [name, make] of Object.entries(inputs)) {
      const small = fastestMs(make(1 << 18));
      const large = fastestMs(make(1 << 21));
      // 8 times the bytes; anything quadratic would be 64 times.
      expect(large / small, `${name}: ${small.toFixed(2)} ms, ${large.toFixed(2)} ms`).toBeLessThan(30);
    }
  });

  it('[E16] never throws and ends bad UTF-8 as U+FFFD without losing the framing', () => {
    const bad = new Uint8Array([...utf8('data: '), 0xff, 0xe2, 0x82, ...utf8('\n\ndata: ok\n\n')]);
    expect(decode([bad])).toEqual([event('\uFFFD\uFFFD'), event('ok')]);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decode([bytes])));
  });
});

/** Bytes that are mostly SSE, with everything in it that the algorithm looks at, and some that are nothing. */
const wildBytes = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'data',
        'data:',
        'data: x',
        'event: a',
        'id: 1',
        'id: \0',
        'retry: 10',
        ':',
        ': ping',
        'foo',
        '\uFEFF',
      ),
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', 'é→😀'),
      fc.uint8Array({ maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => new Uint8Array(parts.flatMap((part) => [...(typeof part === 'string' ? utf8(part) : part)])));

const cuts = fc.array(fc.nat(200), { maxLength: 8 });
// Well-formed text only: a lone surrogate has no UTF-8 form.
const value = fc.string({
  unit: fc.oneof(fc.constantFrom('\n', '\r', ' ', ':', '\0', '\uFEFF'), fc.string({ unit: 'grapheme', maxLength: 3 })),
});
const word = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text));

function event(data: string, name = 'message'): SseItem {
  return { type: 'event', event: name, data, id: '' };
}

function decodeText(text: string, options?: SseDecoderOptions): SseItem[] {
  return decode([utf8(text)], options);
}

// The buffer is overwritten after each push, as readers with one fixed buffer do.
function decode(chunks: Uint8Array[], options?: SseDecoderOptions): SseItem[] {
  const decoder = new SseDecoder(options);
  const items = chunks.flatMap((chunk) => {
    const reused = chunk.slice();
    const got = decoder.push(reused);
    reused.fill(0x7a);
    return got;
  });
  return [...items, ...decoder.end()];
}

function cutAt(bytes: Uint8Array, at: number[]): Uint8Array[] {
  const places = [0, ...at.map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

function singles(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => new Uint8Array([byte]));
}

function fastestMs(bytes: Uint8Array): number {
  let fastest = Infinity;
  for (let round = 0; round < 5; round++) {
    // CPU time, because the machine may have other work.
    const start = process.cpuUsage();
    const decoder = new SseDecoder();
    for (let at = 0; at < bytes.length; at += 16_384) decoder.push(bytes.subarray(at, at + 16_384));
    const { user, system } = process.cpuUsage(start);
    fastest = Math.min(fastest, (user + system) / 1_000);
  }
  return fastest;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
