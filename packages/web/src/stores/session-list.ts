import type {
  FleetSession,
  FleetSessionFacets,
  FleetSessionList,
  FleetSessionQuery,
  SessionsChanged,
} from '@fleetloom/protocol/fleet';
import { formatFilter, isListedBy, noFilter, type SessionFilter, toQuery } from '../model/session-filter.ts';
import { inBackground } from './connection/in-background.ts';
import { storeLimits } from './limits.ts';
import { Signal } from './signal.ts';

/** The functions that the list uses, which tests replace. */
export interface SessionListOptions {
  readonly list: (query: FleetSessionQuery, signal: AbortSignal) => Promise<FleetSessionList>;
  readonly later: (run: () => void, ms: number) => void;
  readonly now: () => number;
}

/**
 * The rows of `GET /v1/fleet/sessions` that were read so far, from the first one on, with the server's counts. Changed rows are
 * replaced in place; other changes (new rows, another order, counts of a filter) need a new request, sent at most every
 * `listRefreshMs`.
 */
export class SessionList {
  readonly changed = new Signal();
  filter: SessionFilter = noFilter;
  rows: readonly FleetSession[] = [];
  /** How many sessions match on the server. */
  total = 0;
  facets: FleetSessionFacets | undefined;
  /** Sessions of an older version that the server has not listed yet. */
  unlisted = 0;
  state: 'loading' | 'ready' | 'failed' = 'loading';
  problem = '';
  /** Whether the rows still belong to the previous filter. */
  isSwitching = false;
  /** When the rows were last known to be current. */
  readAt = 0;
  readonly #options: SessionListOptions;
  #cursor: string | null = null;
  #abort = new AbortController();
  #isReading = false;
  #wantedRows = 0;
  #isOpen = false;
  #isWaiting = false;
  #isStale = false;
  #isAgain = false;
  /** The number of rows was found to be wrong after the last page, and is read again once. */
  #isChecked = false;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #sum: number | undefined;

  constructor(options: SessionListOptions) {
    this.#options = options;
  }

