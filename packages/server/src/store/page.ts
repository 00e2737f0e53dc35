import { storeLimits } from './limits.ts';
import { storeError } from './store-errors.ts';

/** Which page of a list. */
export interface PageRequest {
  readonly limit: number;
  /** Newest first if it is not given. */
  readonly order?: Order;
  /** From an earlier page of the same list. */
  readonly cursor?: string;
  /** Only items created in this period, both ends included. */
  readonly createdFrom?: number;
  readonly createdTo?: number;
}

/** A page with the cursors of its neighbours. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly next: string | null;
  /** Null on the first page. */
  readonly previous: string | null;
}

export type Order = 'asc' | 'desc';

/** The position of an item in its list. */
export interface Position {
  readonly time: number;
  readonly id: string;
}

/** Approvals of two sessions may have the same id, for example those of a fork and its origin. */
export function positionOfApproval(approval: { createdAt: number; id: string; sessionId: string }): Position {
  return { time: approval.createdAt, id: `${approval.id} ${approval.sessionId}` };
}

/** What an implementation has to query: one item more than requested, which shows whether there is a next page. */
export interface Seek {
  readonly after: Position | undefined;
  readonly order: Order;
  readonly limit: number;
}

/**
 * The query of a page request. A cursor is the position of an item, not a number of items, so items that are inserted or deleted
 * in the meantime neither repeat nor hide others.
 */
export function toSeek(list: string, request: PageRequest): Seek {
  const { limit, order = 'desc' } = request;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= storeLimits.pageItemsMax)) {
    throw storeError('invalid_limit', `a page has 1 to ${storeLimits.pageItemsMax} items, not ${limit}`);
  }
  const cursor = readCursor(list, request);
  if (cursor === undefined) return { after: undefined, order, limit: limit + 1 };
  const isForward = cursor.direction === 'next';
  return { after: cursor.position, order: isForward === (order === 'asc') ? 'asc' : 'desc', limit: limit + 1 };
}

/** The items found for a `toSeek` query, up to the size of a page. */
export interface Found<Item> {
  /** In the order of the seek, which is backward for a page before a cursor. */
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/**
 * Takes items until the page is full: it has the requested number of items, or the next one would exceed the size of a page.
 * The first item is always taken. No more than one item behind the page is read.
 */
export function cutPage<Item>(found: Iterable<Item>, limit: number, bytesOf: (item: Item) => number): Found<Item> {
  const items: Item[] = [];
  let bytes = 0;
  for (const item of found) {
    bytes += bytesOf(item);
    const isFull = items.length === limit || (bytes > storeLimits.pageBytesMax && items.length > 0);
    if (isFull) return { items, hasMore: true };
    items.push(item);
  }
  return { items, hasMore: false };
}

/** The page, from what was found for `toSeek`. */
export function toPage<Item>(
  list: string,
  request: PageRequest,
  { items: kept, hasMore }: Found<Item>,
  positionOf: (item: Item) => Position,
): Page<Item> {
  const isForward = readCursor(list, request)?.direction !== 'previous';
  const items = isForward ? kept : kept.toReversed();
  const toCursor = (item: Item | undefined, direction: Direction) =>
    item === undefined ? null : writeCursor(list, request, direction, positionOf(item));
  const hasPrevious = isForward ? request.cursor !== undefined : hasMore;
  return {
    items,
    next: isForward && !hasMore ? null : toCursor(items.at(-1), 'next'),
    previous: hasPrevious ? toCursor(items[0], 'previous') : null,
  };
}

type Direction = 'next' | 'previous';

function writeCursor(list: string, { order = 'desc' }: PageRequest, direction: Direction, { time, id }: Position) {
  return encodeParts([list, order, direction, time, id]);
}

function encodeParts(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function readCursor(list: string, request: PageRequest): { direction: Direction; position: Position } | undefined {
  const { cursor, order = 'desc', createdFrom = -Infinity, createdTo = Infinity } = request;
  if (cursor === undefined) return undefined;
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  // Encoded again and compared: the base64 decoder skips invalid characters.
  const isOurs = Array.isArray(parts) && parts.length === 5 && encodeParts(parts) === cursor;
  if (!isOurs) throw storeError('invalid_cursor', 'this is not a cursor');
  const [ofList, ofOrder, direction, time, id] = parts as unknown[];
  if (ofList !== list || ofOrder !== order) {
    throw storeError('invalid_cursor', 'the cursor is from another list or another order');
  }
  const isKnown = direction === 'next' || direction === 'previous';
  if (!isKnown || !Number.isSafeInteger(time) || typeof time !== 'number' || typeof id !== 'string') {
    throw storeError('invalid_cursor', 'this is not a cursor');
  }
  if (time < createdFrom || time > createdTo) {
    throw storeError('invalid_cursor', 'the cursor lies outside of the time that is asked for');
  }
  return { direction, position: { time, id } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not ignored: text that is not JSON is not an array either, and is rejected below.
    return undefined;
  }
}
