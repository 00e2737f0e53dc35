import { storeLimits } from '../limits.ts';
import { Signal } from '../signal.ts';

/** Desktop notifications and quiet hours. Times are local, `22:30`; empty: no quiet hours. */
export interface NoticeSettings {
  readonly isOn: boolean;
  readonly quietFrom: string;
  readonly quietTo: string;
}

/** Whether a time is in the quiet hours, which may span midnight. */
export function isQuiet({ quietFrom, quietTo }: NoticeSettings, at: Date): boolean {
  if (quietFrom === '' || quietTo === '' || quietFrom === quietTo) return false;
  const now = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const isWithin = now >= quietFrom && now < quietTo;
  return quietFrom < quietTo ? isWithin : now >= quietFrom || now < quietTo;
}

/** Reads stored settings. */
export function parseSettings(text: string | null): NoticeSettings {
  const none = { isOn: false, quietFrom: '', quietTo: '' };
  try {
    // Browser storage is untrusted: checked field by field.
    const { isOn, quietFrom, quietTo } = JSON.parse(text ?? '{}') as Partial<Record<keyof NoticeSettings, unknown>>;
    const toTime = (value: unknown) => (typeof value === 'string' && /^\d\d:\d\d$/.test(value) ? value : '');
    return { isOn: isOn === true, quietFrom: toTime(quietFrom), quietTo: toTime(quietTo) };
  } catch {
    return none;
  }
}

/** How long the next announcement to screen readers waits, so that they come at intervals. */
export function announceWaitMs(lastAt: number, now: number): number {
  return Math.max(0, lastAt + storeLimits.announceMs - now);
}

/** Decides which items are notified, each once. */
export class Notices {
  readonly changed = new Signal();
  settings: NoticeSettings = parseSettings(typeof localStorage === 'undefined' ? null : localStorage.getItem(KEY));
  /** Items seen before; undefined before the first call, whose items are older than the page. */
  #known: ReadonlySet<string> | undefined;

  set(change: Partial<NoticeSettings>): void {
    this.settings = { ...this.settings, ...change };
    localStorage.setItem(KEY, JSON.stringify(this.settings));
    this.changed.emit();
  }

  /** Returns the ids of the pending items to notify. */
  take(items: readonly { readonly id: string }[], at: Date, isWatched: boolean): readonly string[] {
    const known = this.#known;
    this.#known = new Set(items.map(({ id }) => id));
    if (known === undefined || isWatched || !this.settings.isOn || isQuiet(this.settings, at)) return [];
    return items.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  }
}

const KEY = 'fleetloom.notices';

/** The notifications of this tab. */
export const notices = new Notices();