  /** Shows the sessions that a filter selects. The rows of an unchanged filter stay while they are read again. */
  open(filter: SessionFilter): void {
    const isSame = formatFilter(filter) === formatFilter(this.filter);
    if (isSame && this.#isOpen) return;
    this.#isOpen = true;
    this.filter = filter;
    if (!isSame) {
      this.#wantedRows = 0;
      this.isSwitching = true;
    }
    this.reload();
  }

  /** Stops reading; the rows stay for the next visit. */
  close(): void {
    this.#isOpen = false;
  }

  /** Reads the list again, from its beginning to the last row that was shown. */
  reload(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#isReading = false;
    if (this.facets === undefined || this.state === 'failed') this.state = 'loading';
    this.changed.emit();
    inBackground(this.#readAll(this.#abort.signal));
  }

  /** Reads an open list again, after a read that is in progress. */
  refresh(): void {
    if (!this.#isOpen) return;
    if (this.#isReading) this.#isAgain = true;
    else this.reload();
  }

  /** Reads further pages until the list has the number of rows that the screen needs. */
  need(rows: number): void {
    this.#wantedRows = rows;
    if (this.#isReading || this.#cursor === null || this.rows.length >= rows) return;
    inBackground(this.#readOn(this.#abort.signal));
  }

  /** Applies rows that changed on the server. */
  take({ sessions, counts }: Pick<SessionsChanged, 'sessions' | 'counts'>): void {
    this.#isChecked = false;
    const sum = Object.values(counts).reduce((total, count) => total + count, 0);
    const isDeleted = this.#sum !== undefined && sum < this.#sum;
    this.#sum = sum;
    const byId = new Map(sessions.map((row) => [row.id, row]));
    this.rows = this.rows.flatMap((row) => {
      const changed = byId.get(row.id);
      if (changed === undefined) return [row];
      return isListedBy(this.filter, changed) ? [changed] : [];
    });
    // The event has the counts of all sessions. The counts of a filter are read again with its rows.
    if (this.facets !== undefined && formatFilter(this.filter) === formatFilter(noFilter)) {
      this.facets = { ...this.facets, states: counts };
    }
    this.#isStale ||= isDeleted;
    this.readAt = this.#options.now();
    this.changed.emit();
    this.#refreshLater();
  }

  #refreshLater(): void {
    if (!this.#isOpen || this.#isWaiting) return;
    this.#isWaiting = true;
    const wait = this.#refreshedAt + storeLimits.listRefreshMs - this.#options.now();
    this.#options.later(
      () => {
        this.#isWaiting = false;
        this.#refreshedAt = this.#options.now();
        // A read in progress may have begun before the change.
        if (this.#isStale || this.#isReading || this.state !== 'ready') this.refresh();
        else inBackground(this.#readHead(this.#abort.signal));
      },
      Math.max(storeLimits.listDelayMs, wait),
    );
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    this.#isStale = false;
    await this.#reading(signal, async () => {
      const wanted = Math.min(this.#wantedRows, this.rows.length);
      let page = await this.#page(undefined, signal);
      const rows = new Map(page.data.map((row) => [row.id, row]));
      while (page.next_cursor !== null && rows.size < wanted && !signal.aborted) {
        page = await this.#page(page.next_cursor, signal);
        for (const row of page.data) rows.set(row.id, row);
      }
      if (signal.aborted) return;
      this.rows = [...rows.values()];
      this.#cursor = page.next_cursor;
      this.#count(page);
    });
    if (!signal.aborted) this.need(this.#wantedRows);
  }

  async #readOn(signal: AbortSignal): Promise<void> {
    await this.#reading(signal, async () => {
      while (this.#cursor !== null && this.rows.length < this.#wantedRows) {
        const page = await this.#page(this.#cursor, signal);
        if (signal.aborted) return;
        const known = new Set(this.rows.map(({ id }) => id));
        this.rows = [...this.rows, ...page.data.filter(({ id }) => !known.has(id))];
        this.#cursor = page.next_cursor;
        this.#count(page);
        this.changed.emit();
      }
    });
    // A session changed between two pages. One more read, because sessions may change all the time.
    if (!this.#isIncomplete || this.#isChecked || signal.aborted || this.state !== 'ready') return;
    this.#isChecked = true;
    this.#refreshLater();
  }

  /** Whether all pages were read, and rows are missing or too many. */
  get #isIncomplete(): boolean {
    return this.#cursor === null && this.rows.length !== this.total;
  }

  /** Reads the first page again, and joins it with the rows below. */
  async #readHead(signal: AbortSignal): Promise<void> {
    let hasGap = false;
    await this.#reading(signal, async () => {
      const page = await this.#page(undefined, signal);
      if (signal.aborted) return;
      if (page.next_cursor === null) {
        this.rows = page.data;
        this.#cursor = null;
      } else {
        const ids = new Set(page.data.map(({ id }) => id));
        hasGap = this.rows.length > 0 && !this.rows.some(({ id }) => ids.has(id));
        this.rows = joinHead(page.data, this.rows);
      }
      this.#count(page);
    });
    // Rows that moved below the first page are missing, or a session was deleted there.
    const isWrong = hasGap || this.rows.length > this.total || this.#isIncomplete;
    if (isWrong && !signal.aborted && this.state === 'ready') this.reload();
  }

  async #reading(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
    this.#isReading = true;
    try {
      await read();
      if (signal.aborted) return;
      this.state = 'ready';
      this.problem = '';
      this.isSwitching = false;
    } catch (error) {
      if (signal.aborted) return;
      this.state = 'failed';
      if (this.isSwitching) [this.rows, this.total] = [[], 0];
      this.isSwitching = false;
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.#isReading = false;
    this.changed.emit();
    if (!this.#isAgain) return;
    this.#isAgain = false;
    this.reload();
  }

  #page(cursor: string | undefined, signal: AbortSignal): Promise<FleetSessionList> {
    const more = cursor === undefined ? {} : { cursor };
    return this.#options.list({ ...toQuery(this.filter), limit: storeLimits.listPage, ...more }, signal);
  }

  #count({ total, facets, unlisted_count: unlisted }: FleetSessionList): void {
    this.total = total;
    this.facets = facets;
    this.unlisted = unlisted;
    this.readAt = this.#options.now();
  }
}

/**
 * Joins a newer first page with the rows below it. Of the old rows, those up to the last row that is also in the page are replaced; later rows
 * were moved down by new rows and are kept.
 */
export function joinHead(head: readonly FleetSession[], rows: readonly FleetSession[]): readonly FleetSession[] {
  const ids = new Set(head.map(({ id }) => id));
  const last = rows.findLastIndex(({ id }) => ids.has(id));
  return [...head, ...rows.slice(last + 1)];
}
