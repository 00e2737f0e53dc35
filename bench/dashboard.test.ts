import { createFleet, foldFleet, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { expect, it } from 'vitest';
import { toFrames } from './dashboard-frames.ts';
import { encodeLoad, tellLoad, THREADS } from './dashboard-load.ts';

it('[Z45] the load is 25 threads that speak, call and are paid for, and folds without a gap', () => {
  const load = tellLoad(() => 1_000);
  const decoder = new SseDecoder();
  let fleet = createFleet();
  const kinds = new Set<string>();
  for (let count = 0; count < 20_000; count++) {
    for (const item of decoder.push(Buffer.from(encodeLoad(load.next().value)))) {
      if (item.type !== 'event') continue;
      const event = parseFleetEvent(item);
      kinds.add(event.type);
      fleet = foldFleet(fleet, event);
    }
  }
  const [session] = fleet.sessions;
  expect(session!.runs[0]!.slots).toHaveLength(THREADS);
  expect([session!.gapCount, session!.unknownEvents, fleet.unplacedEvents]).toEqual([0, 0, 0]);
  expect([...kinds].toSorted((a, b) => a.localeCompare(b))).toEqual(
    expect.arrayContaining([
      'agent_start',
      'stream_start',
      'text',
      'thinking',
      'token_usage',
      'tool_call',
      'tool_start',
    ]),
  );
  expect(session!.totals.usage.costUsd).toBeGreaterThan(0);
});

it('[Z45] of a trace each frame gets the scripts that began in it, those within others not counted twice', () => {
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
    call(30_000, 5_000),
    frame(76_000),
  ]);
  expect(scriptMs).toEqual([4, 6]);
  expect(dropped).toBe(2);
});
