import { toShortId } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { toDistinctIds } from './distinct-ids.ts';

it('[Y504] short ids of listed sessions differ, and stay as short as they are where they differ anyway', () => {
  const ids = ['sesn_0101kdvdna00w8v1yk3x2q7e', 'sesn_0101kdvdnb00w8v1yk3x2q7d', 'sesn_0101kdvdna00w8v1yk3x2q7d'];
  const shown = toDistinctIds(ids.map((id) => ({ id, short_id: toShortId(id) })));
  expect(ids.map((id) => shown.get(id))).toEqual(['01kdvdna00w8v1yk3x2q7e', '01kdvdnb00w8', '01kdvdna00w8v1yk3x2q7d']);
  expect(toDistinctIds([]).size).toBe(0);
});
