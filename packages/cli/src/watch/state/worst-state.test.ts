import { fleetLimits } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { modelOf } from '../../../test-support/watch-models.ts';
import { worstState } from './worst-state.ts';

const begin = () => new FleetEvents().start().open(0, 'lead', null, 'L').open(1, 'a', 0, 'A');
const codeOf = (events: FleetEvents) => worstState(modelOf(events), events.nowMs);

describe('the worst that can be said', () => {
  it('[Y42] failed, then pending approval, then stalled; cancelled and running are none of these', () => {
    expect(codeOf(begin())).toBe(0);
    expect(codeOf(begin().text(1, 'x').later(fleetLimits.stalledMs))).toBe(8);
    expect(codeOf(begin().open(2, 'b', 0, 'B').later(fleetLimits.stalledMs).ask(1, 'ls'))).toBe(7);
    expect(codeOf(begin().ask(1, 'ls').open(2, 'b', 0, 'B').close(2, 'error'))).toBe(1);
    expect(codeOf(begin().close(1, 'cancelled').close(0))).toBe(0);
    expect(codeOf(begin().close(1).close(0).done(false))).toBe(1);
    expect(codeOf(begin().close(1).close(0).done(true))).toBe(0);
    expect(codeOf(new FleetEvents())).toBe(0);
  });

  it('[Y42] a thread that failed and later went well is not held against it', () => {
    const events = begin().close(1, 'error').close(0).done(true);
    expect(codeOf(events)).toBe(1);
    events.start().open(0, 'lead', null, 'L').open(1, 'a', 0, 'A').close(1).close(0).done(true);
    expect(codeOf(events)).toBe(0);
  });
});
