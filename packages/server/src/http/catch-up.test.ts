import { describe, expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createCatchUp } from './catch-up.ts';

function begin() {
  const clock = createManualClock(0);
  return { clock, catchUp: createCatchUp(clock) };
}

describe('catching up', () => {
  it('[Q18] the first stream after a send begins where the send was, and the second one at the end', () => {
    const { catchUp } = begin();
    expect(catchUp.take('s')).toBeUndefined();
    catchUp.sent('s', 7);
    expect(catchUp.take('other')).toBeUndefined();
    expect(catchUp.take('s')).toBe(7);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q18] of several sends that nobody has watched the first one counts', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.sent('s', 20);
    expect(catchUp.take('s')).toBe(7);
  });

  it('[Q18] it is forgotten when its time is over, at the millisecond', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    clock.advance(limits.catchUpMs - 1);
    expect(catchUp.take('s')).toBe(7);
    catchUp.sent('s', 7);
    clock.advance(limits.catchUpMs);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q18] a send begins its time anew', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.sent('old', 1);
    clock.advance(limits.catchUpMs - 1);
    catchUp.sent('s', 20);
    clock.advance(1);
    expect(catchUp.take('old')).toBeUndefined();
    expect(catchUp.take('s')).toBe(7);
  });

  it('[Q19] who has read how it ended waits for what is next', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.seen('s', 16);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q19] what was read before a send says nothing about it', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.seen('s', 7);
    expect(catchUp.take('s')).toBe(7);
    // The first of two was seen, the second one came after it.
    catchUp.sent('s', 7);
    catchUp.sent('s', 16);
    catchUp.seen('s', 16);
    expect(catchUp.take('s')).toBe(16);
    catchUp.seen('nobody', 1);
  });

  it('[Q19] what was partly seen still goes when its time is over', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    clock.advance(10);
    catchUp.sent('later', 1);
    catchUp.seen('s', 5);
    clock.advance(limits.catchUpMs - 10);
    expect(catchUp.take('s')).toBeUndefined();
    expect(catchUp.take('later')).toBe(1);
  });
});
