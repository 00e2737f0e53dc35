import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertProperty, isLong } from '../../../../test/support/seed.ts';
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

it('[T28] a frame is the same whether its line is parsed or, as text of most deltas, read without parsing', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a few words, ', '"}]', '"},1]', ',"delta.text",{"id":"x","text":"y"}]', '\\', '"', '\ud800', ''),
  );
  const payload = fc.oneof(
    { weight: 4, arbitrary: fc.record({ id: fc.oneof(fc.constant('sevt_1'), text), text }) },
    fc.record({ text, id: text }),
    fc.record({ id: text, text, more: text }),
    fc.record({ id: text, text: fc.array(text) }),
    fc.record({ id: text, text: fc.record({ id: text }) }),
  );
  const frame = fc.record({
    threadId: fc.oneof(fc.constant('sthr_1'), fc.constant(null), text),
    turn: fc.oneof(fc.constant(null), fc.record({ streamId: fc.nat(3), depth: fc.nat(2), run: fc.oneof(text) })),
    time: fc.oneof(fc.nat(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    type: fc.constantFrom('delta.text', 'delta.text', 'delta.thinking', 'agent.message', 'delta.text",{"id":"'),
    payload,
    isLast: fc.boolean(),
  });
  const plain = (bytes: Uint8Array) => {
    const [threadId, place, time, type, parsed] = JSON.parse(Buffer.from(bytes).toString()) as [
      unknown,
      [number, number, string] | null,
      ...unknown[],
    ];
    const turn = place === null ? null : { streamId: place[0], depth: place[1], run: place[2] };
    return { sessionId: 'sesn_1', seq: 1, threadId, turn, time, type, payload: parsed };
  };
  const property = fc.property(frame, (given) => {
    const { bytes } = encodeFrame(given);
    expect(new StoredFrame('sesn_1', 1, bytes).value).toStrictEqual(plain(bytes));
  });
  assertProperty(property, isLong ? 500_000 : 2_000);
});
