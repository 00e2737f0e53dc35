/** The first item that stands in the list a second time. */
export function findRepeated<Item>(items: readonly Item[]): Item | undefined {
  const seen = new Set<Item>();
  return items.find((item) => seen.size === seen.add(item).size);
}
