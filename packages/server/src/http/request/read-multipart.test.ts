import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { ClientGone } from './client-gone.ts';
import { readMultipart } from './read-multipart.ts';

const part = (header: string, content: string) =>
  `--X\r\ncontent-disposition: form-data; ${header}\r\n\r\n${content}\r\n`;
const file = (content: string) =>
  part('name="file"; filename="ä%22.txt"\r\nContent-Type: text/plain; charset=utf-8', content);

function toRequest(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): IncomingMessage {
  const headers = { 'content-type': 'multipart/form-data; boundary=X' };
  return Object.assign(Readable.from(chunks), { headers }) as unknown as IncomingMessage;
}

/** Name, filename, type and content of each part, or the message of the error. */
async function read(chunks: Iterable<Buffer> | AsyncIterable<Buffer>, isContentRead = true): Promise<unknown> {
  const parts: unknown[] = [];
  try {
    for await (const { name, filename, mimeType, content } of readMultipart(toRequest(chunks))) {
      const bytes: Uint8Array[] = [];
      if (isContentRead) for await (const chunk of content) bytes.push(chunk);
      parts.push([name, filename, mimeType, Buffer.concat(bytes).toString()]);
    }
    return parts;
  } catch (error) {
    return error instanceof ClientGone ? 'gone' : (error as Error).message;
  }
}

const whole = (text: string) => [Buffer.from(text)];

describe('multipart forms', () => {
  const form = `before\r\n${file('a\r\n--Y\r\n-b')}${part('name="empty"', '')}${part('name="last"', '--')}--X--\r\nafter`;
  const expected = [
    ['file', 'ä".txt', 'text/plain; charset=utf-8', 'a\r\n--Y\r\n-b'],
    ['empty', undefined, undefined, ''],
    ['last', undefined, undefined, '--'],
  ];

  it('[W110] a form is read the same however its bytes are split, and content that is not read is skipped', async () => {
    const bytes = Buffer.from(form);
    expect(await read([bytes])).toEqual(expected);
    for (let at = 1; at < bytes.length; at++) {
      expect([at, await read([bytes.subarray(0, at), bytes.subarray(at)])]).toEqual([at, expected]);
    }
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
    const large = 'x'.repeat(300_000);
    expect(await read(whole(`${file(large)}${file('b')}--X--`), false)).toHaveLength(2);
  });

  it('[W110] a form that ends early, a part without headers or name, and other types are refused', async () => {
    for (const body of [
      form.slice(0, form.indexOf('--X--')),
      file('a'),
      '--X',
      '--X\r\n',
      '',
      'text',
      `${file('a')}--X-`,
    ]) {
      expect([body, await read(whole(body))]).toEqual([body, expect.stringContaining('the body ends in the middle')]);
    }
    expect(await read(whole(`--X\r\nabc\r\n${file('a')}--X--`))).toContain('a part has no headers');
    expect(await read(whole(`--X\r\n\r\na\r\n--X--`))).toContain('a part has no name');
    expect(await read(whole(`--Xjunk\r\n${file('a').slice(5)}--X--`))).toContain('a part has no name');
    const json = Object.assign(toRequest([]), { headers: { 'content-type': 'application/json' } });
    await expect(readMultipart(json).next()).rejects.toThrow('the body is not multipart/form-data with a boundary');
  });

  it('[W110] parts, preamble and headers of a part have limits', async () => {
    const { uploadPartsMax, uploadPreambleBytesMax, uploadHeaderBytesMax } = httpLimits;
    expect([uploadPartsMax, uploadPreambleBytesMax, uploadHeaderBytesMax]).toEqual([16, 8_192, 8_192]);
    const parts = (count: number) => whole(`${part('name="a"', '').repeat(count)}--X--`);
    expect(await read(parts(uploadPartsMax))).toHaveLength(uploadPartsMax);
    expect(await read(parts(uploadPartsMax + 1))).toContain('the form has more than 16 parts');
    const preamble = (bytes: number) => whole(`${'p'.repeat(bytes)}\r\n${file('a')}--X--`);
    expect(await read(preamble(uploadPreambleBytesMax - 2))).toHaveLength(1);
    expect(await read(preamble(uploadPreambleBytesMax + 1))).toContain('before the first part of the form');
    const headers = (bytes: number) => whole(`${part(`name="a"\r\nx: ${'y'.repeat(bytes)}`, '')}--X--`);
    expect(await read(headers(uploadHeaderBytesMax - 200))).toHaveLength(1);
    for (const bytes of [uploadHeaderBytesMax, 3 * uploadHeaderBytesMax, 100_000]) {
      expect(await read(headers(bytes))).toMatch(/too long|no name/);
    }
  });

  it('[W110] a client that leaves in the middle of a part is noticed by the reader of the content', async () => {
    async function* leaving() {
      yield Buffer.from(file('a').slice(0, -3));
      throw new Error('aborted');
    }
    expect(await read(leaving())).toBe('gone');
  });

  it('[W110] the body is read only as fast as its content', async () => {
    let sent = 0;
    function* endless() {
      yield Buffer.from(file('a').slice(0, -2));
      for (; ; sent++) yield Buffer.alloc(65_536);
    }
    for await (const { content } of readMultipart(toRequest(endless()))) {
      for await (const _ of content) break;
      break;
    }
    expect(sent).toBeLessThan(50);
  });
});
