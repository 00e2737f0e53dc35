import { isCutOff } from '@fleetloom/client';
import type { Page, SessionEvent } from '@fleetloom/protocol/managed-agents';
import { Signal } from '../../stores/signal.ts';
import { api } from '../../stores/connection/api.ts';
import { type Block, toBlocks } from './blocks.ts';

/**
 * The events of one thread. New events are on the last page of the list or after it, so a refresh requests only the last page
 * again.
 */
export class ThreadEvents {
  readonly changed = new Signal();
  isRead = false;
  problem = '';
  readonly #path: string;
  /** Events of full pages; events of the last page are in `#last`. */
  readonly #settled: SessionEvent[] = [];
  #last: readonly SessionEvent[] = [];
  #page = '';
  #isReading = false;
  #isWanted = false;
  #blocks: readonly Block[] | undefined;
  #isCutOff: boolean | undefined;

  constructor(sessionId: string, threadId: string) {
    this.#path = `v1/sessions/${sessionId}/threads/${threadId}/events?limit=${PAGE_EVENTS}`;
  }

  get events(): readonly SessionEvent[] {
    return [...this.#settled, ...this.#last];
  }

  get blocks(): readonly Block[] {
    return (this.#blocks ??= toBlocks(this.events));
  }

  /** Whether a coordinator's thread lost work since the last message, e.g. a background command. */
  get isCutOff(): boolean {
    return (this.#isCutOff ??= isCutOff(this.events));
  }

  /** Loads new events. A call during a load starts one more load afterwards. */
  async refresh(): Promise<void> {
    this.#isWanted = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#read();
      }
      this.problem = '';
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.#isReading = false;
      this.isRead = true;
      this.changed.emit();
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const page = this.#page === '' ? '' : `&page=${encodeURIComponent(this.#page)}`;
      const answer = await api.get<Page<SessionEvent>>(`${this.#path}${page}`);
      const isSame = answer.data.length === this.#last.length && answer.data.at(-1)?.id === this.#last.at(-1)?.id;
      const isProcessed = answer.data.at(-1)?.processed_at === this.#last.at(-1)?.processed_at;
      this.#last = answer.data;
      if (!isSame || !isProcessed) this.#blocks = undefined;
      this.#isCutOff = undefined;
      // Emits after the first page and after the last: rebuilding the blocks of a long history for every page is too slow.
      if (this.#blocks === undefined && (this.#settled.length === 0 || answer.next_page === null)) this.changed.emit();
      if (answer.next_page === null) return;
      for (const event of answer.data) this.#settled.push(event);
      this.#last = [];
      this.#page = answer.next_page;
    }
  }
}

const PAGE_EVENTS = 500;
