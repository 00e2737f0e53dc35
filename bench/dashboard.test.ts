import { join } from 'node:path';
import { createFleet, foldFleet, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { expect, it } from 'vitest';
import { toFrames } from './dashboard-frames.ts';
import { repositoryRoot } from '../test/support/root.ts';
import { encodeLoad, readRecording, repeatLoad, THREADS } from './dashboard-load.ts';

it('[Z45] the load is a recorded run of 25 threads with text, tool calls, failures and ends, repeated without a gap', () => {
  const recorded = readRecording(join(repositoryRoot, 'fixtures', 'dashboard', 'fleet-25.sse.gz'));
  expect(recorded.length).toBeGreaterThan(15_000);
  const load = repeatLoad(recorded, () => 1_000);
  const decoder = new SseDecoder();
  let fleet = createFleet();
  const kinds = new Set<string>();
  // Into the second repetition.
  for (let count = 0; count < recorded.length + 1_000; count++) {
    for (const item of decoder.push(Buffer.from(encodeLoad(load.next().value)))) {
      if (item.type !== 'event') continue;
      const event = parseFleetEvent(item);
      kinds.add(event.type);
      fleet = foldFleet(fleet, event);
    }
  }
  const [session] = fleet.sessions;
  expect(session!.runs).toHaveLength(2);
  const [first] = session!.runs;
  expect(first!.slots).toHaveLength(THREADS);
  expect(first!.slots.every(({ state }) => state === 'ok')).toBe(true);
  expect([session!.gapCount, session!.unknownEvents, fleet.unplacedEvents]).toEqual([0, 0, 0]);
  expect([...kinds].toSorted((a, b) => a.localeCompare(b))).toEqual(
    expect.arrayContaining(['agent_start', 'file', 'stream_end', 'text', 'thinking', 'token_usage', 'tool_call']),
  );
});

it('[Z45] each frame of a trace has the scripts that began in it, and nested ones are not counted twice', () => {
  const of = { ph: 'X', pid: 1, tid: 1 };
  const frame = (ts: number) => ({ ...of, name: 'FireAnimationFrame', ts, dur: 1_000 });
  const call = (ts: number, dur: number, tid = 1) => ({ ...of, tid, name: 'FunctionCall', ts, dur });
  const { scriptMs, dropped } = toFrames([
    frame(10_000),
    call(10_100, 800),
    call(12_000, 3_000),
    call(12_500, 1_000),
    call(13_000, 9_000, 2),
    frame(26_000),
    frame(26_500),
    // Other processes had the core for four of these nine milliseconds.
    { ...call(30_000, 9_000), tdur: 5_000 },
    frame(76_000),
  ]);
  expect(scriptMs).toEqual([4, 6]);
  expect(dropped).toBe(2);
});
