import { cutPage, type PageRequest, type Position, toPage, toSeek } from '../page.ts';

// What all lists have in common.

export function pageOf<Item extends object>(
  list: string,
  all: readonly Item[],
  request: PageRequest,
  positionOf: (item: Item) => Position,
) {
  const { after, order, limit } = toSeek(list, request);
  const { createdFrom = -Infinity, createdTo = Infinity } = request;
  const sign = order === 'asc' ? 1 : -1;
  const inTime = all.filter((item) => positionOf(item).time >= createdFrom && positionOf(item).time <= createdTo);
  const sorted = inTime.sort((a, b) => sign * compare(positionOf(a), positionOf(b)));
  const behind = sorted.filter((item) => after === undefined || sign * compare(positionOf(item), after) > 0);
  return toPage(list, request, cutPage(behind.slice(0, limit), request.limit, bytesOf), positionOf);
}

/** What a list counts of a record. */
export function bytesOf(item: object): number {
  return 'data' in item ? Buffer.byteLength(JSON.stringify(item.data)) : 0;
}

/** The position of a record in a list that is sorted by creation. */
export function byCreation({ createdAt, id }: { createdAt: number; id: string }): Position {
  return { time: createdAt, id };
}

function compare(a: Position, b: Position): number {
  return a.time - b.time || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
