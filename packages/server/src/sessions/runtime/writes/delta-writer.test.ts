import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { logLimits } from '../../../log/limits.ts';
import { sessionLimits } from '../../core/limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import { DeltaWriter } from './delta-writer.ts';
import { createGate } from '../../suite/fleet.suite.ts';

function openWriter(writeDelta: (frame: NewSessionFrame) => Promise<unknown>) {
  const clock = createManualClock();
  const { schedule } = createManualSchedule(clock);
  const work = new AbortController();
  let ids = 0;
  const turn = { streamId: 3, depth: 1, run: 'req_1' };
  const options = {
    threadId: 'sthr_1',
    turn,
    signal: work.signal,
    nextEventId: () => `sevt_${++ids}`,
    clock,
    schedule,
    writeDelta,
  };
  return { writer: new DeltaWriter(options), clock, work };
}

it('[R170] an engine waits while too many deltas are not on disk, and continues when they are', async () => {
  const gate = createGate();
  const { writer, clock } = openWriter(() => gate.opened);
  const id = writer.begin('text');
  for (let at = 1; at < sessionLimits.pendingDeltasMax - 1; at++) {
    clock.advance(logLimits.deltaWindowMs);
    await writer.grow(id, 'x');
  }
  clock.advance(logLimits.deltaWindowMs);
  let isThrough = false;
  const last = writer.grow(id, 'x').then(() => (isThrough = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isThrough).toBe(false);
  gate.open();
  await last;
  clock.advance(logLimits.deltaWindowMs);
  await writer.grow(id, 'x');
});

it('[R171] blocks that people can read are announced with the id of their event', async () => {
  const frames: NewSessionFrame[] = [];
  const { writer, work } = openWriter(async (frame) => frames.push(frame));
  const thought = writer.begin('thinking');
  await writer.grow(thought, 'Hm.');
  const text = writer.begin('text');
  await writer.grow(text, 'Hello');
  await writer.grow(text, ' there');
  writer.flush();
  const place = { threadId: 'sthr_1', turn: { streamId: 3, depth: 1, run: 'req_1' }, time: 0 };
  expect(frames).toEqual([
    { ...place, type: 'delta.started', payload: { id: 'sevt_1', block: 'thinking' } },
    { ...place, type: 'delta.thinking', payload: { id: 'sevt_1', text: 'Hm.' } },
    { ...place, type: 'delta.started', payload: { id: 'sevt_2', block: 'text' } },
    { ...place, type: 'delta.text', payload: { id: 'sevt_2', text: 'Hello there' } },
  ]);
  expect([thought, text]).toEqual(['sevt_1', 'sevt_2']);
  await writer.grow(text, '!');
  work.abort();
  writer.flush();
  expect(frames).toHaveLength(4);
});
