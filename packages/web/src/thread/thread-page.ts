import { Signal } from '../app/signal.ts';
import type { ShownRow } from '../model/summary.ts';
import type { ThreadEvents } from './thread-events.ts';

/** What is chosen on the page of a thread. */
class ThreadPage {
  readonly changed = new Signal();
  /** Told to who shows the transcript: go to the end. */
  readonly follows = new Signal();
  selectedId: string | undefined;
  isInspectorOpen = typeof innerWidth === 'undefined' || innerWidth >= 1_280;
  row: ShownRow | undefined;
  events: ThreadEvents | undefined;

  show(row: ShownRow | undefined, events: ThreadEvents | undefined): void {
    this.row = row;
    if (this.events === events) return;
    this.events = events;
    this.selectedId = undefined;
  }

  select(id: string | undefined): void {
    this.selectedId = id;
    this.changed.emit();
  }

  /** To the next block or the one before. */
  move(by: 1 | -1): void {
    const blocks = this.events?.blocks ?? [];
    const index = blocks.findIndex(({ id }) => id === this.selectedId);
    const next = index === -1 ? blocks.length - 1 : Math.max(0, Math.min(blocks.length - 1, index + by));
    this.select(blocks[next]?.id);
  }

  /** To the end, where it follows what is said. */
  followLive(): void {
    this.selectedId = undefined;
    this.follows.emit();
    this.changed.emit();
  }

  toggleInspector(): void {
    this.isInspectorOpen = !this.isInspectorOpen;
    this.changed.emit();
  }
}

export const threadPage = new ThreadPage();
