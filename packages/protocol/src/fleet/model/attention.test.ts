import { expect, it } from 'vitest';
import { openSlot } from '../slots/slot.ts';
import { byAttention, CalmOrder } from './attention.ts';
import type { StateId } from './thread-state.ts';

const row = (state: StateId, since: number) => ({
  state,
  slot: { ...openSlot({ cursor: '', seq: 0, ts: since, stream_id: 0, depth: 0, agent: 'a', thread_id: null }) },
});

it('[F83] threads that need a person come first, then failed, stalled, retried, queued, working, waiting and ended ones; equals by time in their state', () => {
  const rows = [
    row('done', 1),
    row('waits', 1),
    row('writing', 9),
    row('tool', 5),
    row('queued', 1),
    row('retry', 1),
    row('stalled', 1),
    row('error', 1),
    row('needs', 7),
    row('needs', 3),
  ];
  expect(byAttention(rows).map(({ state, slot }) => `${state} ${slot.since}`)).toEqual([
    'needs 3',
    'needs 7',
    'error 1',
    'stalled 1',
    'retry 1',
    'queued 1',
    'tool 5',
    'writing 9',
    'waits 1',
    'done 1',
  ]);
});

it('[F84] another order is shown once it has been wanted for the whole wait, and not while it is held', () => {
  const calm = new CalmOrder();
  expect(calm.order(['a', 'b'], 0, false, 100)).toEqual(['a', 'b']);
  expect(calm.order(['b', 'a'], 10, false, 100)).toEqual(['a', 'b']);
  expect(calm.order(['b', 'a'], 109, false, 100)).toEqual(['a', 'b']);
  expect(calm.order(['b', 'a'], 110, true, 100)).toEqual(['a', 'b']);
  expect(calm.order(['b', 'a'], 111, false, 100)).toEqual(['b', 'a']);
});

it('[F84] new rows are added at the end at once, and rows that are gone leave no hole', () => {
  const calm = new CalmOrder();
  calm.order(['a', 'b'], 0, false, 100);
  expect(calm.order(['c', 'a', 'b'], 10, false, 100)).toEqual(['a', 'b', 'c']);
  expect(calm.order(['c', 'b'], 20, false, 100)).toEqual(['b', 'c']);
  expect(calm.order(['b', 'c'], 30, false, 100)).toEqual(['b', 'c']);
  // The order that was wanted before is wanted no more: the wait starts again.
  expect(calm.order(['c', 'b'], 125, false, 100)).toEqual(['b', 'c']);
});
