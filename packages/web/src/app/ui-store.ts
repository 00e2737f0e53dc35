import type { Group } from '../model/summary.ts';
import { Signal } from './signal.ts';

export type View = 'fleet' | 'inbox' | 'thread' | 'agents';

/** Where in the app somebody is. The address has it too, so that it can be kept and sent. */
export interface Route {
  readonly view: View;
  readonly sessionId?: string | undefined;
  readonly threadId?: string | undefined;
  /** An event to show, by its id. */
  readonly eventId?: string | undefined;
  /** A second thread to show beside the first: `session/thread`. */
  readonly beside?: string | undefined;
  /** Whether both are compared, request by request. */
  readonly isCompared?: boolean | undefined;
}

export type Dialog =
  | { readonly type: 'palette' | 'help' | 'notices' }
  | { readonly type: 'export' | 'find' | 'again'; readonly sessionId: string }
  | { readonly type: 'message'; readonly sessionId: string; readonly threadId: string | null; readonly agent: string }
  | {
      readonly type: 'interrupt';
      readonly sessionId: string;
      readonly threadIds: readonly string[];
      readonly what: string;
    };

/** What is chosen and set by whoever looks. Nothing of it is data of the fleet. */
export class UiStore {
  readonly changed = new Signal();
  route: Route = { view: 'fleet' };
  dialog: Dialog | undefined;
  query = '';
  group: Group | undefined;
  sort: 'tree' | 'attention' = 'tree';
  selectedKey: string | undefined;
  readonly collapsed = new Set<string>();
  /** What the lanes show: so many milliseconds up to a time; undefined: up to now. `all`: everything. */
  windowMs: number | 'all' = 300_000;
  windowEnd: number | undefined;
  /** A time that was marked on the lanes or above them, to see its totals. */
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

  go(route: Route): void {
    this.dialog = undefined;
    const hash = toHash(route);
    if (location.hash !== hash) location.hash = hash;
    else this.readHash();
  }

  readHash(): void {
    this.route = parseHash(location.hash);
    this.changed.emit();
  }

  toggleCollapsed(key: string, isCollapsed = !this.collapsed.has(key)): void {
    if (isCollapsed) this.collapsed.add(key);
    else this.collapsed.delete(key);
    this.changed.emit();
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
  }

  say(text: string, isProblem = false): void {
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

  fail(error: unknown): void {
    this.say(error instanceof Error ? error.message : String(error), true);
  }
}

const THEME = 'fleetloom.theme';

function readTheme(): UiStore['theme'] {
  const known = typeof localStorage === 'undefined' ? null : localStorage.getItem(THEME);
  return known === 'dark' || known === 'light' ? known : 'system';
}

export function toHash({ view, sessionId, threadId, eventId, beside, isCompared }: Route): string {
  const parts = [view, sessionId, threadId].filter((part) => part !== undefined);
  const query = [
    ...(eventId === undefined ? [] : [`event=${encodeURIComponent(eventId)}`]),
    ...(beside === undefined ? [] : [`beside=${encodeURIComponent(beside)}`]),
    ...(isCompared === true ? ['compare=1'] : []),
  ];
  return `#/${parts.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view, sessionId, threadId] = path.split('/');
  const asked = new URLSearchParams(query);
  const known: View = view === 'inbox' || view === 'thread' || view === 'agents' ? view : 'fleet';
  return {
    view: known,
    sessionId,
    threadId,
    eventId: asked.get('event') ?? undefined,
    beside: asked.get('beside') ?? undefined,
    isCompared: asked.has('compare'),
  };
}
