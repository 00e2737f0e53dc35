import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { NewSessionFrame } from '../frames/frames.ts';
import { DeltaWriter } from './delta-writer.ts';
import { createGate } from './suite/fleet.suite.ts';

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

it('[R170] an engine waits when so many deltas are not on disk, and goes on when they are', async () => {
  const gate = createGate();
  const { writer, clock } = openWriter(() => gate.opened);
  writer.begin(0, 'text');
  for (let at = 1; at < limits.pendingDeltasMax - 1; at++) {
    clock.advance(limits.deltaWindowMs);
    await writer.grow(0, 'x');
  }
  clock.advance(limits.deltaWindowMs);
  let isThrough = false;
  const last = writer.grow(0, 'x').then(() => (isThrough = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isThrough).toBe(false);
  gate.open();
  await last;
  clock.advance(limits.deltaWindowMs);
  await writer.grow(0, 'x');
});

it('[R171] blocks that people can read are announced with the id of their event; calls are not', async () => {
  const frames: NewSessionFrame[] = [];
  const { writer, work } = openWriter(async (frame) => frames.push(frame));
  writer.begin(0, 'thinking');
  await writer.grow(0, 'Hm.');
  writer.begin(1, 'tool_use');
  await writer.grow(1, '{}');
  writer.begin(2, 'other');
  writer.begin(3, 'text');
  await writer.grow(3, 'Hello');
  await writer.grow(3, ' there');
  writer.flush();
  const place = { threadId: 'sthr_1', turn: { streamId: 3, depth: 1, run: 'req_1' }, time: 0 };
  expect(frames).toEqual([
    { ...place, type: 'delta.started', payload: { id: 'sevt_1', block: 'thinking' } },
    { ...place, type: 'delta.thinking', payload: { id: 'sevt_1', text: 'Hm.' } },
    { ...place, type: 'delta.started', payload: { id: 'sevt_2', block: 'text' } },
    { ...place, type: 'delta.text', payload: { id: 'sevt_2', text: 'Hello there' } },
  ]);
  expect([...writer.eventIds]).toEqual([
    [0, 'sevt_1'],
    [3, 'sevt_2'],
  ]);
  await writer.grow(3, '!');
  work.abort();
  writer.flush();
  expect(frames).toHaveLength(4);
});
