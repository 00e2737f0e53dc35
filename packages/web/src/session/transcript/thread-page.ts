import { Signal } from '../../stores/signal.ts';
import type { ShownRow } from '../../model/summary.ts';
import type { ThreadEvents } from './thread-events.ts';

/** Selection and state of the thread's page. */
class ThreadPage {
  readonly changed = new Signal();
  /** Emits when the transcript should scroll to its end. */
  readonly follows = new Signal();
  selectedId: string | undefined;
  isInspectorOpen = typeof innerWidth === 'undefined' || innerWidth >= 1_280;
  /** Whether the thread tree is open above the page, on screens without room for it beside the transcript. */
  isTreeOpen = false;
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

  /** Selects the next or previous block. */
  move(by: 1 | -1): void {
    const blocks = this.events?.blocks ?? [];
    const index = blocks.findIndex(({ id }) => id === this.selectedId);
    const next = index === -1 ? blocks.length - 1 : Math.max(0, Math.min(blocks.length - 1, index + by));
    this.select(blocks[next]?.id);
  }

  /** Scrolls to the end, so that the transcript follows new text. */
  followLive(): void {
    this.selectedId = undefined;
    this.follows.emit();
    this.changed.emit();
  }

  toggleTree(): void {
    this.isTreeOpen = !this.isTreeOpen;
    this.changed.emit();
  }

  /** Closes the thread tree. Returns whether it was open. */
  closeTree(): boolean {
    const wasOpen = this.isTreeOpen;
    if (wasOpen) this.toggleTree();
    return wasOpen;
  }

  toggleInspector(): void {
    this.isInspectorOpen = !this.isInspectorOpen;
    this.changed.emit();
  }
}

/** The thread's page of this tab. */
export const threadPage = new ThreadPage();
