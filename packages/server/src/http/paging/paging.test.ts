import { expect, it } from 'vitest';
import { toPageRequest, toWirePage, toWirePageBothWays } from './paging.ts';

it('[H58] a page has null where there is no other page, and `prev_page` only in lists with both directions', () => {
  const page = { items: [1, 2], next: 'n', previous: 'p' };
  expect(toWirePage(page)).toEqual({ data: [1, 2], next_page: 'page_n' });
  expect(toWirePageBothWays(page)).toEqual({ data: [1, 2], next_page: 'page_n', prev_page: 'page_p' });
  expect(toWirePageBothWays({ items: [], next: null, previous: null })).toEqual({
    data: [],
    next_page: null,
    prev_page: null,
  });
  expect(toPageRequest({ limit: 5, page: 'page_n', order: 'asc' })).toEqual({ limit: 5, cursor: 'n', order: 'asc' });
});

it('[H59] an exclusive end of a time range excludes exactly that moment', () => {
  const ask = (name: string, time: string) => {
    const { createdFrom, createdTo } = toPageRequest({ limit: 1, [`created_at[${name}]`]: time });
    return createdFrom ?? createdTo;
  };
  const [whole, finer] = ['1970-01-01T00:00:01.500Z', '1970-01-01T00:00:01.500700Z'];
  expect(['gte', 'gt', 'lte', 'lt'].map((name) => ask(name, whole))).toEqual([1_500, 1_501, 1_500, 1_499]);
  expect(['gte', 'gt', 'lte', 'lt'].map((name) => ask(name, finer))).toEqual([1_501, 1_501, 1_500, 1_500]);
  expect(
    toPageRequest({
      limit: 1,
      'created_at[gte]': whole,
      'created_at[gt]': finer,
      'created_at[lte]': finer,
      'created_at[lt]': whole,
    }),
  ).toEqual({ limit: 1, createdFrom: 1_501, createdTo: 1_499 });
});
