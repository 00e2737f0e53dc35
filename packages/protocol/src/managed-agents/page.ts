/** A page of a list. A client goes on as long as there is a `next_page`, so the last one has none. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_page: string | null;
}

/** A page that leads back too. Only sessions are listed so. */
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

export interface PageParams {
  readonly limit?: number;
  /** `next_page` of the page before; null is the same as none. */
  readonly page?: string | null;
}

export interface IdPageParams {
  readonly limit?: number;
  readonly before_id?: string;
  readonly after_id?: string;
}
