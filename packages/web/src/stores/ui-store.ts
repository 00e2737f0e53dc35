import type { FleetSession } from '@fleetloom/protocol/fleet';
import type { Group } from '../model/summary.ts';
import { Signal } from './signal.ts';

/** The current page and the object on it. The address contains the same, so that a link leads to it. */
export interface Route {
  /** `view` of a page in the registry (`shell/pages.ts`). */
  readonly view: string;
  readonly sessionId?: string | undefined;
  readonly threadId?: string | undefined;
  /** The event to select, by its id. */
  readonly eventId?: string | undefined;
  /** A second thread to show beside the first: `session/thread`. */
  readonly beside?: string | undefined;
  /** Whether the two threads are compared, request by request. */
  readonly isCompared?: boolean | undefined;
  /** The tab of the session page; by default the transcript of the thread. */
  readonly tab?: 'changes' | 'connections' | undefined;
  /** The filter of a list, as the address contains it; empty for all entries. */
  readonly search?: string | undefined;
}

/** The open dialog and its subject. */
export type Dialog =
  | { readonly type: 'palette' | 'help' | 'notices' | 'new_session' }
  | { readonly type: 'rename'; readonly sessionId: string; readonly name: string }
  | { readonly type: 'archive' | 'delete' | 'cancel'; readonly sessions: readonly ListedSession[] }
  | { readonly type: 'save_view'; readonly search: string }
  | { readonly type: 'export' | 'find' | 'fork'; readonly sessionId: string }
  | { readonly type: 'message'; readonly sessionId: string; readonly threadId: string | null; readonly agent: string }
  | { readonly type: 'discard_changes'; readonly sessionId: string }
  /** Restores the files to `at`, which is a cursor or `start`. */
  | { readonly type: 'restore_changes'; readonly sessionId: string; readonly at: string }
  | {
      readonly type: 'apply_changes';
      readonly sessionId: string;
      /** The moment whose files are applied. */
      readonly at: string;
      readonly time: string;
      /** The paths to apply; empty for all files. */
      readonly chosen: readonly string[];
      readonly can: { readonly working_tree: boolean; readonly branch: boolean };
    }
  | {
      readonly type: 'interrupt';
      readonly sessionId: string;
      readonly threadIds: readonly string[];
      readonly what: string;
    };

/** The fields of a session that dialogs show. */
export type ListedSession = Pick<
  FleetSession,
  'id' | 'name' | 'state' | 'changes' | 'threads_count' | 'tokens' | 'is_read_only'
>;

/** Route, selection, filter and settings of this tab; it contains no data of the fleet. */
export class UiStore {
  readonly changed = new Signal();
  route: Route = { view: '' };
  /** The list that was shown last, to which Escape returns. */
  list: Route = { view: 'sessions' };
  dialog: Dialog | undefined;
  query = '';
  group: Group | undefined;
  sort: 'tree' | 'attention' = 'tree';
  selectedKey: string | undefined;
  readonly collapsed = new Set<string>();
  /** Length of the time window of the lanes, or `all`; it ends at `windowEnd`, or now if that is undefined. */
  windowMs: number | 'all' = 300_000;
  windowEnd: number | undefined;
  /** The time range selected on the lanes. */
  marked: { readonly from: number; readonly to: number } | undefined;
  theme: 'dark' | 'light' | 'system' = readTheme();
  notice: { readonly text: string; readonly isProblem: boolean } | undefined;
  #noticeTimer: ReturnType<typeof setTimeout> | undefined;

  set(
    change: Partial<
      Pick<UiStore, 'query' | 'group' | 'sort' | 'selectedKey' | 'windowMs' | 'windowEnd' | 'marked' | 'dialog'>
    >,
  ): void {
    Object.assign(this, change);
    this.changed.emit();
  }

  closeDialog(): void {
    this.set({ dialog: undefined });
  }

  go(route: Route): void {
    this.dialog = undefined;
    const hash = toHash(route);
    if (location.hash !== hash) location.hash = hash;
    else this.readHash();
  }

