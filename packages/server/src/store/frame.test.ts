import { expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { storeLimits } from './limits.ts';
import { encodeFrame, StoredFrame } from './frame.ts';
import { createLog } from '../log/log.ts';
import { createMemoryStore } from './memory/memory-store.ts';
import { newSession, readAll, sampleFrame } from './suite/samples.suite.ts';

it('[T28] a frame is serialised when it is passed, so that later changes of the object have no effect', () => {
  const payload = { text: 'before' };
  const { bytes } = encodeFrame(sampleFrame('', { payload }));
  payload.text = 'after';
  expect(new StoredFrame('sesn_1', 1, bytes).value.payload).toEqual({ text: 'before' });
});

it('[T28] all readers of a frame share one parsed value and the same bytes', () => {
  const { bytes } = encodeFrame(sampleFrame('a', { turn: { streamId: 1, depth: 0, run: 'req_1' } }));
  const frame = new StoredFrame('sesn_1', 7, bytes);
  expect(frame.value).toBe(frame.value);
  expect(frame.bytes).toBe(bytes);
  expect(Buffer.from(bytes).toString()).toBe('["sthr_1",[1,0,"req_1"],1767225600000,"text",{"text":"a"}]');
});

it('[T28] a frame of the largest size is kept, and one byte more is refused', () => {
  const empty = encodeFrame(sampleFrame('')).bytes.length;
  const fits = sampleFrame('x'.repeat(storeLimits.frameBytesMax - empty));
  expect(encodeFrame(fits).bytes).toHaveLength(storeLimits.frameBytesMax);
  expect(() => encodeFrame(sampleFrame('x'.repeat(storeLimits.frameBytesMax - empty + 1)))).toThrow(
    `has ${storeLimits.frameBytesMax + 1} bytes, and ${storeLimits.frameBytesMax} are allowed`,
  );
  // Bytes are counted, not characters.
  expect(() => encodeFrame(sampleFrame('ü'.repeat(10)), empty + 19)).toThrow('are allowed');
  expect(encodeFrame(sampleFrame('ü'.repeat(10)), empty + 20).bytes).toHaveLength(empty + 20);
});

it('[T28] only the last frame of a write is marked as the last, whatever its payload ends with', async () => {
  const store = createMemoryStore({ clock: systemClock });
  const payloads = [{ 1: 1 }, { 1: { 1: {} } }, { 1: [1] }, { 1: '1' }];
  const frames = payloads.map((payload) => sampleFrame('', { payload }));
  await createLog({ store }).append({ type: 'create', session: newSession('sesn_1'), frames, changes: [] });
  const entries = (await readAll(store, 'sesn_1')).filter((entry) => entry.kind === 'frame');
  expect(entries.map(({ isLast }) => isLast)).toEqual([false, false, false, true]);
  expect(entries.map(({ value }) => value.payload)).toEqual(payloads);
});
