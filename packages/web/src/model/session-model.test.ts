import { addUsage, createSlots, foldSlots, parseFleetEvent, tokensOf, toThreadRows } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { limits } from './limits.ts';
import { FleetModel } from './fleet-model.ts';
import { Replay } from './replay.ts';
import { sampleLog } from './sample-log.suite.ts';
import { SessionModel } from './session-model.ts';
import { summarize, toShownRows } from './summary.ts';
import { ThreadTrack } from './thread-track.ts';

const seeds = [1, 2, 3, 4, 5];

function fold(log: ReturnType<typeof sampleLog>): SessionModel {
  const model = new SessionModel('sesn_1');
  for (const event of log) model.fold(event);
  return model;
}

describe('rows', () => {
  it('[Z12] each thread is one row below the one that started it, whatever the mixture, and equal names are numbered', () => {
    for (const seed of seeds) {
      const rows = toThreadRows(fold(sampleLog({ seed })).slots.runs);
      expect(rows.map(({ agent, ordinal, level }) => `${level} ${agent} ${ordinal}`)).toEqual([
        '0 coordinator 0',
        '1 worker1 1',
        '1 worker0 1',
        '1 worker1 2',
        '1 worker0 2',
        '1 worker1 3',
      ]);
      expect(rows.slice(1).every(({ above }) => above.join() === rows[0]!.key)).toBe(true);
    }
  });

  it('[Z12] tokens and cost of all threads add up to those of the session', () => {
    for (const seed of seeds) {
      const { slots } = fold(sampleLog({ seed, children: 9 }));
      const rows = toThreadRows(slots.runs);
      const sum = rows.map(({ usage }) => usage).reduce(addUsage);
      expect(tokensOf(sum)).toBe(tokensOf(slots.totals.usage));
      expect(sum.costUsd).toBeCloseTo(slots.totals.usage.costUsd, 10);
      expect(rows[0]!.usageBelow.costUsd).toBeCloseTo(slots.totals.usage.costUsd, 10);
    }
  });

  it('[Z12] a second run of the same threads makes no second rows', () => {
    const first = sampleLog();
    const model = fold(first);
    for (const [index, event] of sampleLog().entries()) {
      const cursor = String(first.length + index + 1);
      model.fold({ ...event, cursor, seq: Number(cursor) });
    }
    const rows = toThreadRows(model.slots.runs);
    expect(rows).toHaveLength(6);
    expect(rows[0]).toMatchObject({ turns: 2 });
  });
});

describe('lanes', () => {
  it('[Z13] the pieces of a lane follow each other without holes or overlaps, and all are closed at the end of a run', () => {
    for (const seed of seeds) {
      for (const { segments } of fold(sampleLog({ seed })).tracks.values()) {
        for (const [index, { from, to }] of segments.entries()) {
          expect(to).toBe(segments[index + 1]?.from ?? to);
          expect(to).toBeGreaterThanOrEqual(from);
        }
        expect(segments.at(-1)).toMatchObject({ state: 'done' });
      }
    }
  });

  it('[Z13] a lane shows thinking, writing, needs you or the name of its tool, and a coordinator waits while its children run', () => {
    const { tracks } = fold(sampleLog());
    const kinds = tracks.get('sthr_sesn_1_1')!.segments.map(({ state, label }) => `${state} ${label}`.trim());
    expect(kinds).toEqual(expect.arrayContaining(['thinking', 'writing', 'needs', 'tool bash', 'done']));
    const above = tracks.get('sthr_sesn_1_0')!.segments.map(({ state }) => state);
    expect(above).toEqual(expect.arrayContaining(['waits', 'writing', 'done']));
    expect(tracks.get('sthr_sesn_1_1')).toMatchObject({ spawnedBy: { key: 'sthr_sesn_1_0' } });
  });

  it('[Z13] two threads that write the same file shortly after each other are marked on both lanes', () => {
    const { conflicts, tracks } = fold(sampleLog());
    expect(conflicts).toHaveLength(4);
    const [first, second] = conflicts[0]!.keys;
    for (const key of [first, second])
      expect(tracks.get(key)!.marks.some(({ kind }) => kind === 'conflict')).toBe(true);
  });

  it('[Z27] a lane keeps its newest pieces, seconds, thoughts and marks, up to their limits', () => {
    const track = new ThreadTrack('a');
    const [, start] = sampleLog();
    const slot = foldSlots(foldSlots(createSlots(), sampleLog()[0]!), start!).runs[0]!.slots[0]!;
    for (let index = 0; index <= limits.segmentsMax; index++) {
      const phase = index % 2 === 0 ? 'writing' : 'thinking';
      track.enter(index * 1_000, { ...slot, phase }, new Set());
    }
    expect(track.segments).toHaveLength(limits.segmentsMax);
    expect(track.segments.at(-1)!.from).toBe(limits.segmentsMax * 1_000);
    const base = { cursor: '', seq: null, stream_id: 0, depth: 0, agent: 'a', thread_id: null };
    for (let index = 0; index <= limits.pulsesMax; index++) {
      track.take({ ...base, type: 'text', ts: index * 1_000, delta: 'x' }, slot, new Set());
    }
    expect(track.pulses).toHaveLength(limits.pulsesMax);
    for (let index = 0; index <= limits.thoughtsMax; index++) {
      track.take({ ...base, type: 'agent_start', ts: index, model: 'm', iteration: 1 }, slot, new Set());
      track.take({ ...base, type: 'thinking', ts: index, delta: 'x'.repeat(limits.thoughtCharsMax) }, slot, new Set());
      track.take({ ...base, type: 'thinking', ts: index, delta: 'more' }, slot, new Set());
    }
    expect(track.thoughts.size).toBe(limits.thoughtsMax);
    expect(track.thoughts.get(limits.thoughtsMax)).toHaveLength(limits.thoughtCharsMax);
    for (let index = 0; index <= limits.marksMax; index++) track.mark(index, 'error', 'x');
    expect(track.marks).toHaveLength(limits.marksMax);
  });
});

