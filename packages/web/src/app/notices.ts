import { limits } from '../limits.ts';
import { Signal } from './signal.ts';

/** Whether somebody is told on the desktop, and when not. Times are `22:30`, of the clock on the wall; empty: no quiet hours. */
export interface NoticeSettings {
  readonly isOn: boolean;
  readonly quietFrom: string;
  readonly quietTo: string;
}

/** Quiet hours may go over midnight. */
export function isQuiet({ quietFrom, quietTo }: NoticeSettings, at: Date): boolean {
  if (quietFrom === '' || quietTo === '' || quietFrom === quietTo) return false;
  const now = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const isWithin = now >= quietFrom && now < quietTo;
  return quietFrom < quietTo ? isWithin : now >= quietFrom || now < quietTo;
}

export function parseSettings(text: string | null): NoticeSettings {
  const none = { isOn: false, quietFrom: '', quietTo: '' };
  try {
    // Field by field: anybody can write into the storage of a browser.
    const { isOn, quietFrom, quietTo } = JSON.parse(text ?? '{}') as Partial<Record<keyof NoticeSettings, unknown>>;
    const toTime = (value: unknown) => (typeof value === 'string' && /^\d\d:\d\d$/.test(value) ? value : '');
    return { isOn: isOn === true, quietFrom: toTime(quietFrom), quietTo: toTime(quietTo) };
  } catch {
    return none;
  }
}

/** How long the next announcement waits, so that nobody hears one after the other. */
export function announceWaitMs(lastAt: number, now: number): number {
  return Math.max(0, lastAt + limits.announceMs - now);
}

/** What is told once, however often it is looked at. */
export class Notices {
  readonly changed = new Signal();
  settings: NoticeSettings = parseSettings(typeof localStorage === 'undefined' ? null : localStorage.getItem(KEY));
  /** What somebody knows of. The first look is at what was there before the page. */
  #known: ReadonlySet<string> | undefined;

  set(change: Partial<NoticeSettings>): void {
    this.settings = { ...this.settings, ...change };
    localStorage.setItem(KEY, JSON.stringify(this.settings));
    this.changed.emit();
  }

  /** Of those that ask now, the ones to tell of. */
  take(asks: readonly { readonly id: string }[], at: Date, isWatched: boolean): readonly string[] {
    const known = this.#known;
    this.#known = new Set(asks.map(({ id }) => id));
    if (known === undefined || isWatched || !this.settings.isOn || isQuiet(this.settings, at)) return [];
    return asks.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  }
}

const KEY = 'fleetloom.notices';

export const notices = new Notices();
