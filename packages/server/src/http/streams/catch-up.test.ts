import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { createCatchUp } from './catch-up.ts';

function begin() {
  const clock = createManualClock(0);
  return { clock, catchUp: createCatchUp(clock) };
}

describe('catching up', () => {
  it('[Q18] the first stream after a send begins at the position of the send, and the second one at the end', () => {
    const { catchUp } = begin();
    expect(catchUp.take('s')).toBeUndefined();
    catchUp.sent('s', 7);
    expect(catchUp.take('other')).toBeUndefined();
    expect(catchUp.take('s')).toBe(7);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q18] after several sends without a stream, the next stream begins at the first send', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.sent('s', 20);
    expect(catchUp.take('s')).toBe(7);
  });

  it('[Q18] a send is forgotten after its time limit, to the millisecond', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    clock.advance(httpLimits.catchUpMs - 1);
    expect(catchUp.take('s')).toBe(7);
    catchUp.sent('s', 7);
    clock.advance(httpLimits.catchUpMs);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q18] another send restarts the time limit', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.sent('old', 1);
    clock.advance(httpLimits.catchUpMs - 1);
    catchUp.sent('s', 20);
    clock.advance(1);
    expect(catchUp.take('old')).toBeUndefined();
    expect(catchUp.take('s')).toBe(7);
  });

  it('[Q19] a client that has read the end of a turn waits for later events', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.seen('s', 16);
    expect(catchUp.take('s')).toBeUndefined();
  });

  it('[Q19] reading the session before a send does not affect the send', () => {
    const { catchUp } = begin();
    catchUp.sent('s', 7);
    catchUp.seen('s', 7);
    expect(catchUp.take('s')).toBe(7);
    // The first of two sends was seen, the second came later.
    catchUp.sent('s', 7);
    catchUp.sent('s', 16);
    catchUp.seen('s', 16);
    expect(catchUp.take('s')).toBe(16);
    catchUp.seen('unknown', 1);
  });

  it('[Q19] a partly seen send is also forgotten after its time limit', () => {
    const { clock, catchUp } = begin();
    catchUp.sent('s', 7);
    clock.advance(10);
    catchUp.sent('later', 1);
    catchUp.seen('s', 5);
    clock.advance(httpLimits.catchUpMs - 10);
    expect(catchUp.take('s')).toBeUndefined();
    expect(catchUp.take('later')).toBe(1);
  });
});
