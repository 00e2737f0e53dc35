import type { IdPage } from '@fleetloom/protocol/managed-agents';

/** The checked query of a list that is paged by ids. */
export interface IdPageQuery {
  readonly limit: number;
  readonly after_id?: string;
  readonly before_id?: string;
}

/** A page of a list that is sorted by id: after `after_id`, or right before `before_id`. */
export function toIdPage<Item extends { readonly id: string }>(
  sorted: readonly Item[],
  { limit, after_id: after, before_id: before }: IdPageQuery,
): IdPage<Item> {
  const wanted = sorted.filter(
    ({ id }) => (after === undefined || id > after) && (before === undefined || id < before),
  );
  const data = before !== undefined && after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
  return {
    data,
    has_more: data.length < wanted.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
