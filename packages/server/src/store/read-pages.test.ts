import { expect, it } from 'vitest';
import { createMemoryStore } from './memory/memory-store.ts';
import { readPages } from './read-pages.ts';

it('[T70] a list is read page by page to its end, also where a reader stops early or there is only one page', async () => {
  const store = createMemoryStore();
  for (let at = 0; at < 5; at++) await store.documents.put({ kind: 'k', id: `d${at}`, data: {} });
  let requests = 0;
  const read = (limit: number) =>
    readPages((from) => {
      requests++;
      return store.documents.list({ kind: 'k', order: 'asc', limit, ...from });
    });
  const pages: string[][] = [];
  for await (const page of read(2)) pages.push(page.map(({ id }) => id));
  expect(pages).toEqual([['d0', 'd1'], ['d2', 'd3'], ['d4']]);
  expect(requests).toBe(3);
  for await (const page of read(9)) expect(page).toHaveLength(5);
  for await (const _ of read(1)) break;
  expect(requests).toBe(5);
  await store.close();
});
