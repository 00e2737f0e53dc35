import { expect, it } from 'vitest';
import type { Entry, NewFrame } from '../store/frame.ts';
import { createLog } from './log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { newSession, owned, sampleFrame, show } from '../store/suite/samples.suite.ts';

const event = (text: string) => sampleFrame(text);
const delta = (text: string) => sampleFrame(text, { type: 'delta.text' });

it('[O22] a tail that skips deltas delivers the existing log without them, and other readers receive every frame', async () => {
  const store = createMemoryStore();
  const log = createLog({ store });
  const fence = await owned(store, 'sesn_1');
  const append = (...frames: NewFrame[]) =>
    log.append({ type: 'append', sessionId: 'sesn_1', fence, frames, changes: [] });
  await append(event('a'), delta('b'), delta('c'), event('d'), delta('e'));
  const read = async (skipsDeltas: boolean, count: number) => {
    const leaving = new AbortController();
    const entries: Entry[] = [];
    for await (const batch of log.tail({ sessionId: 'sesn_1', after: 0, skipsDeltas, signal: leaving.signal })) {
      entries.push(...batch);
      if (entries.at(-1)!.lastSeq >= count) leaving.abort();
    }
    return show(entries);
  };
  const [sparse, whole, later] = [read(true, 7), read(false, 7), read(true, 7)];
  await new Promise((resolve) => setImmediate(resolve));
  await append(event('f'), delta('g'));
  expect(await whole).toEqual(['1 a', '2 b', '3 c', '4 d', '5 e', '6 f', '7 g']);
  // Frames written in the meantime are shared by all readers, so they include deltas.
  expect(await sparse).toEqual(['1 a', '2-3', '4 d', '5-5', '6 f', '7 g']);
  expect((await later).slice(0, 4)).toEqual(['1 a', '2-3', '4 d', '5-5']);
  await log.close();
  await store.close();
});

it('[O23] creating a session with a long log delays no other commit, and closing the log waits for it', async () => {
  const store = createMemoryStore();
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const slow: Store = {
    ...store,
    commit: async (writes) => {
      if (writes.some((write) => write.type === 'create')) await opened;
      return store.commit(writes);
    },
  };
  const fence = await owned(store, 'sesn_1');
  const log = createLog({ store: slow, limits: { logCommitBytesMax: 5_000 } });
  const frames = [event('x'.repeat(5_000))];
  let isMade = false;
  const making = log
    .append({ type: 'create', session: newSession('sesn_2'), frames, changes: [] })
    .then(() => (isMade = true));
  await log.append({ type: 'append', sessionId: 'sesn_1', fence, frames: [event('y')], changes: [] });
  expect(isMade).toBe(false);
  const closing = log.close();
  open();
  await closing;
  expect(isMade).toBe(true);
  await making;
  await store.close();
});
