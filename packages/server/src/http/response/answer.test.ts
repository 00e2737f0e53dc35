import { expect, it } from 'vitest';
import { writePage } from './answer.ts';

it('[H126] a page that is written item by item is the JSON of the page', async () => {
  const pages = [
    { data: [] },
    { data: [], next_page: null },
    { data: [{ a: 'ü"' }, { b: [1] }], next_page: 'page_1', prev_page: null },
    { type: 'no list' },
  ];
  for (const page of pages) expect(await writePage(page)).toBe(JSON.stringify(page));
});

it('[H126] other events are handled while a large page is written', async () => {
  const item = { list: Array.from({ length: 50_000 }, (_, at) => ({ at })) };
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await writePage({ data: Array.from({ length: 20 }, () => item) });
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});
