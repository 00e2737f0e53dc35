import type { Page, SessionEvent } from '@fleetloom/protocol/managed-agents';
import { type ListEvents, listEvents } from '../../views/managed-agents/list-events.ts';
import { requestError } from '../../base/request-error.ts';

/** A page of events. The cursor contains the order of the list, because it is not valid for the other order. */
export async function listPage(
  query: { readonly limit: number; readonly page?: string | undefined },
  request: Omit<ListEvents, 'limit' | 'cursor'>,
): Promise<Page<SessionEvent>> {
  const cursor = query.page === undefined ? null : readCursor(query.page, request.order);
  const { events, next } = await listEvents({ ...request, limit: query.limit, cursor });
  return { data: events, next_page: next === null ? null : `page_${request.order}${next}` };
}

function readCursor(page: string, order: 'asc' | 'desc'): number {
  const found = /^page_(asc|desc)(-?\d{1,15})$/.exec(page);
  const advice = 'use next_page of an earlier response, or leave it out';
  if (found === null) throw requestError('invalid_request', 'page: is not a page of this list', { advice });
  if (found[1] !== order) {
    throw requestError('invalid_request', `page: belongs to the order ${found[1]}`, {
      advice: 'keep the order of the list',
    });
  }
  return Number(found[2]);
}
