import type { Page } from './page.ts';

/**
 * The items of each page of a list, from the first page to the last. Between two pages the caller may do slow work: a
 * cursor stays valid while items come and go.
 *
 * @example
 * for await (const keys of readPages((from) => store.documents.list({ kind: 'key', limit: 100, ...from }))) …
 */
export async function* readPages<Item>(
  list: (from: { readonly cursor?: string }) => Promise<Pick<Page<Item>, 'items' | 'next'>>,
): AsyncGenerator<readonly Item[]> {
  let page = await list({});
  yield page.items;
  while (page.next !== null) {
    page = await list({ cursor: page.next });
    yield page.items;
  }
}
