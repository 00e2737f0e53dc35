import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Entry, encodeFrame, type Frame, type NewFrame } from '../store/frame.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { pruneDeltas } from './prune-deltas.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { owned, readAll, start, textOf } from '../store/suite/samples.suite.ts';
import { commitOne } from '../store/write.ts';

const isDelta = ({ type }: Frame) => type === 'delta';
const isTurnEnd = ({ type }: Frame) => type === 'end';

function frame(type: string, streamId: number, text = '', time = start): NewFrame {
  return { threadId: 't', turn: { streamId, depth: 0, run: 'req_1' }, time, type, payload: { text } };
}

async function write(store: Store, frames: NewFrame[]): Promise<void> {
  const fence = await owned(store, 'sesn_1');
  const encoded = frames.map((each) => encodeFrame(each));
  await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: encoded, changes: [] });
}

/** As a view would: deltas grow a text, the whole block replaces it. */
function fold(entries: readonly Entry[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.kind === 'pruned') continue;
    const { type, turn } = entry.value;
    const key = String(turn!.streamId);
    if (type === 'delta') texts[key] = `${texts[key] ?? ''}${textOf(entry.value)}`;
    if (type === 'block') texts[key] = textOf(entry.value);
  }
  return texts;
}

it('[T15] deltas of turns that ended before the time are removed; open turns and everything else stay', async () => {
  const store = createMemoryStore();
  const [one, two, three] = [1, 2, 3];
  await write(store, [
    frame('delta', one, 'a'),
    frame('delta', two, 'x'),
    frame('delta', one, 'b'),
    frame('block', one, 'ab'),
    frame('end', one, '', start + 10),
    { ...frame('delta', 9), turn: null },
    frame('delta', three, 'z'),
    frame('end', three, '', start + 20),
  ]);
  const request = { store, sessionId: 'sesn_1', isDelta, isTurnEnd };
  const seqs = async () =>
    (await readAll(store, 'sesn_1')).map(({ kind, seq, lastSeq }) =>
      kind === 'frame' ? `${seq}` : `${seq}-${lastSeq}`,
    );
  expect(await pruneDeltas({ ...request, endedBefore: start + 10 })).toBe(0);
  expect(await pruneDeltas({ ...request, endedBefore: start + 20 })).toBe(2);
  expect(await seqs()).toEqual(['1-1', '2', '3-3', '4', '5', '6', '7', '8']);
  expect(await pruneDeltas({ ...request, endedBefore: start + 20 })).toBe(0);
  expect(await pruneDeltas({ ...request, endedBefore: start + 21 })).toBe(1);
  expect(await seqs()).toEqual(['1-1', '2', '3-3', '4', '5', '6', '7-7', '8']);
});

it('[T15, O15] deltas fold to the block that follows them, and pruning does not change what folds out of the log', async () => {
  const turns = fc.array(fc.array(fc.string({ maxLength: 20 }), { maxLength: 8 }), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(turns, fc.infiniteStream(fc.nat()), fc.nat(5), async (texts, chance, open) => {
    const queues = texts.map((pieces, id) => [
      ...pieces.map((piece) => frame('delta', id, piece)),
      frame('block', id, pieces.join('')),
      ...(id === open ? [] : [frame('end', id)]),
    ]);
    // The turn that is open has no whole block yet.
    if (queues[open] !== undefined) queues[open].pop();
    const interleaved: NewFrame[] = [];
    while (queues.some(({ length }) => length > 0)) {
      const left = queues.filter(({ length }) => length > 0);
      interleaved.push(left[chance.next().value! % left.length]!.shift()!);
    }
    const store = await openSqliteStore({ path: ':memory:' });
    await write(store, interleaved);
    const before = await readAll(store, 'sesn_1');
    const wanted = Object.fromEntries(texts.map((pieces, id) => [id, pieces.join('')]));
    const isSaid = (id: string) => id !== String(open) || texts[open]!.length > 0;
    expect(fold(before)).toEqual(Object.fromEntries(Object.entries(wanted).filter(([id]) => isSaid(id))));
    await pruneDeltas({ store, sessionId: 'sesn_1', endedBefore: Infinity, isDelta, isTurnEnd });
    const after = await readAll(store, 'sesn_1');
    expect(fold(after)).toEqual(fold(before));
    expect(after.at(-1)?.lastSeq).toBe(interleaved.length === 0 ? undefined : interleaved.length);
    const deltas = after.filter((entry) => entry.kind === 'frame' && entry.value.type === 'delta');
    expect(deltas).toHaveLength(texts[open]?.length ?? 0);
    await store.close();
  });
  await fc.assert(property, { numRuns: 40 });
});
