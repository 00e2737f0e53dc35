import { Signal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import type { InboxItem } from '../model/inbox-items.ts';

/** What is shown and chosen in the inbox. The order stays as long as somebody looks: new ones come to the end. */
class InboxState {
  readonly changed = new Signal();
  selectedId: string | undefined;
  readonly checked = new Set<string>();
  /** What is being written or asked in the card. */
  mode: 'read' | 'deny' | 'answer' | 'edit' | 'confirm' | 'alike' | 'batch' = 'read';
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

  /** When the view is opened anew, the most urgent comes first again. */
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

  setMode(mode: InboxState['mode']): void {
    this.mode = mode;
    this.changed.emit();
  }

  toggleChecked(id: string): void {
    if (!this.checked.delete(id)) this.checked.add(id);
    this.changed.emit();
  }

  /** Of errors and stalls: seen. */
  dismiss(id: string): void {
    this.#dismissed.add(id);
    this.changed.emit();
  }
}

export const inbox = new InboxState();
