import { storeLimits } from './limits.ts';
import { storeError } from './store-errors.ts';
import type { SummaryListRequest } from './summaries.ts';

/** The last row of a page: what it is sorted by, and its id. */
export interface SummaryPosition {
  readonly value: string | number;
  readonly id: string;
}

/** Sorted by text; the others by a number. */
const TEXTS: ReadonlySet<string> = new Set(['name', 'agent']);

/** The position behind which a page begins; undefined for the first page. Throws if the cursor is of another list. */
export function readSummaryCursor({ sort, order, cursor, limit }: SummaryListRequest): SummaryPosition | undefined {
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= storeLimits.pageItemsMax)) {
    throw storeError('invalid_limit', `a page has 1 to ${storeLimits.pageItemsMax} items, not ${limit}`);
  }
  if (cursor === undefined) return undefined;
  const parts = parse(cursor);
  // Encoded again and compared: the base64 decoder skips invalid characters.
  if (!Array.isArray(parts) || parts.length !== 5 || encode(parts) !== cursor) throw notACursor();
  const [list, ofSort, ofOrder, value, id] = parts as unknown[];
  if (list !== LIST) throw notACursor();
  if (ofSort !== sort || ofOrder !== order) {
    throw storeError('invalid_cursor', 'the cursor is from another list or another order');
  }
  const isValue = TEXTS.has(sort) ? typeof value === 'string' : Number.isFinite(value);
  if (!isValue || typeof id !== 'string') throw notACursor();
  // Checked above: a string or a number.
  return { value: value as string | number, id };
}

/** The cursor of the next page. */
export function writeSummaryCursor({ sort, order }: SummaryListRequest, { value, id }: SummaryPosition): string {
  return encode([LIST, sort, order, value, id]);
}

const LIST = 'summaries';

function encode(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not silent: text that is not JSON is not an array either, and is refused.
    return undefined;
  }
}

function notACursor(): Error {
  return storeError('invalid_cursor', 'this is not a cursor');
}
