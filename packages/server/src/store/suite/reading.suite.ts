import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeFrame } from '../frame.ts';
import { commitOne } from '../write.ts';
import {
  append,
  type CreateStore,
  codeOf,
  numRuns,
  owned,
  readAll,
  sampleFrame,
  show,
  start,
  withStore,
} from './samples.suite.ts';

export function readingSuite(createStore: CreateStore): void {
  it('[T13] a frame is returned as it was written', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const turn = { streamId: 3, depth: 1, run: 'req_1' };
      const given = sampleFrame('', {
        turn,
        threadId: null,
        payload: { text: 'line\nbreak \u0000 \ud800 ü\u2028', n: [1.5, null] },
      });
      await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [encodeFrame(given)], changes: [] });
      const [entry] = await store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 1, bytesMax: 1 });
      expect(entry).toMatchObject({ kind: 'frame', seq: 1, lastSeq: 1, sessionId: 'sesn_1' });
      expect(entry!.kind === 'frame' && entry!.value).toEqual({ ...given, sessionId: 'sesn_1', seq: 1 });
    }));

  it('[T13] reading continues from any cursor up to the limits, but at least by one entry', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', fence, ['a', 'b', 'x'.repeat(300_000)]));
      await commitOne(store, append('sesn_1', fence, ['d']));
      const read = async (after: number, entriesMax: number, bytesMax: number) =>
        (await store.read({ sessionId: 'sesn_1', after, entriesMax, bytesMax })).map(({ seq }) => seq);
      const one = encodeFrame(sampleFrame('a')).bytes.length + 1;
      expect(await read(0, 9, 1_000_000)).toEqual([1, 2, 3, 4]);
      expect(await read(0, 2, 1_000_000)).toEqual([1, 2]);
      expect(await read(0, 9, 2 * one)).toEqual([1, 2]);
      expect(await read(0, 9, 2 * one - 1)).toEqual([1]);
      expect(await read(0, 9, 0)).toEqual([1]);
      expect(await read(2, 9, 1)).toEqual([3]);
      expect(await read(3, 9, 1)).toEqual([4]);
      expect(await read(4, 9, 1)).toEqual([]);
      expect(await read(99, 9, 1)).toEqual([]);
      expect(
        await codeOf(
          read(0, 9, 1).then(() => store.read({ sessionId: 'sesn_9', after: 0, entriesMax: 1, bytesMax: 1 })),
        ),
      ).toBe('not_found');
    }));

  it('[T14] pruned frames leave a range: their numbers stay taken, and a cursor within it continues after it', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', fence, ['a', 'b', 'c', 'd']));
      await commitOne(store, append('sesn_1', fence, ['e', 'f']));
      await store.prune('sesn_1', [
        { firstSeq: 2, lastSeq: 3 },
        { firstSeq: 6, lastSeq: 6 },
      ]);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 a', '2-3', '4 d', '5 e', '6-6']);
      expect(show(await readAll(store, 'sesn_1', 2))).toEqual(['3-3', '4 d', '5 e', '6-6']);
      expect(await commitOne(store, append('sesn_1', fence, ['g']))).toEqual({ firstSeq: 7, lastSeq: 7 });
      await store.prune('sesn_1', [{ firstSeq: 3, lastSeq: 5 }]);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 a', '2-6', '7 g']);
      await store.prune('sesn_1', [{ firstSeq: 1, lastSeq: 7 }]);
      expect(show(await readAll(store, 'sesn_1', 3))).toEqual(['4-7']);
      expect(await store.heads(['sesn_1'])).toEqual(new Map([['sesn_1', 7]]));
      await store.prune('sesn_1', []);
      expect(await codeOf(store.prune('sesn_9', []))).toBe('not_found');
    }));

  it('[T14] whatever is pruned in whatever steps, every cursor gives the rest in order and without a gap', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
    const steps = fc.array(fc.array(fc.boolean(), { minLength: 48, maxLength: 48 }), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(sizes, steps, fc.nat(48), async (appends, prunes, cursor) => {
      await withStore(createStore, async ({ store }) => {
        const fence = await owned(store, 'sesn_1');
        let head = 0;
        const gone = new Set<number>();
        for (const [index, size] of appends.entries()) {
          // Some are large, so that segments of all kinds meet.
          const text = index % 2 === 0 ? 'x' : 'y'.repeat(2_000);
          await commitOne(
            store,
            append(
              'sesn_1',
              fence,
              Array.from({ length: size }, () => text),
            ),
          );
          head += size;
          const marks = prunes[index % prunes.length]!;
          const seqs = Array.from({ length: head }, (_, at) => at + 1).filter((seq) => marks[seq - 1]);
          await store.prune(
            'sesn_1',
            seqs.map((seq) => ({ firstSeq: seq, lastSeq: seq })),
          );
          for (const seq of seqs) gone.add(seq);
        }
        const after = Math.min(cursor, head);
        const entries = await readAll(store, 'sesn_1', after);
        let next = after + 1;
        for (const entry of entries) {
          expect(entry.seq).toBe(next);
          for (; next <= entry.lastSeq; next++) expect(gone.has(next)).toBe(entry.kind === 'pruned');
        }
        expect(next).toBe(head + 1);
      });
    });
    await fc.assert(property, { numRuns });
  });

  it('[T13] frames keep the times of their writer', () =>
    withStore(createStore, async ({ store, clock }) => {
      const fence = await owned(store, 'sesn_1');
      clock.setNow(start - 1_000_000);
      await commitOne(store, append('sesn_1', fence, ['a']));
      const [entry] = await store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 1, bytesMax: 1 });
      expect(entry!.kind === 'frame' && entry!.value.time).toBe(start);
    }));
}
