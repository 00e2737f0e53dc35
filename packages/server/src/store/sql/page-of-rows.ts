import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { cutPage, type Page, type PageRequest, type Position, toPage } from '../page.ts';

interface Row {
  readonly data: string;
  readonly resolution?: string | null;
}

/** A page of records. Rows behind the page are not parsed, and other events are handled between those that are. */
export async function pageOfRows<Found extends Row, Item>(
  list: string,
  request: PageRequest,
  rows: Iterable<Found>,
  { toRecord, positionOf }: { toRecord: (row: Found) => Item; positionOf: (item: Item) => Position },
): Promise<Page<Item>> {
  const { items: kept, hasMore } = cutPage(rows, request.limit, bytesOf);
  const items: Item[] = [];
  for (const row of kept) {
    items.push(toRecord(row));
    await yieldToEventLoop();
  }
  return toPage(list, request, { items, hasMore }, positionOf);
}

function bytesOf({ data, resolution }: Row): number {
  return Buffer.byteLength(data) + (resolution == null ? 0 : Buffer.byteLength(resolution));
}
