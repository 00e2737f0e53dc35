import { cutText } from '@fleetloom/protocol/fleet';
import { storeLimits } from './limits.ts';
import { Signal } from './signal.ts';

/** A named filter of the list of sessions. */
export interface SavedView {
  readonly name: string;
  /** The filter, as the address contains it. */
  readonly search: string;
}

/** Views that every user has. */
export const builtInViews: readonly SavedView[] = [
  { name: 'All', search: '' },
  { name: 'Needs you', search: 'status=needs_you' },
  { name: 'Active', search: 'status=needs_you&status=stalled&status=running&sort=state' },
  { name: 'Failed', search: 'status=failed' },
];

/** The views that the user saved in this browser. */
class SavedViews {
  readonly changed = new Signal();

  all(): readonly SavedView[] {
    try {
      const known: unknown = JSON.parse(localStorage.getItem(VIEWS) ?? '[]');
      return Array.isArray(known) ? known.filter(isView).slice(0, storeLimits.viewsMax) : [];
    } catch {
      return [];
    }
  }

  /** Saves a view, replacing a view with the same name. Throws if there are too many views. */
  save({ name, search }: SavedView): void {
    const view = { name: cutText(name.trim(), storeLimits.viewNameCharsMax), search };
    const others = this.all().filter((one) => one.name !== view.name);
    if (others.length >= storeLimits.viewsMax)
      throw new Error(`${storeLimits.viewsMax} views are saved. Remove one before you save another.`);
    this.#write([...others, view]);
  }

  remove(name: string): void {
    this.#write(this.all().filter((one) => one.name !== name));
  }

  #write(views: readonly SavedView[]): void {
    localStorage.setItem(VIEWS, JSON.stringify(views));
    this.changed.emit();
  }
}

/** The saved views of this browser. */
export const savedViews = new SavedViews();

const VIEWS = 'fleetloom.views';

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && typeof value.name === 'string' && 'search' in value && typeof value.search === 'string';
}
