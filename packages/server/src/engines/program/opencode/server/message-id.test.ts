import { expect, it } from 'vitest';
import { createMessageIds } from './message-id.ts';

it('[OC13] ids of messages grow, also within a millisecond and when the clock goes back, and have opencode’s form', () => {
  let now = 1_794_883_713_083;
  const nextId = createMessageIds(() => now);
  const ids = [nextId(), nextId(), nextId()];
  now -= 60_000;
  ids.push(nextId());
  now += 120_000;
  ids.push(nextId());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
  // What opencode itself made of this time.
  expect(ids[0]?.slice(0, 13)).toBe('msg_1e767f83b');
});
