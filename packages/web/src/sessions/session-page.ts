import type { FleetSession } from '@fleetloom/protocol/fleet';
import { formatFilter, type SessionFilter, sorts } from '../model/session-filter.ts';
import { Signal } from '../stores/signal.ts';
import { sessionList, ui } from '../stores/stores.ts';

/** Selection and scroll position of the Sessions page. They survive a visit to another page, and a reload. */
class SessionPage {
  readonly changed = new Signal();
  /** Ids of the rows that an action applies to. */
  checked: ReadonlySet<string> = new Set();
  /** The row that keys act on. */
  currentId: string | undefined;
  /** Scroll position. */
  top = 0;

  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const kept = readKept();
    this.checked = new Set(kept.checked);
    this.currentId = kept.currentId;
    this.top = kept.top;
  }

  check(ids: readonly string[], isChecked: boolean): void {
    const next = new Set(this.checked);
    for (const id of ids) {
      if (isChecked) next.add(id);
      else next.delete(id);
    }
    this.checked = next;
    this.#changed();
  }

  clear(): void {
    this.checked = new Set();
    this.#changed();
  }

  setCurrent(id: string | undefined): void {
    this.currentId = id;
    this.#changed();
  }

  setTop(top: number): void {
    this.top = top;
    // Stored once after scrolling and not for each frame, because storage is slow.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), KEEP_MS);
  }

  current(): FleetSession | undefined {
    return sessionList.rows.find(({ id }) => id === this.currentId);
  }

  /** The checked rows; without checked rows, the current row. */
  chosen(): readonly FleetSession[] {
    const current = this.current();
    if (this.checked.size > 0) return sessionList.rows.filter(({ id }) => this.checked.has(id));
    return current === undefined ? [] : [current];
  }

  #changed(): void {
    this.#keep();
    this.changed.emit();
  }

  #keep(): void {
    const kept: Kept = { checked: [...this.checked], currentId: this.currentId, top: this.top };
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // Without storage a reload forgets the selection.
    }
  }
}

interface Kept {
  readonly checked: readonly string[];
  readonly currentId: string | undefined;
  readonly top: number;
}

const KEEP_MS = 250;
const KEPT = 'fleetloom.sessions';

function readKept(): Kept {
  try {
    const { checked, currentId, top } = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}') as Partial<Kept>;
    return { checked: Array.isArray(checked) ? checked : [], currentId, top: typeof top === 'number' ? top : 0 };
  } catch {
    return { checked: [], currentId: undefined, top: 0 };
  }
}

/** The state of the Sessions page in this tab. */
export const sessionPage = new SessionPage();

/** Applies a filter. With `isTyping` the address changes without a new entry in the history. */
export function showFilter(filter: SessionFilter, isTyping = false): void {
  const route = { view: 'sessions', search: formatFilter(filter) };
  sessionPage.top = 0;
  if (isTyping) ui.replace(route);
  else ui.go(route);
}

/** Sorts by a column; a second click reverses the order. */
export function sortBy(filter: SessionFilter, sort: SessionFilter['sort']): void {
  const isReversed = filter.sort === sort && filter.order === sorts[sort].order;
  const order = isReversed ? (sorts[sort].order === 'asc' ? 'desc' : 'asc') : sorts[sort].order;
  showFilter({ ...filter, sort, order });
}
