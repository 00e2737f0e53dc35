import { Signal } from './signal.ts';
import { fleet } from './stores.ts';
import type { InboxItem } from '../model/inbox-items.ts';

/** Items and selection of the inbox. The order is kept while the page is open: new items are appended. */
class InboxStore {
  readonly changed = new Signal();
  selectedId: string | undefined;
  readonly checked = new Set<string>();
  /** The mode of the selected item's card: its content, a form, or a confirmation. */
  mode: 'read' | 'deny' | 'answer' | 'edit' | 'confirm' | 'rule' | 'always' | 'batch' = 'read';
  readonly #dismissed = new Set<string>();
  #order: readonly string[] = [];

  items(): readonly InboxItem[] {
    const items = fleet.inbox().filter(({ id }) => !this.#dismissed.has(id));
    const byId = new Map(items.map((item) => [item.id, item]));
    const kept = this.#order.filter((id) => byId.has(id));
    const known = new Set(kept);
    this.#order = [...kept, ...items.flatMap(({ id }) => (known.has(id) ? [] : [id]))];
    return this.#order.flatMap((id) => byId.get(id) ?? []);
  }

  /** Sorts the items when the page is opened, so that the most urgent item comes first again. */
  sort(): void {
    this.#order = [];
  }

  selected(): InboxItem | undefined {
    const items = this.items();
    return items.find(({ id }) => id === this.selectedId) ?? items[0];
  }

  select(id: string | undefined): void {
    this.selectedId = id;
    this.mode = 'read';
    this.changed.emit();
  }

  move(by: 1 | -1): void {
    const items = this.items();
    const index = items.findIndex(({ id }) => id === this.selected()?.id);
    this.select(items[Math.max(0, Math.min(items.length - 1, index + by))]?.id);
  }

  setMode(mode: InboxStore['mode']): void {
    this.mode = mode;
    this.changed.emit();
  }

  toggleChecked(id: string): void {
    if (!this.checked.delete(id)) this.checked.add(id);
    this.changed.emit();
  }

  /** Removes a failure or a stall from the list. */
  dismiss(id: string): void {
    this.#dismissed.add(id);
    this.changed.emit();
  }
}

/** The inbox of this tab. */
export const inbox = new InboxStore();
