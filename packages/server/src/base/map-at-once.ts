/**
 * Like `Promise.all` of a map, with a limit on concurrency: each open file takes a descriptor. Rejects with the first
 * failure.
 */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  atOnceMax: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await map(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, work));
  return results;
}