  /** Changes the address without a new entry in the history, for addresses to which a user does not want to return. */
  replace(route: Route): void {
    history.replaceState(history.state, '', toHash(route));
    this.readHash();
  }

  /** Opens the list that was shown last. */
  back(): void {
    this.go(this.list);
  }

  readHash(): void {
    this.route = parseHash(location.hash);
    if (this.route.view === 'sessions' || this.route.view === 'fleet') this.list = this.route;
    this.changed.emit();
  }

  toggleCollapsed(key: string, isCollapsed = !this.collapsed.has(key)): void {
    if (isCollapsed) this.collapsed.add(key);
    else this.collapsed.delete(key);
    this.changed.emit();
  }

  /** Expands or collapses a session until the user changes it again. Other sessions are expanded while they run. */
  setSessionOpen(sessionId: string, isOpen: boolean): void {
    this.collapsed.delete(`${isOpen ? 'shut' : 'open'} ${sessionId}`);
    this.toggleCollapsed(`${isOpen ? 'open' : 'shut'} ${sessionId}`, true);
  }

  setTheme(theme: UiStore['theme']): void {
    this.theme = theme;
    localStorage.setItem(THEME, theme);
    this.applyTheme();
    this.changed.emit();
  }

  applyTheme(): void {
    if (this.theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = this.theme;
    // The colour of the window around an installed page, equal to `--panel` in colours.css.
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
      const isDark = this.theme === 'system' ? meta.media.includes('dark') : this.theme === 'dark';
      meta.content = isDark ? '#13161b' : '#f7f8f9';
    }
  }

  /** Shows a notice for some seconds. */
  notify(text: string, isProblem = false): void {
    clearTimeout(this.#noticeTimer);
    this.notice = { text, isProblem };
    this.#noticeTimer = setTimeout(
      () => {
        this.notice = undefined;
        this.changed.emit();
      },
      isProblem ? 8_000 : 3_000,
    );
    this.changed.emit();
  }

  /** Runs work in the background; a failure becomes a notice. */
  attempt(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.notifyError(error));
  }

  notifyError(error: unknown): void {
    this.notify(error instanceof Error ? error.message : String(error), true);
  }
}

/** The tabs that the page of a session can show instead of the transcript. */
const TABS = ['changes', 'connections'] as const;

/** The page of an address that does not name a page. */
const HOME = 'sessions';

const THEME = 'fleetloom.theme';

function readTheme(): UiStore['theme'] {
  const known = typeof localStorage === 'undefined' ? null : localStorage.getItem(THEME);
  return known === 'dark' || known === 'light' ? known : 'system';
}

/** A thread as `Route.beside` names it. */
export function toBeside({ sessionId, threadId }: { sessionId: string; threadId: string | null }): string {
  return `${sessionId}/${threadId}`;
}

/** The address of a route. */
export function toHash({ view, sessionId, threadId, eventId, beside, isCompared, tab, search }: Route): string {
  const parts = [view, sessionId, threadId].filter((part) => part !== undefined);
  const query = [
    ...(eventId === undefined ? [] : [`event=${encodeURIComponent(eventId)}`]),
    ...(beside === undefined ? [] : [`beside=${encodeURIComponent(beside)}`]),
    ...(isCompared === true ? ['compare=1'] : []),
    ...(tab === undefined ? [] : [`tab=${tab}`]),
    ...(search === undefined || search === '' ? [] : [search]),
  ];
  return `#/${parts.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** The route of an address. */
export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [first = '', sessionId, threadId] = path.split('/');
  // Links of older versions name the page of a session after its threads.
  const view = first === '' ? HOME : first === 'thread' ? 'session' : first;
  // Pages that have their own fields.
  if (view === HOME || view === 'costs' || view === 'audit') return { view, search: query };
  const fields = new URLSearchParams(query);
  return {
    view,
    sessionId,
    threadId,
    eventId: fields.get('event') ?? undefined,
    beside: fields.get('beside') ?? undefined,
    isCompared: fields.has('compare'),
    tab: TABS.find((tab) => tab === fields.get('tab')),
  };
}
