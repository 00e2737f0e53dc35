import type { BidirectionalPage, Page as WirePage } from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import type { Page, PageRequest } from '../../store/page.ts';
import { requestError } from '../../base/request-error.ts';

/** The query parameters of a list: `max` bounds the limit, `normally` is its default. */
export function pageQuery({ max, normally }: { max: number; normally: number }) {
  return {
    limit: z.int().min(1).max(max).default(normally),
    page: z.string().optional(),
  };
}

/** A time in the wire format. */
const moment = z.iso.datetime({ offset: true });

/** Query parameters for the time of creation, both ends included. */
export const createdFromTo = {
  'created_at[gte]': moment.optional(),
  'created_at[lte]': moment.optional(),
};

/** Query parameters for the time of creation, with ends included or not. */
export const createdBetween = {
  ...createdFromTo,
  'created_at[gt]': moment.optional(),
  'created_at[lt]': moment.optional(),
};

/** The checked query of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly 'created_at[gte]'?: string | undefined;
  readonly 'created_at[gt]'?: string | undefined;
  readonly 'created_at[lte]'?: string | undefined;
  readonly 'created_at[lt]'?: string | undefined;
}

/** Converts the query of a list to a request to the store. */
export function toPageRequest(query: PageQuery): PageRequest {
  const { from, to } = createdRange(query);
  return {
    limit: query.limit,
    ...(query.order === undefined ? {} : { order: query.order }),
    ...(query.page === undefined ? {} : { cursor: toCursor(query.page) }),
    ...(from === undefined ? {} : { createdFrom: from }),
    ...(to === undefined ? {} : { createdTo: to }),
  };
}

/** The first and the last millisecond of the requested range. */
export function createdRange(query: Omit<PageQuery, 'limit' | 'page' | 'order'>): { from?: number; to?: number } {
  const from = [toMs(query['created_at[gte]'], 'gte'), toMs(query['created_at[gt]'], 'gt')].filter(isGiven);
  const to = [toMs(query['created_at[lte]'], 'lte'), toMs(query['created_at[lt]'], 'lt')].filter(isGiven);
  return {
    ...(from.length === 0 ? {} : { from: Math.max(...from) }),
    ...(to.length === 0 ? {} : { to: Math.min(...to) }),
  };
}

/** A page in the wire format. Clients continue until `next_page` is null. */
export function toWirePage<Item>({ items, next }: Page<Item>): WirePage<Item> {
  return { data: items, next_page: toPageId(next) };
}

/** A page with `prev_page` too, which only the list of sessions has. */
export function toWirePageBothWays<Item>(page: Page<Item>): BidirectionalPage<Item> {
  return { ...toWirePage(page), prev_page: toPageId(page.previous) };
}

/** The schema of a page of these items. */
export function wirePage<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_page: z.string().nullable() });
}

const PAGE_PREFIX = 'page_';

function toPageId(cursor: string | null): string | null {
  return cursor === null ? null : `${PAGE_PREFIX}${cursor}`;
}

function toCursor(page: string): string {
  if (page.startsWith(PAGE_PREFIX)) return page.slice(PAGE_PREFIX.length);
  const advice = 'use next_page of an earlier response, or leave it out';
  throw requestError('invalid_request', 'page: is not a page of this list', { advice });
}

/** The first or last millisecond of the range. Times on the wire may be finer than milliseconds. */
function toMs(text: string | undefined, side: 'gte' | 'gt' | 'lte' | 'lt'): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  const isWhole = !/\.\d{3}\d*[1-9]/.test(text);
  if (side === 'gt') return ms + 1;
  if (side === 'lte') return ms;
  if (side === 'gte') return isWhole ? ms : ms + 1;
  return isWhole ? ms - 1 : ms;
}

function isGiven(value: number | undefined): value is number {
  return value !== undefined;
}