describe('files that two threads write', () => {
  const write = (seq: number, id: number, path: string, ts: number) =>
    parseFleetEvent({
      event: 'file',
      id: String(seq),
      data: JSON.stringify({
        seq,
        ts,
        stream_id: id,
        depth: 0,
        agent: 'a',
        thread_id: `t${id}`,
        path,
        size: 1,
        encoding: 'utf-8',
        content: 'x',
      }),
    });

  it('[Z27] are a conflict only when they come close to each other, and the oldest paths are forgotten', () => {
    const model = new SessionModel('sesn_1');
    model.fold(write(1, 0, 'a.md', 0));
    model.fold(write(2, 1, 'a.md', limits.conflictMs + 1));
    expect(model.conflicts).toHaveLength(0);
    model.fold(write(3, 0, 'a.md', 2 * limits.conflictMs + 1));
    expect(model.conflicts).toHaveLength(1);
    for (let index = 0; index < limits.writtenPathsMax; index++)
      model.fold(write(4 + index, 0, `${index}.md`, 3 * limits.conflictMs));
    model.fold(write(9_000, 1, 'a.md', 3 * limits.conflictMs));
    expect(model.conflicts).toHaveLength(1);
    model.fold(write(9_001, 1, `${limits.writtenPathsMax - 1}.md`, 3 * limits.conflictMs));
    expect(model.conflicts).toHaveLength(2);
  });
});

describe('replay', () => {
  it('[Z14] after any number of events it shows exactly the fold of these events', () => {
    const log = sampleLog({ children: 60, seed: 7 });
    expect(log.length).toBeGreaterThan(limits.keyframeEvents);
    const whole = fold(log);
    const replay = new Replay(whole, log);
    let expected = createSlots({ textCharsMax: limits.textCharsMax });
    for (const [index, event] of log.entries()) {
      expected = foldSlots(expected, event);
      if (index % 37 === 0 || Math.abs(index - limits.keyframeEvents) < 3)
        expect(replay.slotsAfter(index + 1)).toEqual(expected);
    }
    expect(replay.slotsAfter(log.length)).toEqual(whole.slots);
    expect(replay.slotsAfter(0)).toEqual(createSlots({ textCharsMax: limits.textCharsMax }));
  });

  it('[Z14] a time shows what had happened by then; steps go one event or one turn on and back, and stop at both ends', () => {
    const log = sampleLog();
    const replay = new Replay(fold(log), log);
    for (const event of log) expect(replay.countAt(event.ts!)).toBe(log.filter(({ ts }) => ts! <= event.ts!).length);
    expect(replay.countAt(replay.startedAt - 1)).toBe(0);
    expect(replay.step(3, 'event', 1)).toBe(4);
    expect(replay.step(0, 'event', -1)).toBe(0);
    expect(replay.step(log.length, 'event', 1)).toBe(log.length);
    const turns = [];
    for (let count = 0; count < log.length; count = replay.step(count, 'turn', 1)) turns.push(log[count - 1]?.type);
    expect(turns.slice(1)).toEqual(Array.from({ length: 6 }, () => 'stream_start'));
    expect(replay.step(1, 'turn', -1)).toBe(0);
  });
});

describe('a log and the live stream', () => {
  it('[Z25] wherever the log that was read ends, live events that arrived in the meantime follow it, each once', () => {
    const log = sampleLog({ seed: 3 });
    const expected = fold(log).slots;
    for (let cut = 0; cut <= log.length; cut += 3) {
      for (let liveFrom = 0; liveFrom <= cut; liveFrom += 7) {
        const fleet = new FleetModel();
        const asked = log.slice(liveFrom, cut).map((event) => fleet.take(event));
        if (asked.length > 0) expect(asked[0]).toBe('sesn_1');
        fleet.know('sesn_1').load = 'loading';
        fleet.takeLog('sesn_1', log.slice(0, cut));
        fleet.endLog('sesn_1');
        for (const event of log.slice(cut)) expect(fleet.take(event)).toBeUndefined();
        expect(fleet.sessions.get('sesn_1')!.model.slots).toEqual({ ...expected });
        expect(fleet.events).toBe(log.length);
      }
    }
  });

  it('[Z25] a deleted session is gone, and gaps are counted wherever they are reported', () => {
    const fleet = new FleetModel();
    for (const event of sampleLog()) fleet.take(event);
    fleet.take(parseFleetEvent({ event: 'gap', id: '', data: '{"after":"1","until":"2"}' }));
    expect(fleet.gapCount).toBe(1);
    fleet.take(parseFleetEvent({ event: 'over', id: '', data: '{"session_id":"sesn_1","reason":"deleted"}' }));
    expect(fleet.sessions.size).toBe(0);
  });
});

it('[Z26] the summary counts states, adds up cost and tokens, and knows what the last minute cost', () => {
  const model = fold(sampleLog({ isOpen: true }));
  const now = model.slots.lastAt!;
  const rows = toShownRows(model, model.slots, now);
  const summary = summarize([{ session: model, slots: model.slots, rows }], now);
  expect(summary.counts).toEqual({ running: 1, needs: 1, stalled: 0, failed: 0, done: 4 });
  expect(summary.costUsd).toBeCloseTo(0.005, 10);
  expect(summary.burnPerMinute).toBeCloseTo(0.005, 10);
  expect(summarize([{ session: model, slots: model.slots, rows }], now + 120_000).burnPerMinute).toBe(0);
});
