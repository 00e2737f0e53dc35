import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../../test-support/fake-io.ts';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { modelOf } from '../../../test-support/watch-models.ts';
import type { ServerApi } from '../../connection/server-api.ts';
import { limits } from '../../base/limits.ts';
import { CatchUp } from './catch-up.ts';
import { FactsReader } from '../data/facts-reader.ts';

describe('what came late', () => {
  it('[Y26] events missed while disconnected are counted and reported once; later ones are not', () => {
    const events = new FleetEvents().start().open(0, 'lead', null, 'L');
    for (let index = 0; index < 130; index += 1) events.text(0, 'x');
    const catchUp = new CatchUp();
    catchUp.found(events.nowMs, 0);
    expect(catchUp.report(events.nowMs + 1e6, 0)).toBe(undefined);
    catchUp.lost();
    catchUp.found(events.nowMs, 1);
    for (const event of events.list) catchUp.take(event);
    catchUp.take(events.later(1).text(0, 'new').list.at(-1)!);
    expect(catchUp.report(events.nowMs + 900, 1)).toBe(undefined);
    expect(catchUp.report(events.nowMs + 1_000, 1)).toBe('Reconnected: received 132 events, 0 gaps.');
    expect(catchUp.report(events.nowMs + 2_000, 1)).toBe(undefined);
  });

  it('[Y26] gaps since the disconnect are reported, earlier ones are not', () => {
    const catchUp = new CatchUp();
    catchUp.lost();
    catchUp.found(0, 3);
    expect(catchUp.report(5_000, 4)).toBe('Reconnected: received 0 events, 1 gap.');
  });
});

describe('facts that are not on the stream', () => {
  it('[Y31] it is read once a second at most, however often it is asked for', async () => {
    const io = new FakeIo();
    const model = modelOf(new FleetEvents().start());
    let reads = 0;
    // Only these two are called.
    const api = {
      get: async () => {
        reads += 1;
        return { budget: { max_list_cost: { amount: '2000' } } };
      },
      list: async function* () {},
    } as unknown as ServerApi;
    const reader = new FactsReader(io, api, model, () => {});
    for (let index = 0; index < 5; index += 1) reader.read();
    await io.timers.advance(0);
    expect([reads, model.facts.budgetUsd]).toEqual([1, 20]);
    reader.read();
    expect(limits.factsMsMin).toBe(1_000);
    await io.timers.advance(999);
    expect(reads).toBe(1);
    await io.timers.advance(1);
    expect(reads).toBe(2);
    reader.read();
    reader.stop();
    await io.timers.advance(5_000);
    expect([reads, io.timers.pending]).toEqual([2, 0]);
  });
});
