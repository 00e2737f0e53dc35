/** A page of a list. `next_page` is null on the last page. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_page: string | null;
}

/** A page that links to the previous one too. Only the list of sessions has it. */
export interface BidirectionalPage<Item> extends Page<Item> {
  /** Null on the first page. */
  readonly prev_page: string | null;
}

/** A page by the ids of its first and last item: models, and files for older clients. */
export interface IdPage<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** Query of a list. */
export interface PageParams {
  readonly limit?: number;
  /** `next_page` of the previous page; null counts as absent. */
  readonly page?: string | null;
}

/** Query of a list by ids. */
export interface IdPageParams {
  readonly limit?: number;
  readonly before_id?: string;
  readonly after_id?: string;
}
