import { describe, expect, it } from 'vitest';
import { decodeSse, SseDecoder, type SseItem } from './index.ts';

describe('decodeSse', () => {
  it('[E17] reads a web stream, one that cannot be iterated too, and an async iterable', async () => {
    const expected = [event('1'), { type: 'comment', text: 'é' }, { type: 'cut', bytes: 5 }];
    const chunks = ['data: 1\n\n', ': é\ndat', 'a:'];
    expect(await collect(decodeSse(streamOf(chunks)))).toEqual(expected);
    expect(await collect(decodeSse(notIterable(streamOf(chunks))))).toEqual(expected);
    expect(await collect(decodeSse(iterableOf(chunks)))).toEqual(expected);
  });

  it('[E17] cancels the response of a reader that stops, and leaves the decoder clean', async () => {
    for (const wrap of [(stream: ReadableStream<Uint8Array>) => stream, notIterable]) {
      let cancelled = false;
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(utf8('id: 3\ndata: 1\n\ndata: ha')),
        cancel: () => void (cancelled = true),
      });
      const decoder = new SseDecoder();
      for await (const item of decodeSse(wrap(stream), decoder)) {
        expect(item).toMatchObject({ data: '1' });
        break;
      }
      expect(cancelled).toBe(true);
      expect(decoder.push(utf8('data: 2\n\n'))).toEqual([{ ...event('2'), id: '3' }]);
    }
  });

  it('[E17] passes a failure of the source on after reporting the cut event', async () => {
    const items: SseItem[] = [];
    const failing = decodeSse(iterableOf(['data: 1\n\ndata'], new Error('socket hang up')));
    await expect(
      (async () => {
        for await (const item of failing) items.push(item);
      })(),
    ).rejects.toThrow('socket hang up');
    expect(items).toEqual([event('1'), { type: 'cut', bytes: 4 }]);
  });
});

function event(data: string): SseItem {
  return { type: 'event', event: 'message', data, id: '' };
}

async function collect(source: AsyncIterable<SseItem>): Promise<SseItem[]> {
  const items: SseItem[] = [];
  for await (const item of source) items.push(item);
  return items;
}

function streamOf(chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(utf8(chunk));
      controller.close();
    },
  });
}

// As in Safari: getReader is all there is.
function notIterable(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return { getReader: () => stream.getReader() } as ReadableStream<Uint8Array>;
}

async function* iterableOf(chunks: string[], failure?: Error): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield utf8(chunk);
  if (failure) throw failure;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
